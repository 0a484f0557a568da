/**
 * A workspace's activity over time, and its use of its quota (contract §12 `GET /internal/usage`). Reads the storage.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { NotFound } from "../Errors.ts"
import type { WorkspaceId } from "../Id.ts"
import * as Limits from "../limits/Limits.ts"
import * as Quota from "../limits/Quota.ts"
import { QueueStore } from "../queue/QueueStore.ts"
import type { StoreError } from "../StoreError.ts"
import { WorkspaceStore } from "../workspaces/WorkspaceStore.ts"
import * as Activity from "./Activity.ts"
import * as RateCard from "./RateCard.ts"
import { UsageStore } from "./UsageStore.ts"

/** A workspace's usage report. */
export interface Report extends Activity.Series {
  readonly month: string
  readonly used: number
  /** `null` means no limit. */
  readonly quota: number | null
  readonly requestsPerSecond: number
  /** Messages that wait in the queue of callers' messages. */
  readonly queued: number
  /** Messages that count against the quota, by month, newest first. */
  readonly months: ReadonlyArray<{ readonly month: string; readonly used: number }>
  /** The period's messages by price, and what they cost by the rate card. */
  readonly bill: RateCard.Bill
}

export class Usage extends Context.Service<Usage, {
  /** The report of a period up to now. */
  readonly report: (workspaceId: WorkspaceId, period: Activity.Period) => Effect.Effect<Report, NotFound | StoreError>
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
        report: Effect.fnUntraced(function*(workspaceId, period) {
          const now = yield* Clock.currentTimeMillis
          const { since } = Activity.begin(now, period)
          const [counts, months, priced, { queued }, found] = yield* Effect.all([
            store.counts(workspaceId, since),
            store.months(workspaceId),
            store.priced(workspaceId, since),
            queue.backlog(workspaceId, now),
            workspaces.get(workspaceId)
          ], { concurrency: "unbounded" })
          const workspace = yield* Effect.mapError(
            Effect.fromOption(found),
            () => new NotFound({ message: "there is no such workspace" })
          )
          const month = Quota.monthOf(now)
          return {
            ...Activity.series(counts, now, period),
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
