/**
 * The decisions for replay jobs (contract §6): creating and cancelling them, and each of their steps. Pure.
 */
import { Duration } from "effect"
import type { ReplayId, WebhookId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import type { Delivery } from "./Delivery.ts"
import * as DeliveryStep from "./DeliveryStep.ts"
import * as Replay from "./Replay.ts"

/** Creates a job. */
export interface Create {
  readonly id: ReplayId
  readonly workspaceId: WorkspaceId
  readonly since: Instant
  readonly until: Instant
  readonly status: Replay.ReplayedStatus | null
  readonly now: Instant
}

/** Cancels a job. */
export interface Cancel {
  readonly workspaceId: WorkspaceId
  readonly id: ReplayId
  readonly now: Instant
}

/** The command to let the job whose turn it is scan up to `limit` deliveries. */
export interface Step {
  readonly now: Instant
  readonly limit: number
}

/** A job and its progress. */
export interface Job {
  readonly replay: Replay.Replay
  /** The last delivery scanned. */
  readonly reached: Pick<Delivery, "createdAt" | "id"> | null
  /** When the next step is due. */
  readonly stepAt: Instant
}

/** The records that creating a job loads. They may be a moment old. */
export interface LoadedRanges extends Known {
  /** The workspace's present webhook. */
  readonly present: (workspaceId: WorkspaceId) => WebhookId | undefined
  /**
   * How many deliveries a range covers (`Replay.covers`). `null` if more than `Replay.countedAtOnce` have ended, or if
   * it is unknown whether some have ended.
   */
  readonly covered: (range: Replay.ReplayRange, job: ReplayId) => number | null
}

/** The records that cancelling jobs loads, under locks. */
export interface LoadedJobs extends Known {
  readonly job: (workspaceId: WorkspaceId, id: ReplayId) => Job | undefined
}

/** The records that a step loads, under locks on the job and its webhook. */
export interface LoadedStep extends DeliveryStep.Loaded {
  readonly job: Job
  /** Whether the job's webhook is still its workspace's webhook. */
  readonly isPresent: boolean
  /** Whether that webhook is paused. */
  readonly isPaused: boolean
  /** Whether the status of skipped deliveries has been written, so that they differ from pending ones. */
  readonly isWritten: boolean
  /**
   * How many deliveries of the webhook wait for an attempt of a replay, whether it is the first one: exact up to
   * `Replay.maxWaiting`.
   */
  readonly waiting: number
  /** Deliveries of the job's range that have ended, after the point reached, oldest first, up to the step's limit. */
  readonly ended: ReadonlyArray<Delivery>
}

/** The jobs to write. */
export interface Writes {
  readonly jobs: ReadonlyArray<Job>
}

/** The changes that a step writes: the job, and the rounds that it starts. */
export interface StepWrites extends Writes, DeliveryStep.RoundWrites {}

/**
 * Decides `ReplayStore.create` for present webhooks. Events recorded after the job are not covered. The answer is the
 * job.
 */
export const create: Decide<Create, LoadedRanges, Replay.Replay | undefined, Writes> = (loaded, commands) => {
  const jobs: Array<Job> = []
  const answers = commands.map(({ id, now: asked, since, status, until, workspaceId }) => {
    const webhookId = loaded.present(workspaceId)
    if (webhookId === undefined) return undefined
    const now = loaded.now(asked)
    const range = { webhookId, since, until: until < asked ? Math.min(until, now) : now, status }
    const replay: Replay.Replay = {
      ...range,
      id,
      workspaceId,
      state: "running",
      total: loaded.covered(range, id),
      replayed: 0,
      createdAt: now,
      completedAt: null
    }
    jobs.push({ replay, reached: null, stepAt: now })
    return replay
  })
  return { answers, writes: { jobs } }
}

/** Decides `ReplayStore.cancel`: ends running jobs; others stay as they are. The answer is the job. */
export const cancel: Decide<Cancel, LoadedJobs, Replay.Replay | undefined, Writes> = (loaded, commands) => {
  const jobs = new Map<ReplayId, Job>()
  const answers = commands.map(({ id, now, workspaceId }) => {
    const job = jobs.get(id) ?? loaded.job(workspaceId, id)
    if (job === undefined) return undefined
    const replay = Replay.end(job.replay, "cancelled", loaded.now(now))
    jobs.set(id, { ...job, replay })
    return replay
  })
  return { answers, writes: { jobs: [...jobs.values()] } }
}

/**
 * Decides one step of a job: starts a new round (`Delivery.newRound`) of each delivery that it covers, until
 * `Replay.maxWaiting` rounds of replays of its webhook are open; then it continues after `Replay.pause`. A job that has
 * scanned everything is completed. A job whose webhook was removed is cancelled. While the webhook is paused, the job
 * waits: a resume without the held deliveries would skip its rounds too.
 */
export const step = (loaded: LoadedStep, { limit, now: asked }: Step): StepWrites => {
  const { ended, isPaused, isPresent, isWritten, job, waiting } = loaded
  const now = loaded.now(asked)
  const rounds = new DeliveryStep.Rounds(loaded)
  const leave = (after: Partial<Job>): StepWrites => ({ jobs: [{ ...job, ...after }], ...rounds.writes() })
  const later = now + Duration.toMillis(Replay.pause)
  if (!isPresent) return leave({ replay: Replay.end(job.replay, "cancelled", now) })
  if (isPaused || !isWritten) return leave({ stepAt: later })

  let { reached, replay } = job
  let room = Replay.maxWaiting - waiting
  for (const delivery of ended) {
    if (Replay.covers(replay, delivery) && !Replay.isEndedSince(replay, delivery)) {
      if (room <= 0) return leave({ replay, reached, stepAt: later })
      rounds.begin(delivery, "replay", now)
      replay = { ...replay, replayed: replay.replayed + 1 }
      room--
    }
    reached = { id: delivery.id, createdAt: delivery.createdAt }
  }
  return ended.length < limit
    ? leave({ replay: Replay.end(replay, "completed", now), reached })
    : leave({ replay, reached, stepAt: now })
}
