/**
 * When a failed delivery is tried again (specification §6 *receiver obligations*, contract §6 *Retries*).
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"

/** A round of retries goes on for this long after the start of its first attempt; the last one is at its end. */
export const duration = Duration.hours(24)

/** Five-fold growth, as specified, stopped where one more step would leave the 24 hours. */
export const delays: ReadonlyArray<Duration.Duration> = [
  Duration.seconds(1),
  Duration.seconds(5),
  Duration.seconds(25),
  Duration.minutes(2),
  Duration.minutes(10),
  Duration.minutes(50),
  Duration.minutes(250)
]

/** Each delay is lengthened at random by up to this share, so that many events do not come back at one instant. */
export const maxJitter = 0.1

/** `Retry-After` can lengthen a delay up to this. */
export const maxRetryAfter = Duration.hours(1)

/** The delay after the failure of attempt `number` (1 is the first of its round), before jitter. */
export const delay = (number: number): Duration.Duration => delays[Math.min(number, delays.length) - 1]!

/** An attempt that has failed. */
export interface FailedAttempt {
  /** Its number in its round; 1 is the first. */
  readonly number: number
  /** T0: when the first attempt of the round began. */
  readonly firstStartedAt: Instant
  readonly startedAt: Instant
  readonly endedAt: Instant
  /** What the receiver asked for with 429 or 503. */
  readonly retryAfter: Duration.Duration | null
}

/**
 * When the next attempt is due, or `null` when this was the last: one that began 24 hours or more after the first,
 * which takes place even if we were down then. `jitter` is a random number in [0, 1).
 */
export const next = (attempt: FailedAttempt, jitter: number): Instant | null => {
  const last = attempt.firstStartedAt + Duration.toMillis(duration)
  if (attempt.startedAt >= last) return null
  const own = Duration.toMillis(delay(attempt.number)) * (1 + maxJitter * jitter)
  const asked = attempt.retryAfter === null
    ? 0
    : Math.min(Duration.toMillis(attempt.retryAfter), Duration.toMillis(maxRetryAfter))
  return Math.min(attempt.endedAt + Math.ceil(Math.max(own, asked)), last)
}
