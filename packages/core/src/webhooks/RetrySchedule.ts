/**
 * Decides when a failed delivery is retried (specification §6 *receiver obligations*, contract §6 *Retries*). Pure.
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"

/** The length of a round of retries, from the start of its first attempt. The last retry is at its end. */
export const duration = Duration.hours(24)

/** Five-fold growth, as specified, up to the last step that stays within the 24 hours; the last delay repeats. */
export const delays: ReadonlyArray<Duration.Duration> = [
  Duration.seconds(1),
  Duration.seconds(5),
  Duration.seconds(25),
  Duration.minutes(2),
  Duration.minutes(10),
  Duration.minutes(50),
  Duration.minutes(250)
]

/**
 * Each delay is lengthened at random by up to this fraction, so that many events are not retried at the same instant.
 */
export const maxJitter = 0.1

/** `Retry-After` can lengthen a delay up to this. */
export const maxRetryAfter = Duration.hours(1)

/** The delay after attempt number `number` of a round (from 1) has failed, before jitter. */
export const delay = (number: number): Duration.Duration => delays[Math.min(number, delays.length) - 1]!

/** A failed attempt. */
export interface FailedAttempt {
  /** Its number in its round, from 1. */
  readonly number: number
  /** T0: when the first attempt of the round began. */
  readonly firstStartedAt: Instant
  readonly startedAt: Instant
  readonly endedAt: Instant
  /** The receiver's `Retry-After` with status 429 or 503. */
  readonly retryAfter: Duration.Duration | null
}

/** When the last attempt of a round is due, whose first attempt began at `firstStartedAt`. */
export const lastAt = (firstStartedAt: Instant): Instant => firstStartedAt + Duration.toMillis(duration)

/**
 * When the next attempt is due; `null` after the last one. The last attempt is one that began 24 hours or more after
 * the first. It takes place even if the service was down at that time. `jitter` is a random number in [0, 1).
 */
export const next = (attempt: FailedAttempt, jitter: number): Instant | null => {
  const last = lastAt(attempt.firstStartedAt)
  if (attempt.startedAt >= last) return null
  const own = Duration.toMillis(delay(attempt.number)) * (1 + maxJitter * jitter)
  const asked = attempt.retryAfter === null
    ? 0
    : Math.min(Duration.toMillis(attempt.retryAfter), Duration.toMillis(maxRetryAfter))
  return Math.min(attempt.endedAt + Math.ceil(Math.max(own, asked)), last)
}
