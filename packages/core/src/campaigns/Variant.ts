/**
 * The two variants of a campaign's template (contract §11). Each customer gets one of them. Pure.
 */
import { Schema } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import type { CampaignId } from "../Id.ts"
import type { TemplateContent } from "../messages/TemplateContent.ts"
import * as Split from "./Split.ts"

export const Variant = Schema.Literals(["a", "b"]).annotate({
  identifier: "CampaignVariant",
  description: "The variant of a campaign's template: `a` is `template`, `b` is `templateB`."
})
export type Variant = typeof Variant.Type

/** The share of customers who get variant `b`. Equal halves show a difference best. */
const shareOfB = 0.5

/** The templates of a campaign. */
export interface Templates {
  readonly template: TemplateContent
  /** The template of variant `b`; `null` if every customer gets the same. */
  readonly templateB: TemplateContent | null
}

/** The templates of a campaign, variant `a` first. */
export const templatesOf = ({ template, templateB }: Templates): ReadonlyArray<TemplateContent> =>
  templateB === null ? [template] : [template, templateB]

/** The index of a variant's template in {@link templatesOf}. */
export const placeOf = (variant: Variant | null): number => variant === "b" ? 1 : 0

/** The variant that a customer gets; `null` in a campaign without variants. */
export const of = (
  { id, templateB }: Templates & { readonly id: CampaignId },
  customer: Contact["key"]
): Variant | null => templateB === null ? null : Split.isIn(shareOfB, "variant", id, customer) ? "b" : "a"
