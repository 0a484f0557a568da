/**
 * Deliveries: one event on its way to one webhook, and the attempts at it (contract §6).
 */
import { type Duration, Schema } from "effect"
import type { Envelope, Event, EventType } from "../events/Event.ts"
import type { AttemptId, DeliveryId, EventId, MessageId, WebhookId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import * as RetrySchedule from "./RetrySchedule.ts"
import * as Webhook from "./Webhook.ts"

/** `held` is not stored: it is what `pending` is called while the webhook is paused. */
export const DeliveryStatus = Schema.Literals(["pending", "held", "delivered", "exhausted", "skipped"])
export type DeliveryStatus = typeof DeliveryStatus.Type

/**
 * Why a delivery is being attempted now: because its event was recorded, because a person or a replay job asked for it
 * again, as a test, or as the probe before a resume.
 */
export const AttemptTrigger = Schema.Literals(["automatic", "manual", "replay", "test", "probe"])
export type AttemptTrigger = typeof AttemptTrigger.Type

/**
 * Attempts come in *rounds*: the retry schedule runs once from the first attempt of a round, T0, to 24 hours later. A
 * person's retry, a replay job and a resume of the webhook begin a new round.
 */
export interface Delivery {
  readonly id: DeliveryId
  readonly workspaceId: WorkspaceId
  readonly webhookId: WebhookId
  readonly eventId: EventId
  readonly eventType: EventType
  /** The variant in which the body is sent; fixed when the event was recorded. */
  readonly envelope: Envelope
  /** Of the event's order, unless the delivery has left it (see {@link newRound}). */
  readonly orderKey: MessageId | null
  readonly sequence: number | null
  readonly status: Exclude<DeliveryStatus, "held">
  /** What its present round was begun by. */
  readonly trigger: AttemptTrigger
  /** Attempts that have ended, over all rounds. An attempt given back does not count. */
  readonly attemptCount: number
  /** Those of the present round. */
  readonly roundAttempts: number
  /** T0, when the first attempt of the present round began. */
  readonly firstAttemptAt: Instant | null
  /** When the last attempt, of whatever round, ended. */
  readonly lastAttemptAt: Instant | null
  /** When the next attempt is due; `null` when none is, or while a predecessor is on its way. */
  readonly nextAttemptAt: Instant | null
  readonly createdAt: Instant
  readonly completedAt: Instant | null
}

/** How an attempt ended. Only status 200 within the deadline is `delivered`. */
export const AttemptOutcome = Schema.Literals([
  "delivered",
  "dns",
  "connect",
  "tls",
  "timeout",
  "status",
  "redirect",
  "blocked_address"
])
export type AttemptOutcome = typeof AttemptOutcome.Type

/** What a receiver answered: its headers and at most 16 KiB of its body. */
export interface AttemptResponse {
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

/**
 * How long each phase of an attempt took until it succeeded or failed, in milliseconds. `null` for a phase that was not
 * needed (a connection kept open needs none of the first three), not reached, or cut off by the deadline.
 */
export interface AttemptTimings {
  readonly lookupMs: number | null
  readonly connectMs: number | null
  readonly tlsMs: number | null
  /** From the request's sending to the beginning of the answer. */
  readonly firstByteMs: number | null
  readonly bodyMs: number | null
}

/** One POST to a receiver. */
export interface Attempt {
  readonly id: AttemptId
  /** 1 is the first of all rounds. */
  readonly number: number
  readonly trigger: AttemptTrigger
  readonly startedAt: Instant
  readonly durationMs: number
  readonly outcome: AttemptOutcome
  readonly statusCode: number | null
  /** One plain sentence: "answered 204; only 200 counts". */
  readonly message: string
  /** Where it was posted to: the webhook's URL at that time. */
  readonly url: string
  /** The IP address connected to, or tried last; `null` when it did not come so far. */
  readonly address: string | null
  /** `null` when nothing was tried over the network. */
  readonly timings: AttemptTimings | null
  readonly response: AttemptResponse | null
  /** What the receiver asked for with 429 or 503. */
  readonly retryAfter: Duration.Duration | null
}

/** Whether it has not been attempted in its present round. */
export const isUntried = (delivery: Pick<Delivery, "roundAttempts">): boolean => delivery.roundAttempts === 0

/**
 * Tests and probes are attempted once, also while the webhook is paused. A failure ends them and says nothing against
 * the webhook; a success counts as any other.
 */
export const isTest = (delivery: Pick<Delivery, "trigger">): boolean =>
  delivery.trigger === "test" || delivery.trigger === "probe"

/** Whether it is on its way: held ones are not. */
export const isOpen = (delivery: Pick<Delivery, "status">): boolean => delivery.status === "pending"

/** The delivery of an event to a webhook as it begins; a predecessor's end gives one that `waits` its due time. */
export const recorded = (
  event: Event,
  webhook: Pick<Webhook.Webhook, "id" | "envelope">,
  id: DeliveryId,
  { trigger, waits }: { readonly trigger: "automatic" | "test" | "probe"; readonly waits: boolean }
): Delivery => ({
  id,
  workspaceId: event.workspaceId,
  webhookId: webhook.id,
  eventId: event.id,
  eventType: event.type,
  envelope: webhook.envelope,
  orderKey: event.orderKey,
  sequence: event.sequence,
  status: "pending",
  trigger,
  attemptCount: 0,
  roundAttempts: 0,
  firstAttemptAt: null,
  lastAttemptAt: null,
  // a test is never due
  nextAttemptAt: waits || trigger !== "automatic" ? null : event.createdAt,
  createdAt: event.createdAt,
  completedAt: null
})

/**
 * A delivery that ends without a further attempt: skipped by a resume or a removal, or a test that is `exhausted`
 * because its claim was given back or outlived.
 */
export const end = (delivery: Delivery, status: "exhausted" | "skipped", at: Instant): Delivery => ({
  ...delivery,
  status,
  nextAttemptAt: null,
  completedAt: at
})

/** The first of an order once its predecessors have ended: due now, unless it had a due time already. */
export const follow = (delivery: Delivery, now: Instant): Delivery =>
  delivery.nextAttemptAt === null ? { ...delivery, nextAttemptAt: now } : delivery

/**
 * A delivery that is asked for again: a new round, due now, whatever had become of it. One that has ended, or waits
 * behind a predecessor, leaves its order for good; the first of an order keeps its place, and others go on waiting for
 * it. An attempt under way is the first of the round.
 */
export const newRound = (delivery: Delivery, trigger: "manual" | "replay", now: Instant): Delivery => ({
  ...delivery,
  ...(isOpen(delivery) && delivery.nextAttemptAt !== null ? {} : { orderKey: null, sequence: null }),
  status: "pending",
  trigger,
  roundAttempts: 0,
  firstAttemptAt: null,
  nextAttemptAt: now,
  completedAt: null
})

/** What a person is shown. */
export const statusShown = (delivery: Delivery, webhook: Pick<Webhook.Webhook, "pausedAt">): DeliveryStatus =>
  delivery.status === "pending" && webhook.pausedAt !== null && !isTest(delivery) ? "held" : delivery.status

/** Whether its next attempt is the first of a round: it is untried, or its webhook was resumed since. */
export const startsRound = (
  delivery: Pick<Delivery, "roundAttempts" | "firstAttemptAt">,
  { resumedAt }: Pick<Webhook.Webhook, "resumedAt">
): boolean => isUntried(delivery) || (resumedAt !== null && delivery.firstAttemptAt! < resumedAt)

/**
 * The lines in which deliveries of a webhook wait: what is new; its *backlog*, which is what was pending when it was
 * resumed and what replay jobs ask for; and retries. A failing webhook takes them in this order.
 */
export const lines = ["fresh", "backlog", "retry"] as const

/** One of {@link lines}. */
export type Line = (typeof lines)[number]

/** In which line it waits now. */
export const line = (delivery: Delivery, webhook: Pick<Webhook.Webhook, "resumedAt">): Line =>
  !startsRound(delivery, webhook)
    ? "retry"
    : (delivery.trigger === "replay" && isUntried(delivery)) ||
        (webhook.resumedAt !== null && (waitsSince(delivery) ?? Infinity) < webhook.resumedAt)
    ? "backlog"
    : "fresh"

/** Of a first attempt of a round: the place in its line. */
const waitsSince = (delivery: Delivery): Instant | null => delivery.firstAttemptAt ?? delivery.nextAttemptAt

/** When a delivery may be claimed, by its own clock; `null` when it may not. */
export const dueAt = (delivery: Delivery, webhook: Pick<Webhook.Webhook, "health" | "resumedAt">): Instant | null => {
  const { lastAttemptAt, nextAttemptAt } = delivery
  if (delivery.status !== "pending" || nextAttemptAt === null || isUntried(delivery)) {
    return delivery.status === "pending" ? nextAttemptAt : null
  }
  const { recoveredAt } = webhook.health
  // what was tried before a resume is due with it, whatever it waited for
  if (startsRound(delivery, webhook)) return lastAttemptAt
  return recoveredAt !== null && lastAttemptAt !== null && lastAttemptAt < recoveredAt
    ? Math.min(nextAttemptAt, recoveredAt)
    : nextAttemptAt
}

/** Its place among all that may be claimed of a webhook: who has waited for longest goes first; `null` when none. */
export const place = (
  delivery: Delivery,
  webhook: Pick<Webhook.Webhook, "health" | "resumedAt">
): Instant | null => {
  const at = dueAt(delivery, webhook)
  return at === null || !startsRound(delivery, webhook) ? at : waitsSince(delivery)
}

/**
 * A delivery and its webhook after an attempt. Success ends the delivery and any failing state. Failure plans the
 * next attempt; the round's last failure pauses the webhook when no attempt to it succeeded since the round's first one,
 * and then the event stays pending (held); otherwise the event alone is exhausted. For tests see {@link isTest}.
 */
export const afterAttempt = <State extends Pick<Webhook.Webhook, "health" | "pausedAt" | "resumedAt">>(
  delivery: Delivery,
  webhook: State,
  attempt: Attempt,
  jitter: number
): { readonly delivery: Delivery; readonly webhook: State } => {
  const endedAt = attempt.startedAt + attempt.durationMs
  const failed = attempt.outcome !== "delivered"
  const isFirst = startsRound(delivery, webhook)
  const attempted: Delivery = {
    ...delivery,
    attemptCount: attempt.number,
    roundAttempts: isFirst ? 1 : delivery.roundAttempts + 1,
    firstAttemptAt: isFirst ? attempt.startedAt : delivery.firstAttemptAt,
    lastAttemptAt: endedAt
  }
  const ended = (status: "delivered" | "exhausted"): Delivery => ({
    ...attempted,
    status,
    nextAttemptAt: null,
    completedAt: endedAt
  })
  if (failed && isTest(delivery)) return { delivery: ended("exhausted"), webhook }
  const health = Webhook.afterAttempt(webhook.health, {
    at: endedAt,
    durationMs: attempt.durationMs,
    failure: failed ? attempt.message : null
  })
  if (!failed) return { delivery: ended("delivered"), webhook: { ...webhook, health } }
  const firstStartedAt = attempted.firstAttemptAt!
  const nextAttemptAt = RetrySchedule.next(
    {
      number: attempted.roundAttempts,
      firstStartedAt,
      startedAt: attempt.startedAt,
      endedAt,
      retryAfter: attempt.retryAfter
    },
    jitter
  )
  if (nextAttemptAt !== null) return { delivery: { ...attempted, nextAttemptAt }, webhook: { ...webhook, health } }
  const othersSucceeded = health.lastSuccessAt !== null && health.lastSuccessAt >= firstStartedAt
  return othersSucceeded
    ? { delivery: ended("exhausted"), webhook: { ...webhook, health } }
    : {
      delivery: { ...attempted, nextAttemptAt: endedAt },
      webhook: { ...webhook, health, pausedAt: webhook.pausedAt ?? endedAt }
    }
}
