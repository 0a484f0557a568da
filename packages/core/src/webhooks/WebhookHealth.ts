/**
 * The health of a webhook's receiver, as attempts show it: whether it fails, and whether it is slow. Pure rules.
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"

/** The receiver's health, from attempts for any events. */
export interface WebhookHealth {
  /** Consecutive failed attempts since the last success. */
  readonly consecutiveFailures: number
  /** When the first of them ended. */
  readonly failuresSince: Instant | null
  readonly lastFailure: { readonly at: Instant; readonly message: string } | null
  readonly lastSuccessAt: Instant | null
  /** When the last success that took {@link slowAfter} or longer ended. */
  readonly slowAt: Instant | null
  /** When the last attempt ended. A failing webhook's next attempt comes at least `AttemptSlots.failingGap` later. */
  readonly lastAttemptAt: Instant | null
  /** Retries whose last attempt ended before this instant are due immediately, since the receiver has recovered. */
  readonly recoveredAt: Instant | null
}

/** Health before the first attempt. */
export const initial: WebhookHealth = {
  consecutiveFailures: 0,
  failuresSince: null,
  lastFailure: null,
  lastSuccessAt: null,
  slowAt: null,
  lastAttemptAt: null,
  recoveredAt: null
}

/** This many consecutive failures make a webhook *failing*: it then gets one attempt at a time. */
export const failingAfter = 5

/**
 * A success that takes this long is slow. Most receivers respond in a tenth of it. Thirty receivers this slow, each
 * with a backlog, would occupy every healthy slot of a process and leave the others a few hundred deliveries a second.
 */
export const slowAfter = Duration.seconds(1)

/**
 * A webhook stays slow until it succeeds this long after its last slow success. It is twice an attempt's deadline, so
 * that a receiver that alternates between fast and slow does not count as healthy, while a single slow response is soon
 * forgotten.
 */
export const slowFor = Duration.seconds(10)

/** Whether the webhook has so many consecutive failures ({@link failingAfter}) that it gets one attempt at a time. */
export const isFailing = (health: WebhookHealth): boolean => health.consecutiveFailures >= failingAfter

/** Since when the webhook has been failing; `null` if it is not. */
export const failingSince = (health: WebhookHealth): Instant | null => isFailing(health) ? health.failuresSince : null

/** Whether the webhook's successes are slow. The result does not depend on the order in which attempts are recorded. */
export const isSlow = ({ lastSuccessAt, slowAt }: WebhookHealth): boolean =>
  slowAt !== null && lastSuccessAt !== null && lastSuccessAt < slowAt + Duration.toMillis(slowFor)

/** Health after an attempt that ended at `at`. */
export const afterAttempt = (
  health: WebhookHealth,
  attempt: { readonly at: Instant; readonly durationMs: number; readonly failure: string | null }
): WebhookHealth =>
  attempt.failure === null
    ? {
      ...health,
      consecutiveFailures: 0,
      failuresSince: null,
      lastSuccessAt: Math.max(attempt.at, health.lastSuccessAt ?? attempt.at),
      slowAt: attempt.durationMs < Duration.toMillis(slowAfter)
        ? health.slowAt
        : Math.max(attempt.at, health.slowAt ?? attempt.at),
      lastAttemptAt: attempt.at,
      recoveredAt: isFailing(health) ? attempt.at : health.recoveredAt
    }
    : {
      ...health,
      consecutiveFailures: health.consecutiveFailures + 1,
      failuresSince: health.failuresSince ?? attempt.at,
      lastFailure: { at: attempt.at, message: attempt.failure },
      lastAttemptAt: attempt.at
    }

/**
 * What to expect of a receiver. A *doubtful* receiver has failed since its last success, has never succeeded, or is
 * slow ({@link isSlow}). It must not take the slots of healthy receivers in a process.
 */
export type Standing = "healthy" | "doubtful"

/** The standing that follows from a webhook's health. */
export const standing = (health: WebhookHealth): Standing =>
  health.consecutiveFailures === 0 && health.lastSuccessAt !== null && !isSlow(health) ? "healthy" : "doubtful"
