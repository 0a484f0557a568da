/**
 * Metrics for operators, over all workspaces: labels are outcomes, never workspaces (contract §8).
 *
 * They live in the running instance's registry. `/metrics` shows them, and OTLP exports them.
 */
import { Cause, Clock, type Context, Effect, Metric, Record } from "effect"
import { Forbidden, InvalidBody, RateLimited, ServerError, type Unauthorized } from "./Errors.ts"
import type { InboundItem } from "./inbound/InboundItem.ts"
import type { Problem } from "./inbound/InboundPost.ts"
import * as LatencyHistogram from "./LatencyHistogram.ts"
import * as Span from "./Span.ts"
import type { Instant } from "./Time.ts"
import type { AttemptOutcome } from "./webhooks/Delivery.ts"

const attempts = Metric.counter("wac_webhook_attempts_total", {
  description: "Attempts at deliveries that were recorded, by outcome",
  incremental: true
})

const attemptsWith = (outcome: AttemptOutcome) => Metric.withAttributes(attempts, { outcome })

// created once, because every attempt increments one of them
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

/**
 * Boundaries fit the targets for a first attempt, which is due immediately: 25 ms at the median, 125 ms for nearly all.
 */
const firstAttemptSeconds = LatencyHistogram.make("wac_webhook_first_attempt_delay_seconds", {
  description:
    "Time from the recording of an event to the start of its first attempt, for events of healthy webhooks that " +
    "nothing held back",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.125, 0.25, 0.5, 1, 2.5, 5, 10, 60]
})

const attemptSeconds = LatencyHistogram.make("wac_webhook_attempt_duration_seconds", {
  description: "Duration of an attempt, from the DNS lookup to the end of the response",
  boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
})

/**
 * Counts a recorded attempt. `waited` is how long its event waited for it, in milliseconds, or `null` if that wait does
 * not count.
 */
export const attempted = (
  attempt: { readonly outcome: AttemptOutcome; readonly startedAt: Instant; readonly durationMs: number },
  waited: number | null
): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) => {
    attemptsBy[attempt.outcome].updateUnsafe(1, context)
    const [at, span] = [attempt.startedAt, Span.collected(context)]
    attemptSeconds.record({ seconds: attempt.durationMs / 1000, at, span }, context)
    if (waited !== null) firstAttemptSeconds.record({ seconds: waited / 1000, at, span }, context)
    return Effect.void
  })

const sends = Metric.counter("wac_sends_total", {
  description:
    "Finished sends, by reason and by outcome: queued (to be sent later); sent; failed (the provider refused for good); not_sent (the provider " +
    "did not accept); unknown; refused (by a rule or limit of the service); replayed (got the response of an earlier request)",
  incremental: true
})

/** The outcome of a send, as its caller sees it (contract §3), or that it was queued (contract §15). */
export type SendOutcome = "queued" | "sent" | "failed" | "not_sent" | "unknown" | "refused" | "replayed"

const sendsWith = (outcome: SendOutcome, reason: string | undefined) =>
  Metric.withAttributes(sends, reason === undefined ? { outcome } : { outcome, reason })

// created once for each pair of outcome and reason
const sendsBy = new Map<string, ReturnType<typeof sendsWith>>()

/**
 * Counts a finished send, and notes its outcome in its span. `reason` is the machine-readable reason of its error, if
 * it has one.
 */
export const sendEnded = (outcome: SendOutcome, reason?: string): Effect.Effect<void> => {
  const name = `${outcome} ${reason}`
  const counter = sendsBy.get(name) ?? sendsWith(outcome, reason)
  sendsBy.set(name, counter)
  return Effect.andThen(
    Span.annotate(() => ({ "wac.send.outcome": outcome, "error.type": reason })),
    Metric.update(counter, 1)
  )
}

const queueLateSeconds = LatencyHistogram.make("wac_queue_late_seconds", {
  description: "Time from a queued message's send_at to its first try",
  boundaries: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600]
})

/** Counts the first try of a queued message at `at`. `late` is how late the try is, in milliseconds. */
export const queueLate = (late: number, at: Instant): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) => {
    queueLateSeconds.record({ seconds: late / 1000, at }, context)
    return Effect.void
  })

const signInsRefused = Metric.counter("wac_sign_ins_refused_total", {
  description: "Refused sign-ins, by cause: the reason of the error",
  incremental: true
})

/** Why a sign-in was refused: the reason of its error. */
type SignInRefusal = (Unauthorized | Forbidden | RateLimited)["reason"]

/** Counts a refused sign-in. */
export const signInRefused = (cause: SignInRefusal): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(signInsRefused, { cause }), 1)

const dropped = Metric.counter("wac_records_dropped_total", {
  description: "Records for the dashboard that were dropped so that nothing waits for them, by kind",
  incremental: true
})

/** The kinds of records that `Recorder` writes in the background. */
export type RecordKind = "requests" | "request_values" | "usage" | "changes"

/** Returns a function that counts dropped records of a kind. */
export const recordDropper = (kind: RecordKind): Effect.Effect<(count: number) => void> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const counter = Metric.withAttributes(dropped, { kind })
    counter.updateUnsafe(0, context)
    return Effect.succeed((count: number) => {
      if (count > 0) counter.updateUnsafe(count, context)
    })
  })

const droppedLogLines = Metric.counter("wac_log_lines_dropped_total", {
  description: "Log lines that could not be written, because the disk was full or the reader was gone or slow",
  incremental: true
})

/** Returns a function that counts log lines that could not be written. */
export const logLineDropper: Effect.Effect<(count: number) => void> = Effect.contextWith(
  (context: Context.Context<never>) => Effect.succeed((count: number) => droppedLogLines.updateUnsafe(count, context))
)

