/**
 * Tells which refused values of a recipient's message all recipients of the campaign share (contract §11). Pure.
 */
import type { InvalidBody } from "../Errors.ts"
import type { Message } from "../messages/Message.ts"
import type { TemplateContent } from "../messages/TemplateContent.ts"
import * as TemplateValues from "../messages/TemplateValues.ts"
import * as Campaign from "./Campaign.ts"
import * as VariableNames from "./VariableNames.ts"
import * as Variant from "./Variant.ts"

/** The place of a button among those that the message gives. */
const buttonAt = /^template\.buttons\[(\d+)\]/

/** The fields of buttons that work without a value. */
const optionalFields = ["payload", "flowToken", "thumbnailProductRetailerId"] as const

/**
 * Whether a misfit concerns all recipients. When their rows were checked, all messages fitted the template: they have
 * as many values, the same kind of header, and a value for each button that needs one. So only two things can be a
 * recipient's own: a value that breaks the provider's rules for texts, and the value of a button that needs none.
 */
const sharesMisfit = (
  category: string,
  shared: TemplateContent,
  own: TemplateContent,
  param: string
): boolean => {
  const brokenIn = (given: TemplateContent) => TemplateValues.misfit({ category }, given)?.param
  // a variable's value is the recipient's own
  if (brokenIn(own) === param) return brokenIn(VariableNames.filled(shared, () => "x")) === param
  const button = own.buttons?.[Number(buttonAt.exec(param)?.[1] ?? -1)]
  const field = optionalFields.find((name) => button?.[name] !== undefined)
  return button === undefined || field === undefined ||
    shared.buttons?.some((one) => one.index === button.index && one[field] !== undefined) === true
}

/** Whether a value that was refused is one that all recipients share: a file, or values that the template takes. */
export const isRefused = (
  campaign: Pick<Campaign.Campaign, "template" | "templateB" | "categories">,
  { content, variant }: Pick<Message, "content" | "variant">,
  { param, reason }: Pick<InvalidBody, "param" | "reason">
): boolean => {
  if (param === undefined) return false
  if (reason !== "template_params_mismatch") return Campaign.sharesFile(campaign, content, param)
  const at = Variant.placeOf(variant)
  const shared = Variant.templatesOf(campaign)[at]
  return content.type === "template" && shared !== undefined &&
    sharesMisfit(campaign.categories?.[at] ?? "", shared, content.template, param)
}
