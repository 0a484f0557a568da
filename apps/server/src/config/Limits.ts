/**
 * Tiers and defaults of rate limits and quotas.
 */
import { Limits } from "@wac/core"
import { Schema } from "effect"
import { parts } from "./Parts.ts"

/** The content of `WAC_LIMITS`: any part of `Limits`, which replaces that part of the standard limits. */
const LimitsPatch = Schema.fromJsonString(Schema.Struct({
  workspaceTiers: Schema.optionalKey(Limits.Limits.fields.workspaceTiers),
  phoneNumberTiers: Schema.optionalKey(Limits.Limits.fields.phoneNumberTiers),
  pair: Schema.optionalKey(Limits.Limits.fields.pair),
  frequencyCap: Limits.Limits.fields.frequencyCap,
  defaults: Schema.optionalKey(Schema.Struct({
    workspaceTier: Schema.optionalKey(Limits.Limits.fields.defaults.fields.workspaceTier),
    phoneNumberTier: Schema.optionalKey(Limits.Limits.fields.defaults.fields.phoneNumberTier),
    monthlyQuota: Schema.optionalKey(Limits.Limits.fields.defaults.fields.monthlyQuota),
    messagingLimit: Schema.optionalKey(Limits.Limits.fields.defaults.fields.messagingLimit)
  }))
}))

/** The limits (contract §8 `WAC_LIMITS`). */
export const limits = parts(
  "WAC_LIMITS",
  "JSON such as {\"workspaceTiers\":{\"standard\":100},\"phoneNumberTiers\":{\"standard\":80}," +
    "\"pair\":{\"everySeconds\":6,\"burst\":45},\"defaults\":{\"monthlyQuota\":null}}, every part optional, with " +
    "rates per second from 0.001 to 1,000,000 and each default tier among the tiers",
  LimitsPatch,
  (patch) =>
    Schema.decodeEffect(Limits.Limits)({
      ...Limits.standard,
      ...patch,
      defaults: { ...Limits.standard.defaults, ...patch.defaults }
    })
)
