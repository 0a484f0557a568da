/**
 * The service that reports a workspace's usage: activity over time, costs, what waited, and the use of the quota
 * (contract §12 `GET /internal/usage`). Reads the storage.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { NotFound } from "../Errors.ts"
import type { WorkspaceId } from "../Id.ts"
import * as Limits from "../limits/Limits.ts"
import * as Quota from "../limits/Quota.ts"
import { QueueStore } from "../queue/QueueStore.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import { WorkspaceStore } from "../workspaces/WorkspaceStore.ts"
import * as Activity from "./Activity.ts"
import * as RateCard from "./RateCard.ts"
import * as Timing from "./Timing.ts"
import { UsageStore } from "./UsageStore.ts"
import * as Waiting from "./Waiting.ts"

/** The activity of one step of time. */
export interface Step extends Activity.Totals {
  readonly at: Instant
  /** The cost of the messages that were sent in this step and have a price. */
  readonly costs: RateCard.Bill["totals"]
  /** How long the messages that were sent in this step took to arrive; without those that have not arrived. */
  readonly arrival: Timing.Percentiles
  /** The most that waited at any sample in this step; `null` if there was no sample. */
  readonly waiting: Waiting.Waiting | null
}

/** A workspace's usage report. */
export interface Report {
  readonly since: Instant
  /** The length of a step, in milliseconds. */
  readonly step: number
  /** Oldest first. Steps without activity are included. */
  readonly steps: ReadonlyArray<Step>
  /** How long the messages that were sent in the range took to arrive. */
  readonly arrival: Timing.Percentiles
  /** The activity in as many steps before the range; `null` if some of these counts are no longer kept. */
  readonly before: Activity.Totals & { readonly since: Instant } | null
  readonly month: string
  readonly used: number
  /** `null` means no limit. */
  readonly quota: number | null
  readonly requestsPerSecond: number
  /** The number of callers' messages that wait in the queue now. */
  readonly queued: number
  /** Messages that count against the quota, by month, newest first. */
  readonly months: ReadonlyArray<{ readonly month: string; readonly used: number }>
  /** The range's messages by price, and what they cost by the rate card. */
  readonly bill: RateCard.Bill
}

export class Usage extends Context.Service<Usage, {
  /** The report of a range of time. */
  readonly report: (
    workspaceId: WorkspaceId,
    asked: Activity.RangeRequest
  ) => Effect.Effect<Report, NotFound | StoreError>
}>()("@wac/core/usage/Usage") {
  static readonly layer = Layer.effect(
    Usage,
    Effect.gen(function*() {
      const store = yield* UsageStore
      const workspaces = yield* WorkspaceStore
      const queue = yield* QueueStore
      const limits = yield* Limits.CurrentLimits
      const card = yield* RateCard.CurrentRateCard
      return Usage.of({
        report: Effect.fnUntraced(function*(workspaceId, asked) {
          const now = yield* Clock.currentTimeMillis
          const range = Activity.rangeOf(now, asked)
          const earlier = Activity.before(now, range)
          const timedRange = { ...range, span: Timing.spans.hour }
          const [counts, countsBefore, arrivals, months, priced, peaks, { queued }, found] = yield* Effect.all([
            store.counts(workspaceId, range),
            earlier === undefined ? Effect.succeed([]) : store.counts(workspaceId, earlier),
            store.timed(workspaceId, timedRange, ["arrival"]),
            store.months(workspaceId),
            store.priced(workspaceId, range),
            store.waited(workspaceId, range),
            queue.backlog(workspaceId, now),
            workspaces.get(workspaceId)
          ], { concurrency: "unbounded" })
          const workspace = yield* Effect.mapError(
            Effect.fromOption(found),
            () => new NotFound({ message: "there is no such workspace" })
          )
          const month = Quota.monthOf(now)
          const arrivalsByStep = Timing.byStep(arrivals, timedRange)
          const pricedByStep = Activity.byStep(priced, range)
          const peaksByStep = Activity.byStep(peaks, range)
          return {
            since: range.since,
            step: range.step,
            steps: Activity.byStep(counts, range).map(({ at, counts }, i) => ({
              at,
              ...Activity.totals(counts),
              costs: RateCard.bill(card, pricedByStep[i]!.counts).totals,
              arrival: Timing.percentiles(arrivalsByStep[i]!.counts),
              waiting: Waiting.highest(peaksByStep[i]!.counts)
            })),
            arrival: Timing.percentiles(arrivals),
            before: earlier === undefined ? null : { since: earlier.since, ...Activity.totals(countsBefore) },
            month,
            used: months.find((one) => one.month === month)?.used ?? 0,
            quota: workspace.monthlyQuota ?? limits.defaults.monthlyQuota,
            requestsPerSecond: Limits.workspaceTier(limits, workspace.tier).perSecond,
            queued,
            months,
            bill: RateCard.bill(card, priced)
          }
        })
      })
    })
  )
}
