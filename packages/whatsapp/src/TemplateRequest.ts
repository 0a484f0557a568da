/**
 * Writes the components of a template's send as the Cloud API documents them, from the values that the sender gave and
 * the slots that the template has.
 */
import { type FileContent, type Provider, type TemplateContent, TemplateFit, TemplateSlots } from "@wac/core"
import { DateTime, type Schema } from "effect"
import * as File from "./File.ts"

type Json = { readonly [field: string]: Schema.Json }
type Refers = Provider.ProviderSend["refers"]

/** The value of one placeholder. `name` is undefined if the placeholders are positional. */
const parameter = (value: TemplateContent.TemplateValue, name: string | undefined): Json => ({
  ...(typeof value === "string"
    ? { type: "text" }
    : { type: "currency" in value ? "currency" : "date_time" }),
  ...(name === undefined ? {} : { parameter_name: name }),
  ...(typeof value === "string" ? { text: value } : value)
})

const parameters = (
  names: ReadonlyArray<string>,
  values: ReadonlyArray<TemplateContent.TemplateValue>,
  isNamed: boolean
): ReadonlyArray<Json> => values.map((value, i) => parameter(value, isNamed ? names[i] : undefined))

const isFile = (kind: string): kind is "image" | "video" | "document" =>
  kind === "image" || kind === "video" || kind === "document"

const header = (
  given: TemplateContent.TemplateHeader | undefined,
  slot: TemplateSlots.HeaderSlot | null,
  isNamed: boolean,
  refers: Refers
): ReadonlyArray<Json> => {
  const [entry] = Object.entries(given ?? {}) as Array<[string, Schema.Json]>
  if (given === undefined || entry === undefined) return []
  const [kind, value] = entry
  const filled = given.text !== undefined
    ? parameter(given.text, isNamed && slot?.kind === "text" ? slot.names[0] : undefined)
    : { type: kind, [kind]: isFile(kind) ? File.of(value as FileContent.FileContent, refers) : value }
  return [{ type: "header", parameters: [filled] }]
}

const body = (
  names: ReadonlyArray<string>,
  given: TemplateContent.BodyParams | undefined,
  isNamed: boolean
): ReadonlyArray<Json> => {
  const values = TemplateFit.valuesOf(names, given)
  return values.length === 0 ? [] : [{ type: "body", parameters: parameters(names, values, isNamed) }]
}

const button = (index: number, subType: string, parameter: Json): Json => ({
  type: "button",
  sub_type: subType,
  index: `${index}`,
  parameters: [parameter]
})

const buttonOf = (
  { code, flowData, flowToken, index, payload, thumbnailProductRetailerId, urlSuffix }: TemplateContent.TemplateButton,
  slot: TemplateSlots.ButtonSlot | undefined
): Json => {
  if (urlSuffix !== undefined) return button(index, "url", { type: "text", text: urlSuffix })
  if (payload !== undefined) return button(index, "quick_reply", { type: "payload", payload })
  if (code !== undefined) {
    return slot?.kind === "handover"
      ? button(index, "url", { type: "text", text: code })
      : button(index, "copy_code", { type: "coupon_code", coupon_code: code })
  }
  if (thumbnailProductRetailerId !== undefined) {
    const action = { thumbnail_product_retailer_id: thumbnailProductRetailerId }
    return button(index, "catalog", { type: "action", action })
  }
  const action = {
    ...(flowToken === undefined ? {} : { flow_token: flowToken }),
    ...(flowData === undefined ? {} : { flow_action_data: flowData })
  }
  return button(index, "flow", { type: "action", action })
}

/** A button without a value: the send must name it, and Meta uses what the template contains. */
const bare = (index: number, subType: string): Json => ({ type: "button", sub_type: subType, index: `${index}` })

/**
 * The component of a button for which the sender gave no value; undefined if it may be omitted. A button that hands
 * over a code needs the code, which is also the value of the body: in Meta's words, "twice in the payload". Meta
 * refuses a send whose flow or catalogue button is not named.
 */
const unasked = (
  index: number,
  slot: TemplateSlots.ButtonSlot,
  value: TemplateContent.TemplateValue | undefined
): Json | undefined => {
  if (slot.kind === "handover") {
    return typeof value === "string" ? button(index, "url", { type: "text", text: value }) : undefined
  }
  if (slot.kind !== "value") return undefined
  if (slot.field === "flowToken") return bare(index, "flow")
  return slot.field === "thumbnailProductRetailerId" ? bare(index, "catalog") : undefined
}

/** The buttons with the sender's values, and those that need a component without one. */
const buttons = (
  slots: ReadonlyArray<TemplateSlots.ButtonSlot>,
  given: ReadonlyArray<TemplateContent.TemplateButton> = [],
  [value]: ReadonlyArray<TemplateContent.TemplateValue>
): ReadonlyArray<Json> => {
  const byIndex = new Map(given.map((one) => [one.index, buttonOf(one, slots[one.index])]))
  for (const [index, slot] of slots.entries()) {
    const own = byIndex.has(index) ? undefined : unasked(index, slot, value)
    if (own !== undefined) byIndex.set(index, own)
  }
  return [...byIndex].sort(([a], [b]) => a - b).map(([, one]) => one)
}

const card = (
  slots: TemplateSlots.CardSlots,
  given: TemplateContent.TemplateCard,
  isNamed: boolean,
  refers: Refers
): ReadonlyArray<Json> => [
  ...header(given.header, slots.header, isNamed, refers),
  ...body(slots.body, given.bodyParams, isNamed),
  ...buttons(slots.buttons, given.buttons, TemplateFit.valuesOf(slots.body, given.bodyParams))
]

const offer = ({ limitedTimeOffer }: TemplateContent.TemplateContent): ReadonlyArray<Json> =>
  limitedTimeOffer === undefined ? [] : [{
    type: "limited_time_offer",
    parameters: [{
      type: "limited_time_offer",
      limited_time_offer: { expiration_time_ms: DateTime.makeUnsafe(limitedTimeOffer.expiresAt).epochMilliseconds }
    }]
  }]

const none: TemplateSlots.TemplateSlots = {
  header: null,
  body: [],
  buttons: [],
  cards: null,
  offer: false,
  impossible: null
}

/** Writes the object under `template`. */
export const of = (
  content: TemplateContent.TemplateContent,
  { refers, template }: Pick<Provider.ProviderSend, "refers" | "template">
): Json => {
  const { cards, language, name } = content
  const slots = template === undefined ? none : TemplateSlots.of(template)
  const isNamed = template?.parameterFormat === "named"
  const components = [
    ...card({ ...slots, body: template?.variables ?? [] }, content, isNamed, refers),
    ...offer(content),
    ...cards === undefined ? [] : [{
      type: "carousel",
      cards: cards.map((given, i) => ({
        card_index: i,
        components: card(slots.cards?.[i] ?? none, given, isNamed, refers)
      }))
    }]
  ]
  return { name, language: { code: language }, ...(components.length === 0 ? {} : { components }) }
}
