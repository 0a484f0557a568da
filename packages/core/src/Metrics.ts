/**
 * What an operator watches, over all workspaces together: labels are outcomes, never workspaces (contract §8).
 *
 * Kept in the registry of the running instance; `/metrics` shows them, and OTLP sends them.
 */
import { Effect, Metric } from "effect"
import type { AttemptOutcome } from "./Delivery.ts"
import type { BacklogReport } from "./DeliveryStore.ts"
import type { Instant } from "./Time.ts"

const attempts = Metric.counter("wac_webhook_attempts_total", {
  description: "Attempts at deliveries that were recorded, by outcome",
  incremental: true
})

const attemptsWith = (outcome: AttemptOutcome) => Metric.withAttributes(attempts, { outcome })

// made once: every attempt counts in one of them
const attemptsBy: { readonly [outcome in AttemptOutcome]: ReturnType<typeof attemptsWith> } = {
  delivered: attemptsWith("delivered"),
  dns: attemptsWith("dns"),
  connect: attemptsWith("connect"),
  tls: attemptsWith("tls"),
  timeout: attemptsWith("timeout"),
  status: attemptsWith("status"),
  redirect: attemptsWith("redirect"),
  blocked_address: attemptsWith("blocked_address")
}

/** A first attempt is due at once: targets are 25 ms for half of them, 125 ms for nearly all. */
const firstAttemptSeconds = Metric.histogram("wac_webhook_first_attempt_delay_seconds", {
  description: "Time from an event's record to the start of the first attempt at it, of events that nothing held back",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.125, 0.25, 0.5, 1, 2.5, 5, 10, 60]
})

const attemptSeconds = Metric.histogram("wac_webhook_attempt_duration_seconds", {
  description: "Time that an attempt took, from name look-up to the end of the answer",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
})

/** An attempt has been recorded. `waited` is how long its event waited for it, in milliseconds, where that counts. */
export const attempted = (
  attempt: { readonly outcome: AttemptOutcome; readonly durationMs: number },
  waited: number | null
): Effect.Effect<void> =>
  Effect.gen(function*() {
    yield* Metric.update(attemptsBy[attempt.outcome], 1)
    yield* Metric.update(attemptSeconds, attempt.durationMs / 1000)
    if (waited !== null) yield* Metric.update(firstAttemptSeconds, waited / 1000)
  })

const oldestDueSeconds = Metric.gauge("wac_webhook_oldest_due_age_seconds", {
  description: "For how long the delivery that is longest due has waited to be attempted; 0 when none is due"
})

const pendingDeliveries = Metric.gauge("wac_webhook_deliveries_pending", {
  description: "Deliveries without an end, held ones included; an estimate when there are more than ten thousand"
})

const webhooks = Metric.gauge("wac_webhooks", { description: "Webhooks that are in trouble, by state" })

/** What waits at `now`, over all workspaces. */
export const observeBacklog = (report: BacklogReport, now: Instant): Effect.Effect<void> =>
  Effect.gen(function*() {
    yield* Metric.update(
      oldestDueSeconds,
      report.oldestDueAt === null ? 0 : Math.max(0, now - report.oldestDueAt) / 1000
    )
    yield* Metric.update(pendingDeliveries, report.pending)
    yield* Metric.update(Metric.withAttributes(webhooks, { state: "failing" }), report.failingWebhooks)
    yield* Metric.update(Metric.withAttributes(webhooks, { state: "paused" }), report.pausedWebhooks)
  })
