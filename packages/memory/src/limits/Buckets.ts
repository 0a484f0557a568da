/**
 * Token buckets: one state for the sends and for everything else.
 */
import { RateLimit, type Time } from "@wac/core"
import { ForgetfulMap } from "../ForgetfulMap.ts"

/** Buckets by name, each as the instant at which it is full. */
export type Buckets = ForgetfulMap<string, Time.Instant>

export interface Bucket {
  readonly key: string
  readonly policy: RateLimit.Policy
}

/** A bucket that is full is as good as one never seen. */
export const make = (): Buckets => new ForgetfulMap((fullAt, now) => fullAt <= now)

/** What taking one token from each would mean; `spend` writes it, which only makes sense when none refused. */
export interface Decided {
  readonly readings: ReadonlyArray<RateLimit.Reading>
  readonly refused: ReadonlyArray<RateLimit.Reading>
  readonly spend: () => void
}

/** Decides over one token from each bucket; writes nothing yet, but what is further ahead than an empty one. */
export const decide = (buckets: Buckets, wanted: ReadonlyArray<Bucket>, now: Time.Instant): Decided => {
  const next = new Map<string, Time.Instant>()
  const readings = wanted.map(({ key, policy }) => {
    const kept = buckets.get(key)
    if (kept !== undefined && RateLimit.bounded(policy, kept, now) < kept) {
      buckets.set(key, RateLimit.bounded(policy, kept, now), now)
    }
    const { fullAt, reading } = RateLimit.take(policy, next.get(key) ?? kept ?? 0, now)
    next.set(key, fullAt)
    return reading
  })
  return {
    readings,
    refused: readings.filter(({ allowed }) => !allowed),
    spend: () => next.forEach((fullAt, key) => buckets.set(key, fullAt, now))
  }
}

/** Gives one token back to each; a bucket that was forgotten is full already. */
export const giveBack = (buckets: Buckets, spent: ReadonlyArray<Bucket>, now: Time.Instant): void => {
  for (const { key, policy } of spent) {
    const fullAt = buckets.get(key)
    if (fullAt !== undefined) buckets.set(key, RateLimit.giveBack(policy, fullAt), now)
  }
}
