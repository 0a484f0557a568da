/**
 * Limits as the SQL functions take them.
 */
import { Limits, type RateLimit } from "@wac/core"

/** What the SQL functions take of a bucket's policy. */
const refillOf = ({ capacity, interval }: RateLimit.Policy): readonly [number, number] => [interval, capacity]

/** Every tier worked out. */
const written = (limits: Limits.Limits) => ({
  workspaceTiers: Object.fromEntries(
    Object.keys(limits.workspaceTiers).map((tier) => [tier, refillOf(Limits.workspace(limits, tier))])
  ),
  workspace: refillOf(Limits.workspace(limits, null)),
  numberTiers: Object.fromEntries(
    Object.keys(limits.phoneNumberTiers).map((tier) => [tier, refillOf(Limits.phoneNumber(limits, tier))])
  ),
  number: refillOf(Limits.phoneNumber(limits, null)),
  pair: refillOf(Limits.pair(limits)),
  monthlyQuota: limits.defaults.monthlyQuota,
  messagingLimit: limits.defaults.messagingLimit
})

/** A process has one set of limits, so that they are worked out once. */
const remembered = new WeakMap<Limits.Limits, ReturnType<typeof written>>()

/** The limits, as the SQL functions take them. */
export const limitsOf = (limits: Limits.Limits): ReturnType<typeof written> => {
  const known = remembered.get(limits) ?? written(limits)
  remembered.set(limits, known)
  return known
}
