/**
 * Deliveries: one event for one webhook, and the attempts at it (contract §6). The model and its rules; pure.
 */
import { type Duration, Schema } from "effect"
import type { Envelope, Event, EventType } from "../events/Event.ts"
import type { AttemptId, DeliveryId, EventId, MessageId, WebhookId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import * as RetrySchedule from "./RetrySchedule.ts"
import type * as Webhook from "./Webhook.ts"
import * as WebhookHealth from "./WebhookHealth.ts"

/** `held` is not stored: it is the status shown for `pending` while the webhook is paused. */
export const DeliveryStatus = Schema.Literals(["pending", "held", "delivered", "exhausted", "skipped"]).annotate({
  identifier: "DeliveryStatus",
  description: "`pending` is being attempted, `held` waits for the webhook's resume; the last three are final."
})
export type DeliveryStatus = typeof DeliveryStatus.Type

/**
 * Why a delivery is being attempted: because its event was recorded, because a person or a replay job requested it
 * again, as a test, or as the probe before a resume.
 */
export const AttemptTrigger = Schema.Literals(["automatic", "manual", "replay", "test", "probe"])
export type AttemptTrigger = typeof AttemptTrigger.Type

/**
 * Attempts come in *rounds*. A round is one run of the retry schedule, from its first attempt (T0) to 24 hours later. A
 * manual retry, a replay job and a resume of the webhook start a new round.
 */
export interface Delivery {
  readonly id: DeliveryId
  readonly workspaceId: WorkspaceId
  readonly webhookId: WebhookId
  readonly eventId: EventId
  readonly eventType: EventType
  /** The variant in which the body is sent, fixed when the event is recorded. */
  readonly envelope: Envelope
  /** The event's order key, unless the delivery has left its order (see {@link newRound}). */
  readonly orderKey: MessageId | null
  readonly sequence: number | null
  readonly status: Exclude<DeliveryStatus, "held">
  /** The cause of the current round. */
  readonly trigger: AttemptTrigger
  /** Finished attempts of all rounds. A released attempt does not count. */
  readonly attemptCount: number
  /** Finished attempts of the present round. */
  readonly roundAttempts: number
  /** T0: when the first attempt of the present round began. */
  readonly firstAttemptAt: Instant | null
  /** When the last attempt of any round ended. */
  readonly lastAttemptAt: Instant | null
  /** When the next attempt is due; `null` if none is, or while the delivery waits for an earlier event of its order. */
  readonly nextAttemptAt: Instant | null
  readonly createdAt: Instant
  readonly completedAt: Instant | null
}

/**
 * The outcome of an attempt: `delivered` (status 200), another response (`status`, `redirect`), or why there was none.
 */
export const AttemptOutcome = Schema.Literals([
  "delivered",
  "dns",
  "connect",
  "tls",
  "timeout",
  "status",
  "redirect",
  "blocked_address"
]).annotate({
  identifier: "AttemptOutcome",
  description: "The outcome of an attempt. Only status 200 within the deadline is `delivered`."
})
export type AttemptOutcome = typeof AttemptOutcome.Type

/** A receiver's response: its headers and at most 16 KiB of its body. */
export interface AttemptResponse {
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

/**
 * How long each phase of an attempt took until it succeeded or failed, in milliseconds. `null` for a phase that was not
 * needed (a kept-alive connection skips the first three), not reached, or cut off by the deadline.
 */
export interface AttemptTimings {
  readonly lookupMs: number | null
  readonly connectMs: number | null
  readonly tlsMs: number | null
  /** From sending the request to the first byte of the response. */
  readonly firstByteMs: number | null
  readonly bodyMs: number | null
}

/** One POST to a receiver. */
export interface Attempt {
  readonly id: AttemptId
  /** Counted over all rounds, from 1. */
  readonly number: number
  readonly trigger: AttemptTrigger
  readonly startedAt: Instant
  readonly durationMs: number
  readonly outcome: AttemptOutcome
  readonly statusCode: number | null
  /** One plain sentence: "answered 204; only 200 counts". */
  readonly message: string
  /** The webhook's URL at the time of the attempt. */
  readonly url: string
  /** The IP address that was connected to or tried last; `null` if the attempt failed earlier. */
  readonly address: string | null
  /** `null` if nothing was sent over the network. */
  readonly timings: AttemptTimings | null
  /** `null` if no response began, or if it was not kept (see {@link recordedAttempt}). */
  readonly response: AttemptResponse | null
  /** The receiver's `Retry-After` with status 429 or 503. */
  readonly retryAfter: Duration.Duration | null
}

/** Whether an attempt is in the sample: one of 32 is, by the last digit of its id, which is random. */
const isSampled = ({ id }: Pick<Attempt, "id">): boolean => id.endsWith("0")

/**
 * The attempt as it is recorded: without its response if it was an automatic first attempt at a delivery, it succeeded,
 * the webhook was healthy, and the attempt is not in the sample. Every other response is kept.
 */
export const recordedAttempt = (attempt: Attempt, standing: WebhookHealth.Standing): Attempt =>
  attempt.outcome === "delivered" && attempt.number === 1 && attempt.trigger === "automatic" &&
    standing === "healthy" && !isSampled(attempt)
    ? { ...attempt, response: null }
    : attempt

/** Whether it has not been attempted in its present round. */
export const isUntried = (delivery: Pick<Delivery, "roundAttempts">): boolean => delivery.roundAttempts === 0

/** The triggers of tests (see {@link isTest}). */
export const testTriggers: ReadonlyArray<AttemptTrigger> = ["test", "probe"]

/**
 * Whether the delivery is a test or a probe. These are attempted once, even while the webhook is paused. A failure ends
 * the delivery and does not count against the webhook; a success counts like any other.
 */
export const isTest = ({ trigger }: Pick<Delivery, "trigger">): boolean => testTriggers.includes(trigger)

/** Whether the delivery is pending. Held deliveries are stored as pending. */
export const isOpen = (delivery: Pick<Delivery, "status">): boolean => delivery.status === "pending"

/** A new delivery of an event to a webhook. If it `waits`, it becomes due when its predecessor ends. */
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
  // a test is never due: it is claimed when it is created
  nextAttemptAt: waits || trigger !== "automatic" ? null : event.createdAt,
  createdAt: event.createdAt,
  completedAt: null
})

