/**
 * Recognizes a database that was restored from a backup (contract §11 and §15). Running processes write heartbeats. If
 * the stored heartbeat is older than a process remembers, or the database is on another server, the sends since the
 * backup are unknown, so campaigns and queued messages wait for a person instead of being sent twice. If no process ran
 * for a while, only campaigns wait, because they would write hours late. Pure.
 */
import { Duration } from "effect"
import type { Job } from "../campaigns/CampaignStep.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"

/** How often a process writes a heartbeat. */
export const interval = Duration.seconds(5)

/** A stored heartbeat that is older shows that no process ran, or that the database is an earlier copy. */
export const staleAfter = Duration.minutes(5)

/** The newest heartbeat of all processes. */
export interface Heartbeat {
  readonly at: Instant
  /** Identifies the database server. If it changes, the database is a copy, such as a restored backup. */
  readonly server: string
  /**
   * Since when the queues are held, of the workspaces that existed then and were not released since; `null` if they
   * were never held.
   */
  readonly heldSince: Instant | null
}

/** The command of a process to write its heartbeat. */
export interface Beat {
  readonly now: Instant
  /** The heartbeat that this process wrote last; `null` at its start. */
  readonly last: Instant | null
  /** Whether the operator says that the database was restored. */
  readonly isRestored: boolean
}

/** The written heartbeat, and what waits for a person because of it. */
export interface BeatResult {
  readonly at: Instant
  /** How many campaigns wait because of this heartbeat. */
  readonly waiting: number
  /** Whether this heartbeat holds the queues. */
  readonly isHolding: boolean
}

/** What a heartbeat loads, under a lock. */
export interface Loaded extends Known {
  /** `undefined` in a new database. */
  readonly heartbeat: Heartbeat | undefined
  /** The present identifier of the database server. */
  readonly server: string
  /** The campaigns that have work to do; `null` if they are not loaded yet. */
  readonly jobs: ReadonlyArray<Job> | null
}

/** What a heartbeat writes. */
export interface Writes {
  readonly heartbeat: Heartbeat
  readonly jobs: ReadonlyArray<Job>
}

const isOlder = (at: Instant, than: Instant): boolean => than - at > Duration.toMillis(staleAfter)

/** Whether the database is a copy on another server, or an earlier state of itself. */
const isRestored = ({ heartbeat, now, server }: Loaded, { isRestored, last, now: asked }: Beat): boolean => {
  if (isRestored) return true
  // a process that wrote a heartbeat into this database finds one
  if (heartbeat === undefined) return last !== null
  if (heartbeat.server !== server) return true
  // one that is older than it was, and yet new, was written after the storage's clock was set back
  return last !== null && isOlder(heartbeat.at, last) && isOlder(heartbeat.at, now(asked))
}

/** Whether no process ran for a while before this one started. */
const isOld = ({ heartbeat }: Loaded, { last }: Beat, now: Instant): boolean =>
  heartbeat !== undefined && last === null && isOlder(heartbeat.at, now)

/** Pauses a campaign that is running or scheduled; returns nothing for any other. */
const waiting = ({ campaign }: Job): ReadonlyArray<Job> =>
  campaign.status === "running" || campaign.status === "scheduled"
    ? [{ campaign: { ...campaign, status: "paused", pausedFor: "restored" }, workAt: null }]
    : []

/** Decides `QueueStore.beat`. */
export const beat: Decide<Beat, Loaded, BeatResult, Writes, "Jobs"> = (loaded, commands) => {
  const now = Math.max(...commands.map((command) => loaded.now(command.now)))
  const holds = commands.some((command) => isRestored(loaded, command))
  const found = holds || commands.some((command) => isOld(loaded, command, loaded.now(command.now)))
  if (found && loaded.jobs === null) return { needs: ["Jobs"] }
  const jobs = found ? loaded.jobs!.flatMap(waiting) : []
  const heldSince = loaded.heartbeat?.heldSince ?? null
  return {
    answers: commands.map(() => ({ at: now, waiting: jobs.length, isHolding: holds })),
    writes: { heartbeat: { at: now, server: loaded.server, heldSince: holds ? now : heldSince }, jobs }
  }
}
