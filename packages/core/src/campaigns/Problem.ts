/**
 * Why a row of a campaign is not sent to (contract §11). Pure.
 */
import { Schema } from "effect"

/** Why a row is not sent to. */
export const ProblemReason = Schema.Literals([
  "malformed",
  "duplicate",
  "opted_out",
  "phone_number_required",
  "template_params_mismatch"
])
export type ProblemReason = typeof ProblemReason.Type

/** What is wrong with a row. The message names a field, but repeats none of its values. */
export const Problem = Schema.Struct({ reason: ProblemReason, message: Schema.String })
export type Problem = typeof Problem.Type