/** The status of a test that ends because its claim was released or expired. */
export const lostTestStatus = "exhausted"

/** The status of a delivery that ends without a further attempt: `skipped` by a resume or a removal, or a lost test. */
export type UnattemptedStatus = "skipped" | typeof lostTestStatus

/** The changes of a delivery that ends without a further attempt. */
export const ending = (
  status: UnattemptedStatus,
  at: Instant
): Pick<Delivery, "status" | "nextAttemptAt" | "completedAt"> => ({ status, nextAttemptAt: null, completedAt: at })

/** Ends a delivery without a further attempt. */
export const end = (delivery: Delivery, status: UnattemptedStatus, at: Instant): Delivery => ({
  ...delivery,
  ...ending(status, at)
})

/** Makes the first delivery of an order due once its predecessors have ended, unless it already has a due time. */
export const follow = (delivery: Delivery, now: Instant): Delivery =>
  delivery.nextAttemptAt === null ? { ...delivery, nextAttemptAt: now } : delivery

/**
 * Starts a new round of a delivery, due now, whatever its status. If it has ended, or waits for a predecessor, it
 * leaves its order for good. If it is the first of its order, it stays, and others still wait for it. An attempt in
 * flight counts as the first of the round.
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

/** The status that people see. */
export const statusShown = (delivery: Delivery, webhook: Pick<Webhook.Webhook, "pausedAt">): DeliveryStatus =>
  delivery.status === "pending" && webhook.pausedAt !== null && !isTest(delivery) ? "held" : delivery.status

/**
 * Whether the next attempt is the first of a round: there was none in this round, or the webhook has been resumed since
 * T0.
 */
export const startsRound = (
  delivery: Pick<Delivery, "roundAttempts" | "firstAttemptAt">,
  { resumedAt }: Pick<Webhook.Webhook, "resumedAt">
): boolean => isUntried(delivery) || (resumedAt !== null && delivery.firstAttemptAt! < resumedAt)

/** Whether an attempt at any delivery to the webhook has succeeded since a time. */
const hasSucceededSince = ({ lastSuccessAt }: WebhookHealth.WebhookHealth, since: Instant): boolean =>
  lastSuccessAt !== null && lastSuccessAt >= since

/**
 * Whether the last failure of a pending delivery's round would pause the webhook if nothing succeeds before it (see
 * {@link afterAttempt}): the round has begun since the last resume, and nothing has succeeded since T0.
 */
