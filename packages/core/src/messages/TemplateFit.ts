/**
 * Checks that the values of a send fit its template (contract §9), and names the field that is missing, superfluous, of
 * the wrong type, or against the provider's rules for values (contract §13). Pure.
 */
import type { Template } from "../templates/Template.ts"
import * as TemplateSlots from "../templates/TemplateSlots.ts"
import type {
  BodyParams,
  TemplateButton,
  TemplateCard,
  TemplateContent,
  TemplateHeader,
  TemplateValue
} from "./TemplateContent.ts"
import * as TemplateValues from "./TemplateValues.ts"

type Misfit = TemplateValues.Misfit

/** The values of a body, in the order of its placeholders. */
export const valuesOf = (names: ReadonlyArray<string>, given: BodyParams = []): ReadonlyArray<TemplateValue> =>
  isInOrder(given) ? given : names.map((name) => given[name]!)

const isInOrder = (given: BodyParams): given is ReadonlyArray<TemplateValue> => Array.isArray(given)

const body = (names: ReadonlyArray<string>, given: BodyParams | undefined, param: string): Misfit | undefined => {
  const misfit = (count: number) => ({ param, message: `takes ${names.length} values, but got ${count}` })
  if (given === undefined) return names.length === 0 ? undefined : misfit(0)
  if (isInOrder(given)) return given.length === names.length ? undefined : misfit(given.length)
  const missing = names.find((name) => given[name] === undefined)
  if (missing !== undefined) return { param: `${param}.${missing}`, message: `needs a value for ${missing}` }
  const stray = Object.keys(given).find((name) => !names.includes(name))
  return stray === undefined ? undefined : { param: `${param}.${stray}`, message: "has no placeholder with that name" }
}

const header = (
  slot: TemplateSlots.HeaderSlot | null,
  given: TemplateHeader | undefined,
  param: string
): Misfit | undefined => {
  const [kind] = Object.keys(given ?? {})
  if (slot === null) return given === undefined ? undefined : { param, message: "has no header that takes a value" }
  if (kind === slot.kind) return undefined
  const message = slot.kind === "text" ? "has a header that takes text" : `has a header that takes: ${slot.kind}`
  return { param: `${param}.${kind ?? slot.kind}`, message }
}

const fields = ["urlSuffix", "payload", "code", "flowToken", "thumbnailProductRetailerId"] as const

const buttons = (
  slots: ReadonlyArray<TemplateSlots.ButtonSlot>,
  given: ReadonlyArray<TemplateButton> = [],
  param: string
): Misfit | undefined => {
  for (const [i, button] of given.entries()) {
    const at = `${param}[${i}]`
    if (given.findIndex(({ index }) => index === button.index) < i) {
      return { param: `${at}.index`, message: `has only one button ${button.index}, which was given twice` }
    }
    const slot = slots[button.index]
    if (slot === undefined) return { param: `${at}.index`, message: `has no button ${button.index}` }
    const field = fields.find((name) => button[name] !== undefined)!
    const takes = slot.kind === "value" ? slot.field : slot.kind === "handover" ? "code" : undefined
    if (takes === undefined) return { param: at, message: `has a button ${button.index} that takes no value` }
    if (takes !== field) return { param: `${at}.${field}`, message: `has a button ${button.index} that takes ${takes}` }
  }
  const bare = slots.findIndex((slot, i) =>
    slot.kind === "value" && slot.isRequired && !given.some(({ index }) => index === i)
  )
  const slot = slots[bare]
  return slot?.kind === "value"
    ? { param: `${param}[${given.length}].${slot.field}`, message: `has a button ${bare} that needs ${slot.field}` }
    : undefined
}

const card = (slots: TemplateSlots.CardSlots, given: TemplateCard, param: string): Misfit | undefined =>
  header(slots.header, given.header, `${param}header`) ??
    body(slots.body, given.bodyParams, `${param}bodyParams`) ??
    buttons(slots.buttons, given.buttons, `${param}buttons`)

const cards = (
  slots: ReadonlyArray<TemplateSlots.CardSlots> | null,
  given: ReadonlyArray<TemplateCard> | undefined,
  param: string
): Misfit | undefined => {
  if (slots === null) return given === undefined ? undefined : { param, message: "has no carousel" }
  if (given?.length !== slots.length) {
    return { param, message: `has ${slots.length} cards, but got ${given?.length ?? 0}` }
  }
  for (const [i, slot] of slots.entries()) {
    const misfit = card(slot, given[i]!, `${param}[${i}].`)
    if (misfit !== undefined) return misfit
  }
  return undefined
}

const offer = (isNeeded: boolean, isGiven: boolean): Misfit | undefined =>
  isNeeded === isGiven ? undefined : isNeeded
    ? { param: "template.limitedTimeOffer", message: "has a limited-time offer, which needs expiresAt" }
    : { param: "template.limitedTimeOffer", message: "has no limited-time offer" }

/** Whether a send has only body values, in order. This is the common case and needs few checks. */
const isPlain = ({ bodyParams, buttons, cards, header, limitedTimeOffer }: TemplateContent): boolean =>
  header === undefined && buttons === undefined && cards === undefined && limitedTimeOffer === undefined &&
  (bodyParams === undefined || isInOrder(bodyParams))

/** The first field that does not fit; `undefined` if all fit. */
export const misfit = (
  template: Pick<Template, "category" | "components" | "variables" | "unfillable">,
  given: TemplateContent
): Misfit | undefined => {
  if (template.unfillable === null && isPlain(given)) {
    return body(template.variables, given.bodyParams, "template.bodyParams") ?? TemplateValues.misfit(template, given)
  }
  const slots = TemplateSlots.of(template)
  return slots.impossible === null
    ? card(slots, given, "template.") ??
      cards(slots.cards, given.cards, "template.cards") ??
      offer(slots.offer, given.limitedTimeOffer !== undefined) ??
      TemplateValues.misfit(template, given)
    : { param: "template.name", message: `cannot be sent through this service: ${slots.impossible}` }
}
