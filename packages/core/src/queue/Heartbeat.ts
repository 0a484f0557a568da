/**
 * Recognizes a database that was restored from a backup (contract §11 and §15). Running processes write a heartbeat. If
 * it is older than they remember, or the database belongs to another server, sends since the backup are not known, so
 * campaigns and queued messages wait for a person instead of being sent twice. If nothing ran for a while, campaigns
 * alone wait: they would write hours late. Pure.
 */
import { Duration } from "effect"
import type { Job } from "../campaigns/CampaignStep.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"

/** How often a process writes a heartbeat. */
export const every = Duration.seconds(5)

/** A heartbeat that is older shows that nothing ran, or that the database is an earlier one. */
export const patience = Duration.minutes(5)

/** The newest heartbeat of all processes. */
export interface Heartbeat {
  readonly at: Instant
  /** What identifies the database server; another one has the database from a backup. */
  readonly server: string
  /** Since when the queues are held of workspaces that were not released since; `null` if none is. */
  readonly heldSince: Instant | null
}

/** A process reports that it runs. */
export interface Beat {
  readonly now: Instant
  /** The heartbeat that this process wrote last; `null` at its start. */
  readonly last: Instant | null
  /** Whether the operator says that the database was restored. */
  readonly isRestored: boolean
}

/** The written heartbeat, and what waits for a person because of it. */
export interface Beaten {
  readonly at: Instant
  /** How many campaigns. */
  readonly waiting: number
  /** Whether the queue is held from now on. */
  readonly isHolding: boolean
}

/** What a heartbeat loads, under a lock. */
export interface Loaded extends Known {
  /** `undefined` in a new database. */
  readonly heartbeat: Heartbeat | undefined
  /** What identifies the database server now. */
  readonly server: string
  /** Campaigns with something to do, if they were needed. */
  readonly jobs: ReadonlyArray<Job> | null
}

/** What a heartbeat writes. */
export interface Writes {
  readonly heartbeat: Heartbeat
  readonly jobs: ReadonlyArray<Job>
}

const isOlder = (at: Instant, than: Instant): boolean => than - at > Duration.toMillis(patience)

/** Whether the database is a copy, or an earlier one than it was. */
const isRestored = ({ heartbeat, now, server }: Loaded, { isRestored, last, now: asked }: Beat): boolean => {
  if (isRestored) return true
  // a process that wrote a heartbeat into this database finds one
  if (heartbeat === undefined) return last !== null
  if (heartbeat.server !== server) return true
  // one that is older than it was, and yet new, was written after the storage's clock was set back
  return last !== null && isOlder(heartbeat.at, last) && isOlder(heartbeat.at, now(asked))
}

/** Whether nothing ran for a while before this process started. */
const isOld = ({ heartbeat }: Loaded, { last }: Beat, now: Instant): boolean =>
  heartbeat !== undefined && last === null && isOlder(heartbeat.at, now)

/** Makes a campaign wait that sends, or would start to. */
const waiting = ({ campaign }: Job): ReadonlyArray<Job> =>
  campaign.status === "running" || campaign.status === "scheduled"
    ? [{ campaign: { ...campaign, status: "paused", pausedFor: "restored" }, workAt: null }]
    : []

/** Decides `QueueStore.beat`. */
export const beat: Decide<Beat, Loaded, Beaten, Writes, "Jobs"> = (loaded, commands) => {
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