export const mayPause = (
  delivery: Pick<Delivery, "roundAttempts" | "firstAttemptAt">,
  webhook: Pick<Webhook.Webhook, "health" | "resumedAt">
): boolean => !startsRound(delivery, webhook) && !hasSucceededSince(webhook.health, delivery.firstAttemptAt!)

/**
 * The queues of a webhook's deliveries: new ones; the *backlog*, which is what was pending when the webhook was resumed
 * and what replay jobs request; and retries. A failing webhook takes them in this order, but for what {@link endsRound}.
 */
export const lines = ["fresh", "backlog", "retry"] as const

/** One of {@link lines}. */
export type Line = (typeof lines)[number]

/** The queue that the delivery is in now. */
export const line = (delivery: Delivery, webhook: Pick<Webhook.Webhook, "resumedAt">): Line =>
  !startsRound(delivery, webhook)
    ? "retry"
    : (delivery.trigger === "replay" && isUntried(delivery)) ||
        (webhook.resumedAt !== null && (waitsSince(delivery) ?? Infinity) < webhook.resumedAt)
    ? "backlog"
    : "fresh"

/**
 * Whether a failing webhook takes the delivery before all others: its round is over, so it is its last attempt, and its
 * failure pauses the webhook. The round that began first goes first. Otherwise new events would keep the webhook from
 * its pause for as long as they come faster than its attempts.
 */
export const endsRound = (
  delivery: Pick<Delivery, "roundAttempts" | "firstAttemptAt">,
  webhook: Pick<Webhook.Webhook, "health" | "resumedAt">,
  now: Instant
): boolean =>
  WebhookHealth.isFailing(webhook.health) && mayPause(delivery, webhook) &&
  RetrySchedule.lastAt(delivery.firstAttemptAt!) <= now

/** The instant that orders a delivery in its queue before the first attempt of a round. */
const waitsSince = (delivery: Delivery): Instant | null => delivery.firstAttemptAt ?? delivery.nextAttemptAt

/** When a delivery may be claimed by its own times, without the webhook's limits; `null` if it may not be claimed. */
export const dueAt = (delivery: Delivery, webhook: Pick<Webhook.Webhook, "health" | "resumedAt">): Instant | null => {
  const { lastAttemptAt, nextAttemptAt } = delivery
  if (delivery.status !== "pending" || nextAttemptAt === null || isUntried(delivery)) {
    return delivery.status === "pending" ? nextAttemptAt : null
  }
  const { recoveredAt } = webhook.health
  // a delivery that was tried before a resume is due with the resume, whatever its retry time
  if (startsRound(delivery, webhook)) return lastAttemptAt
  return recoveredAt !== null && lastAttemptAt !== null && lastAttemptAt < recoveredAt
    ? Math.min(nextAttemptAt, recoveredAt)
    : nextAttemptAt
}

/**
 * Orders all claimable deliveries of a webhook: the one that has waited longest comes first. `null` if it may not be
 * claimed.
 */
export const place = (
  delivery: Delivery,
  webhook: Pick<Webhook.Webhook, "health" | "resumedAt">
): Instant | null => {
  const at = dueAt(delivery, webhook)
  return at === null || !startsRound(delivery, webhook) ? at : waitsSince(delivery)
}

/**
 * The delivery and its webhook after an attempt. Success ends the delivery and the webhook's failing state. Failure
 * schedules the next attempt. After a round's last failure, if no attempt to the webhook has succeeded since the round
 * began, the webhook is paused and the event stays pending (held); if one has, only this event is exhausted. A delivery
 * that was skipped while the attempt was in flight stays skipped, unless it succeeded. For tests see {@link isTest}.
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
  const isSkipped = delivery.status === "skipped"
  if (failed && isTest(delivery)) return { delivery: isSkipped ? attempted : ended("exhausted"), webhook }
  const health = WebhookHealth.afterAttempt(webhook.health, {
    at: endedAt,
    durationMs: attempt.durationMs,
    failure: failed ? attempt.message : null
  })
  if (!failed) return { delivery: ended("delivered"), webhook: { ...webhook, health } }
  if (isSkipped) return { delivery: attempted, webhook: { ...webhook, health } }
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
  return hasSucceededSince(health, firstStartedAt)
    ? { delivery: ended("exhausted"), webhook: { ...webhook, health } }
    : {
      delivery: { ...attempted, nextAttemptAt: endedAt },
      webhook: { ...webhook, health, pausedAt: webhook.pausedAt ?? endedAt }
    }
}