const posts = Metric.counter("wac_inbound_posts_total", {
  description: "Provider posts: kept, already known, or refused for their signature",
  incremental: true
})

/** The outcome of a provider post. */
type PostOutcome = "kept" | "known" | "refused"

/** Counts a provider post. */
export const posted = (outcome: PostOutcome): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(posts, { outcome }), 1)

const items = Metric.counter("wac_inbound_items_total", {
  description: "Applied items of provider posts, by kind; counted again if their post is processed again",
  incremental: true
})

const itemsOf = (tag: InboundItem["_tag"]) =>
  Metric.withAttributes(items, { kind: tag.replace(/(?<=.)(?=[A-Z])/g, "_").toLowerCase() })

// created once, because a post may have a thousand items
const itemsBy: { readonly [tag in InboundItem["_tag"]]: ReturnType<typeof itemsOf> } = {
  Status: itemsOf("Status"),
  Message: itemsOf("Message"),
  Preference: itemsOf("Preference"),
  CustomerMoved: itemsOf("CustomerMoved"),
  Template: itemsOf("Template"),
  TemplatesChanged: itemsOf("TemplatesChanged"),
  Number: itemsOf("Number"),
  Skipped: itemsOf("Skipped")
}

/** Counts an applied item. */
export const applied = ({ _tag }: InboundItem): Effect.Effect<void> => Metric.update(itemsBy[_tag], 1)

const postProblems = Metric.counter("wac_inbound_post_problems_total", {
  description: "Failed tries at provider posts, by cause",
  incremental: true
})

/** Counts a failed try at a post. */
export const postFailed = (problem: Problem): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(postProblems, { problem }), 1)

const retentionCompleted = Metric.gauge("wac_retention_completed_timestamp_seconds", {
  description:
    "When all expired records of a kind had last been deleted, in seconds since the Unix epoch; at first, the start"
})

const retentionFailures = Metric.counter("wac_retention_failures_total", {
  description: "Failed deletions of expired records, by kind",
  incremental: true
})

const retentionRemovals = Metric.counter("wac_retention_removed_total", {
  description: "Records deleted because of their age, by kind",
  incremental: true
})

/**
 * Exports the metrics of a kind of record before its first deletion, with `now` as the time of its last complete
 * deletion.
 */
export const retentionBegan = (kind: string, now: Instant): Effect.Effect<void> =>
  Effect.all([
    retentionEnded(kind, now),
    retentionRemoved(kind, 0),
    Metric.update(Metric.withAttributes(retentionFailures, { kind }), 0)
  ], { discard: true })

/** Counts deleted records of a kind; 0 exports the kind. */
export const retentionRemoved = (kind: string, count: number): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(retentionRemovals, { kind }), count)

/** Notes that no expired record of a kind is left. */
const retentionEnded = (kind: string, now: Instant): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(retentionCompleted, { kind }), now / 1000)

/** Counts a failed deletion of a kind. */
const retentionFailed = (kind: string): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(retentionFailures, { kind }), 1)

/** Notes the end or the failure of a round that deletes all expired records of a kind. */
export const retentionRound = (kind: string) => <A, E, R>(round: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  round.pipe(
    Effect.tap(() => Effect.flatMap(Clock.currentTimeMillis, (now) => retentionEnded(kind, now))),
    // a process that stops has not failed
    Effect.tapCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : retentionFailed(kind))
  )

/** Every outcome of a post and every problem with one. The type makes sure that none is missing. */
const postLabels: {
  readonly outcome: { readonly [outcome in PostOutcome]: true }
  readonly problem: { readonly [problem in Problem]: true }
} = {
  outcome: { kept: true, known: true, refused: true },
  problem: { unreadable: true, storage: true, defect: true }
}

const reasonsOf = (
  { fields }: { readonly fields: { readonly reason: { readonly literals: ReadonlyArray<string> } } }
) => fields.reason.literals

/**
 * The reasons of each outcome of a send that an alert may watch. No alert watches what a rule of the service refuses.
 */
const watchedSends: { readonly [outcome in Exclude<SendOutcome, "refused">]: ReadonlyArray<string | undefined> } = {
  queued: [undefined],
  replayed: [undefined],
  sent: [undefined],
  failed: [InvalidBody, Forbidden].flatMap(reasonsOf),
  not_sent: [RateLimited, ServerError].flatMap(reasonsOf),
  unknown: ["outcome_unknown"]
}

/**
 * Exports counters with 0 before their first event. Without this, a counter that first appears as 500 has an `increase`
 * of 0, so an alert on a first burst would never fire.
 */
export const exportedFromZero: Effect.Effect<void> = Effect.gen(function*() {
  for (const counter of [...Object.values(attemptsBy), ...Object.values(itemsBy)]) yield* Metric.update(counter, 0)
  for (const outcome of Object.keys(postLabels.outcome)) {
    yield* Metric.update(Metric.withAttributes(posts, { outcome }), 0)
  }
  for (const problem of Object.keys(postLabels.problem)) {
    yield* Metric.update(Metric.withAttributes(postProblems, { problem }), 0)
  }
  // a wrong password, too many attempts, no role for a person of the issuer, and refusals of a second factor
  const refusals: ReadonlyArray<SignInRefusal> = [
    "invalid_credentials",
    "login",
    "role_not_allowed",
    "invalid_code",
    "invalid_passkey",
    "challenge_ended"
  ]
  for (const cause of refusals) yield* Metric.update(Metric.withAttributes(signInsRefused, { cause }), 0)
  for (const [outcome, reasons] of Record.toEntries(watchedSends)) {
    for (const reason of reasons) yield* Metric.update(sendsWith(outcome, reason), 0)
  }
})
