/**
 * Token buckets (contract §7), kept as one instant each: the *theoretical arrival time* of the generic cell rate
 * algorithm, at which the bucket would be full again. One number per bucket is one narrow row to lock.
 */
import { Context, Duration, Effect } from "effect"
import { RateLimited } from "../Errors.ts"
import type { Instant } from "../Time.ts"

/** The name of a limiter, on the wire and as the reason of `rate_limited`. */
export type Name = RateLimited["reason"]

/** How a bucket fills: one token per `interval` milliseconds (a fraction is fine), at most `capacity` of them. */
export interface Policy {
  readonly name: Name
  readonly interval: number
  readonly capacity: number
}

/** What a limiter said about one bucket, for the `RateLimit` headers. */
export interface Reading {
  readonly policy: Policy
  /** Whole tokens left. */
  readonly remaining: number
  /** Milliseconds until the bucket is full, or, when it refused, until it has a token again. */
  readonly resetAfter: number
  readonly allowed: boolean
}

/** A decision: the reading, and the bucket's new state, which is the old one, {@link bounded}, when the bucket refused. */
export interface Decision {
  readonly reading: Reading
  readonly fullAt: Instant
}

/**
 * An interval in 1/1024 ms: such fractions of the present add up exactly in a double, so that no rounding costs a
 * burst its last token.
 */
export const intervalOf = (milliseconds: number): number => Math.max(1, Math.round(milliseconds * 1024)) / 1024

/** A token every 1/`rate` seconds, with a burst of twice the rate, at least one. */
export const perSecond = (name: Name, rate: number): Policy => ({
  name,
  interval: intervalOf(1000 / rate),
  capacity: Math.max(1, rate * 2)
})

/**
 * The state of a bucket as it may be stored: never further ahead than an empty bucket is. One that was written by a
 * clock which was ahead, or before the clock was set back, is empty, and fills from now on.
 */
export const bounded = ({ capacity, interval }: Policy, fullAt: Instant, now: Instant): Instant =>
  Math.min(fullAt, now + interval * capacity)

/**
 * Takes one token, if there is one. `fullAt` is the bucket's state; a bucket never seen is full (`0`). Where it refuses,
 * the new state is the old one, {@link bounded}: it must be written where that differs, else the bucket stays empty until
 * the time is reached that was written.
 */
export const take = (policy: Policy, stored: Instant, now: Instant): Decision => {
  const fullAt = bounded(policy, stored, now)
  const base = Math.max(fullAt, now)
  const next = base + policy.interval
  const waited = next - now - policy.interval * policy.capacity
  return waited > 0
    ? { fullAt, reading: { policy, remaining: 0, resetAfter: waited, allowed: false } }
    : {
      fullAt: next,
      reading: { policy, remaining: tokens(policy, next, now), resetAfter: next - now, allowed: true }
    }
}

/** Gives one token back to a bucket. */
export const giveBack = (policy: Policy, fullAt: Instant): Instant => fullAt - policy.interval

const tokens = (policy: Policy, fullAt: Instant, now: Instant): number =>
  // a bucket's arithmetic is in fractions of a millisecond; the epsilon keeps 0.1 + 0.2 from costing a token
  Math.max(0, Math.floor(policy.capacity - Math.max(0, fullAt - now) / policy.interval + 1e-6))

const refusals: { readonly [name in Name]: string } = {
  workspace: "the workspace sends requests faster than its tier allows",
  phone_number: "the phone number sends faster than its tier allows",
  pair: "this recipient is written to faster than one may",
  provider: "the provider asks to send more slowly",
  login: "too many failed sign-ins; wait before the next"
}

/** The error of the first limiter that refused, with the wait that all of them ask for; or nothing. */
export const refusal = (readings: ReadonlyArray<Reading>): RateLimited | undefined => {
  const refused = readings.filter(({ allowed }) => !allowed)
  return refused[0] === undefined ? undefined : new RateLimited({
    reason: refused[0].policy.name,
    message: refusals[refused[0].policy.name],
    retryAfter: Duration.millis(Math.ceil(Math.max(...refused.map(({ resetAfter }) => resetAfter))))
  })
}

/**
 * Where the readings of the current request go: the HTTP layer sets it to collect them for its headers; elsewhere
 * they are dropped.
 */
export const Observer = Context.Reference<(reading: Reading) => void>("@wac/core/RateLimit/Observer", {
  defaultValue: () => () => {}
})

/** Tells the {@link Observer} of the current request what limiters said. */
export const observe = (readings: ReadonlyArray<Reading>): Effect.Effect<void> =>
  Effect.map(Observer, (observer) => readings.forEach(observer))
