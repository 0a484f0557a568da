/**
 * Token buckets: one state for the sends and for everything else.
 */
import { RateLimit, type Time, type TokenStep } from "@wac/core"
import { ForgetfulMap } from "../ForgetfulMap.ts"

/** Buckets by name, each as the instant at which it is full. */
export type Buckets = ForgetfulMap<string, Time.Instant>

/** A bucket that is full is as good as one never seen. */
export const make = (): Buckets => new ForgetfulMap((fullAt, now) => fullAt <= now)

/** Gives one token back to each; a bucket that was forgotten is full already. */
export const giveBack = (buckets: Buckets, spent: ReadonlyArray<TokenStep.Named>, now: Time.Instant): void => {
  for (const { key, policy } of spent) {
    const fullAt = buckets.get(key)
    if (fullAt !== undefined) buckets.set(key, RateLimit.giveBack(policy, fullAt), now)
  }
}
