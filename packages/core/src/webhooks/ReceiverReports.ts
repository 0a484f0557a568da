/**
 * The service that reports how a workspace's receiver has behaved over time: its responses, how long they took, and
 * when it was down. Reads the storage.
 */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { AlertStore } from "../alerts/AlertStore.ts"
import type { WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import * as Timing from "../usage/Timing.ts"
import { UsageStore } from "../usage/UsageStore.ts"
import { timeout } from "./DeliveryAttempt.ts"
import { isMeasured } from "./ReceiverOutcome.ts"
import { WebhookStore } from "./WebhookStore.ts"

/** The numbers of attempts by outcome, and how long the receiver took to respond, at most the timeout of an attempt. */
export interface Attempts extends Timing.Percentiles {
  readonly outcomes: { readonly [outcome in Timing.AttemptOutcome]: number }
}

/** A time in which the receiver got nothing, or only one attempt at a time. */
export interface Outage {
  /** Whether the webhook was failing, or paused (automatically or by a person). */
  readonly kind: "failing" | "paused"
  /** When it was noticed, about a minute after it began. */
  readonly since: Instant
  /** `null` while it lasts. */
  readonly until: Instant | null
}

/** How the receiver behaved in a range of time. */
export interface ReceiverReport extends Attempts {
  readonly since: Instant
  /** The length of a step, in milliseconds. */
  readonly step: number
  /** Oldest first. Steps without attempts are included. */
  readonly steps: ReadonlyArray<Attempts & { readonly at: Instant }>
  /** The outages that overlap the range, oldest first. */
  readonly outages: ReadonlyArray<Outage>
}

const outages = { webhook_failing: "failing", webhook_paused: "paused" } as const

const nothing = Object.fromEntries(Timing.attemptOutcomes.map((outcome) => [outcome, 0])) as {
  [outcome in Timing.AttemptOutcome]: number
}

/** Sums counts of attempts. Pure. */
export const attempts = (counts: ReadonlyArray<Timing.StepCount>): Attempts => {
  const outcomes = { ...nothing }
  const measured: Array<Timing.StepCount> = []
  for (const count of counts) {
    if (count.kind === "arrival") continue
    outcomes[count.kind] += count.count
    if (isMeasured(count.kind)) measured.push(count)
  }
  return { outcomes, ...Timing.percentiles(measured, Duration.toMillis(timeout)) }
}

export class ReceiverReports extends Context.Service<ReceiverReports, {
  /**
   * The report on a range of time, by default the last day. It counts attempts at all webhooks that the workspace has
   * had, but lists outages of the present webhook only.
   */
  readonly report: (workspaceId: WorkspaceId, asked: Timing.RangeRequest) => Effect.Effect<ReceiverReport, StoreError>
}>()("@wac/core/webhooks/ReceiverReports") {
  static readonly layer = Layer.effect(
    ReceiverReports,
    Effect.gen(function*() {
      const webhooks = yield* WebhookStore
      const usage = yield* UsageStore
      const alerts = yield* AlertStore
      return ReceiverReports.of({
        report: Effect.fnUntraced(function*(workspaceId, asked) {
          const webhook = Option.getOrUndefined(yield* webhooks.find(workspaceId))
          const range = Timing.rangeOf(yield* Clock.currentTimeMillis, asked)
          const [counts, noticed] = yield* Effect.all([
            usage.timed(workspaceId, range, Timing.attemptOutcomes),
            webhook === undefined ? Effect.succeed([]) : alerts.during(workspaceId, webhook.id, range)
          ], { concurrency: "unbounded" })
          return {
            ...attempts(counts),
            since: range.since,
            step: range.step,
            steps: Timing.byStep(counts, range).map(({ at, counts }) => ({ at, ...attempts(counts) })),
            outages: noticed.flatMap(({ closedAt, kind, openedAt }): ReadonlyArray<Outage> =>
              kind in outages
                ? [{ kind: outages[kind as keyof typeof outages], since: openedAt, until: closedAt }]
                : []
            )
          }
        })
      })
    })
  )
}
