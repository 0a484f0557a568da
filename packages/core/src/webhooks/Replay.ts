/**
 * Replay jobs (contract §6): each retries the deliveries of a range, one after another and no faster than a backlog
 * drains. Events, bodies and variants stay the same. The model and its rules; pure.
 */
import { Duration, Schema } from "effect"
import type { ReplayId, WebhookId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import * as Delivery from "./Delivery.ts"

/** The statuses that can be replayed. Deliveries with any other status are still in progress. */
export const statuses = ["delivered", "exhausted", "skipped"] as const satisfies ReadonlyArray<Delivery.DeliveryStatus>

/** One of {@link statuses}. */
export type ReplayedStatus = (typeof statuses)[number]

/** A job also ends as `cancelled` if its webhook is removed. */
export const ReplayState = Schema.Literals(["running", "completed", "cancelled"])
export type ReplayState = typeof ReplayState.Type

/** The scope of a job: the deliveries to a webhook of events recorded in [since, until). */
export interface ReplayRange {
  readonly webhookId: WebhookId
  readonly since: Instant
  readonly until: Instant
  /** Only deliveries that ended with this status; `null` for all that have ended. */
  readonly status: ReplayedStatus | null
}

/** A replay job and its progress. */
export interface Replay extends ReplayRange {
  readonly id: ReplayId
  readonly workspaceId: WorkspaceId
  readonly state: ReplayState
  /**
   * How many deliveries the job covers; `null` until known, which for very many is when it ends. Until the job ends, this
   * is an upper bound: some may start a new round in another way first.
   */
  readonly total: number | null
  /** How many deliveries have started a new round. */
  readonly replayed: number
  readonly createdAt: Instant
  readonly completedAt: Instant | null
}

/**
 * The maximum number of a webhook's deliveries in an open round of a replay, attempted or not. At the backlog's rate this
 * is ten seconds of work. The job touches no others meanwhile, so those stay untouched if it is cancelled. If the webhook
 * is paused, a resume that skips the held deliveries also skips these, but no other rounds of replays.
 */
export const maxWaiting = 1000

/** How long a job pauses at that maximum. */
export const pause = Duration.seconds(1)

/** Ranges of up to this many deliveries are counted when the job is created. Counting more would delay that. */
export const countedAtOnce = 10_000

/** Whether the range covers a delivery: it has ended with a matching status and is not a test. */
export const covers = (range: ReplayRange, delivery: Delivery.Delivery): boolean =>
  delivery.webhookId === range.webhookId &&
  delivery.createdAt >= range.since && delivery.createdAt < range.until &&
  !Delivery.isOpen(delivery) && !Delivery.isTest(delivery) &&
  (range.status === null || delivery.status === range.status)

/**
 * Whether the delivery ended after the job was created, such as a held one that a resume delivered or skipped while the
 * job waited. The job leaves it: its round is newer than the request, and `total` did not count it.
 */
export const isEndedSince = ({ createdAt }: Replay, { completedAt }: Delivery.Delivery): boolean =>
  completedAt !== null && completedAt > createdAt

/** Ends a job. A completed job's total is then known. */
export const end = (replay: Replay, state: "completed" | "cancelled", now: Instant): Replay =>
  replay.state !== "running"
    ? replay
    : { ...replay, state, total: state === "completed" ? replay.replayed : replay.total, completedAt: now }
