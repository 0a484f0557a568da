/**
 * Replays: jobs that have the deliveries of a range attempted again (contract §6), one after the other and no faster
 * than a backlog drains. The events, their bodies and variants stay as they are.
 */
import { Duration, Schema } from "effect"
import type { ReplayId, WebhookId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import * as Delivery from "./Delivery.ts"

/** What can be replayed: what has ended. Everything else is on its way already. */
export const statuses = ["delivered", "exhausted", "skipped"] as const satisfies ReadonlyArray<Delivery.DeliveryStatus>

/** One of {@link statuses}. */
export type ReplayedStatus = (typeof statuses)[number]

/** `cancelled` is also the end of a job whose webhook was removed. */
export const ReplayState = Schema.Literals(["running", "completed", "cancelled"])
export type ReplayState = typeof ReplayState.Type

/** What a job covers: deliveries to a webhook of events recorded in [since, until). */
export interface ReplayRange {
  readonly webhookId: WebhookId
  readonly since: Instant
  readonly until: Instant
  /** Those that have ended so; `null`: all that have ended. */
  readonly status: ReplayedStatus | null
}

export interface Replay extends ReplayRange {
  readonly id: ReplayId
  readonly workspaceId: WorkspaceId
  readonly state: ReplayState
  /** How many deliveries it covers; `null` while that is not known: until its end, if there are very many. */
  readonly total: number | null
  /** How many have begun a new round. */
  readonly replayed: number
  readonly createdAt: Instant
  readonly completedAt: Instant | null
}

/**
 * So many deliveries of a webhook wait for their replay's first attempt at most, which at the rate of a backlog takes
 * ten seconds: whatever else a job covers is untouched while it waits, and stays so when the job is cancelled.
 */
export const maxWaiting = 1000

/** A job that has so many waiting goes on after this. */
export const pause = Duration.seconds(1)

/** A range of up to so many deliveries is counted when its job is made; to count a longer one would hold that up. */
export const countedAtOnce = 10_000

/** Whether a delivery is in the range: it has ended, so far as the range says how, and is no test. */
export const covers = (range: ReplayRange, delivery: Delivery.Delivery): boolean =>
  delivery.webhookId === range.webhookId &&
  delivery.createdAt >= range.since && delivery.createdAt < range.until &&
  !Delivery.isOpen(delivery) && !Delivery.isTest(delivery) &&
  (range.status === null || delivery.status === range.status)

/** A job that ends, and knows then how many deliveries it covered. */
export const end = (replay: Replay, state: "completed" | "cancelled", now: Instant): Replay =>
  replay.state !== "running"
    ? replay
    : { ...replay, state, total: state === "completed" ? replay.replayed : replay.total, completedAt: now }
