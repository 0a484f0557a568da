/**
 * Tiers and defaults of rate limits and quotas.
 */
import { Limits } from "@wac/core"
import { Schema, Struct } from "effect"
import { parts } from "./Parts.ts"

/** The content of `WAC_LIMITS`: parts of `Limits`, each of which replaces that part of the standard limits. */
const LimitsPatch = Schema.fromJsonString(
  Schema.Struct({
    ...Limits.Limits.fields,
    defaults: Limits.Limits.fields.defaults.mapFields(Struct.map(Schema.optionalKey))
  }).mapFields(Struct.map(Schema.optionalKey))
)

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
