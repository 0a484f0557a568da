/**
 * The problem of a campaign's row, because of which nothing is sent to it (contract §11). Pure.
 */
import { Schema } from "effect"

/** The reason why nothing is sent to a row. */
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
