/**
 * Token buckets (contract §7). A bucket is stored as one instant, at which it would be full again: the *theoretical
 * arrival time* of the generic cell rate algorithm. So a storage locks one narrow row per bucket. Pure.
 */
import { Context, Duration, Effect } from "effect"
import { RateLimited } from "../Errors.ts"
import type { Instant } from "../Time.ts"

/** The name of a limiter, on the wire and as the reason of `rate_limited`. */
export type Name = RateLimited["reason"]

/** How a bucket fills: one token every `interval` milliseconds (may be a fraction), up to `capacity`. */
export interface Policy {
  readonly name: Name
  readonly interval: number
  readonly capacity: number
  /** The number of tokens that must stay in the bucket; none if omitted. Fewer than `capacity`. */
  readonly reserve?: number
}

/** The state of one bucket after a request, for the `RateLimit` headers. */
export interface Reading {
  readonly policy: Policy
  /** Whole tokens left. */
  readonly remaining: number
  /** Milliseconds until the bucket is full or, if it refused, until it has the tokens that were asked for. */
  readonly resetAfter: number
  readonly allowed: boolean
}

/** A reading and the bucket's new state. If the bucket refused, the state is the old one, {@link bounded}. */
export interface Decision {
  readonly reading: Reading
  readonly fullAt: Instant
}

/**
 * Rounds an interval to 1/1024 ms. Such fractions add up exactly in a double at present-day instants, so rounding never
 * costs a burst its last token.
 */
export const intervalOf = (milliseconds: number): number => Math.max(1, Math.round(milliseconds * 1024)) / 1024

/** One token every 1/`rate` seconds, with a burst of twice the rate and at least one. */
export const perSecond = (name: Name, rate: number): Policy => ({
  name,
  interval: intervalOf(1000 / rate),
  capacity: Math.max(1, rate * 2)
})

/**
 * Limits a bucket's state to that of an empty bucket. A state further ahead was written by a fast clock, or before the
 * clock was set back; such a bucket counts as empty and fills from now on.
 */
export const bounded = ({ capacity, interval }: Policy, fullAt: Instant, now: Instant): Instant =>
  Math.min(fullAt, now + interval * capacity)

/**
 * Takes one token if there is one. `fullAt` is the bucket's state; a new bucket is full (`0`). If the bucket refuses,
 * the new state is the old one, {@link bounded}. Write it if it differs: otherwise the bucket stays empty until the
 * time that was stored.
 */
export const take = (policy: Policy, stored: Instant, now: Instant): Decision => {
  const fullAt = bounded(policy, stored, now)
  const base = Math.max(fullAt, now)
  const next = base + policy.interval
  const waited = next - now - policy.interval * (policy.capacity - (policy.reserve ?? 0))
  return waited > 0
    ? { fullAt, reading: { policy, remaining: 0, resetAfter: waited, allowed: false } }
    : {
      fullAt: next,
      reading: { policy, remaining: tokens(policy, next, now), resetAfter: next - now, allowed: true }
    }
}

/** Returns one token to a bucket. */
export const giveBack = (policy: Policy, fullAt: Instant): Instant => fullAt - policy.interval

const tokens = (policy: Policy, fullAt: Instant, now: Instant): number =>
  // states are fractions of a millisecond; the epsilon keeps a rounding error such as 0.1 + 0.2 from costing a token
  Math.max(0, Math.floor(policy.capacity - Math.max(0, fullAt - now) / policy.interval + 1e-6))

const refusals: { readonly [name in Name]: string } = {
  workspace: "the workspace sends requests faster than its tier allows",
  phone_number: "the phone number sends faster than its tier allows",
  pair: "the phone number sends to this recipient faster than the pair limit allows",
  provider: "the provider asks to send more slowly",
  login: "too many failed sign-ins; wait before the next"
}

/**
 * The error of the first limiter that refused, with the longest wait of all that refused; `undefined` if none did. Its
 * message is that of the limiter's name, unless another is given.
 */
export const refusal = (readings: ReadonlyArray<Reading>, message?: string): RateLimited | undefined => {
  const refused = readings.filter(({ allowed }) => !allowed)
  return refused[0] === undefined ? undefined : new RateLimited({
    reason: refused[0].policy.name,
    message: message ?? refusals[refused[0].policy.name],
    retryAfter: Duration.millis(Math.ceil(Math.max(...refused.map(({ resetAfter }) => resetAfter))))
  })
}

/**
 * Receives the readings of the current request. The HTTP layer sets it for its headers; by default they are dropped.
 */
export const Observer = Context.Reference<(reading: Reading) => void>("@wac/core/RateLimit/Observer", {
  defaultValue: () => () => {}
})

/** Passes readings to the current request's {@link Observer}. */
export const observe = (readings: ReadonlyArray<Reading>): Effect.Effect<void> =>
  Effect.map(Observer, (observer) => readings.forEach(observer))
