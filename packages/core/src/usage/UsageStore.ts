/**
 * Port: counts of workspaces' usage: activity by the hour, durations, messages by price, what waited, and quotas.
 */
import { Context, type Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Forgotten } from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Count, Range } from "./Activity.ts"
import type * as PriceTally from "./PriceTally.ts"
import type * as Timing from "./Timing.ts"
import type * as Waiting from "./Waiting.ts"

/** The maximum number of months that are returned. */
export const maxMonths = 12

/** The counts of a batch of occurrences. */
export interface Counted {
  readonly activities: ReadonlyArray<Count>
  readonly timings: ReadonlyArray<Timing.Count>
}

export class UsageStore extends Context.Service<UsageStore, {
  /** Adds to the stored counts. Not safe to repeat: after a `StoreError` they may have been added. */
  readonly add: (counted: Counted) => Effect.Effect<void, StoreError>
  /** A workspace's counts for the hours of a range. */
  readonly counts: (workspaceId: WorkspaceId, range: Range) => Effect.Effect<ReadonlyArray<Count>, StoreError>
  /** A workspace's counts of durations of these kinds, summed by the steps of a range. */
  readonly timed: (
    workspaceId: WorkspaceId,
    range: Timing.Range,
    kinds: ReadonlyArray<Timing.Kind>
  ) => Effect.Effect<ReadonlyArray<Timing.StepCount>, StoreError>
  /** Messages that count against the quota by month, newest first, at most {@link maxMonths}. */
  readonly months: (
    workspaceId: WorkspaceId
  ) => Effect.Effect<ReadonlyArray<{ readonly month: string; readonly used: number }>, StoreError>
  /** A workspace's counts of messages by price for the hours of a range, one count for each hour and price. */
  readonly priced: (
    workspaceId: WorkspaceId,
    range: Range
  ) => Effect.Effect<ReadonlyArray<PriceTally.Count>, StoreError>
  /** Raises the stored peak of an hour to this one, each number separately; higher numbers stay. Safe to repeat. */
  readonly raise: (peak: Waiting.Peak) => Effect.Effect<void, StoreError>
  /** A workspace's peaks in the hours of a range, oldest first; hours without a sample are left out. */
  readonly waited: (workspaceId: WorkspaceId, range: Range) => Effect.Effect<ReadonlyArray<Waiting.Peak>, StoreError>
  /** Deletes a bounded number of counts of hours before a time. */
  readonly forget: (before: Instant) => Effect.Effect<Forgotten, StoreError>
  /** Deletes a bounded number of counts of durations in short spans (`Timing.spans`) before a time. */
  readonly forgetShort: (before: Instant) => Effect.Effect<Forgotten, StoreError>
}>()("@wac/core/usage/UsageStore") {}
