/**
 * Determines from a template's components which values a send must give and which it may give (contract §9). Pure.
 */
import { Predicate, type Schema } from "effect"
import { placeholdersOf } from "./Placeholders.ts"
import { codeButtonOf, type ProviderTemplate } from "./Template.ts"

/** A header whose value is a file or a location. */
export type HeaderFormat = "image" | "video" | "document" | "location"

/** The value that a header takes. */
export type HeaderSlot =
  | { readonly kind: "text"; readonly names: ReadonlyArray<string> }
  | { readonly kind: HeaderFormat }

/** The field of a send that holds a button's value. */
export type ButtonField = "urlSuffix" | "payload" | "code" | "flowToken" | "thumbnailProductRetailerId"

/** The value that a button takes. */
export type ButtonSlot =
  | { readonly kind: "value"; readonly field: ButtonField; readonly isRequired: boolean }
  /** The button copies the one-time code of the body, and takes its value from there. */
  | { readonly kind: "handover" }
  /** The button takes no value. */
  | { readonly kind: "fixed" }
  /** The button needs a value that no send can give. */
  | { readonly kind: "impossible"; readonly type: string }

/** The values that a card takes, and that a template takes outside its carousel. */
export interface CardSlots {
  /** `null` if the header takes no value. */
  readonly header: HeaderSlot | null
  /** The names of the body's placeholders, in the order of their values. */
  readonly body: ReadonlyArray<string>
  readonly buttons: ReadonlyArray<ButtonSlot>
}

/** The values that a template takes. */
export interface TemplateSlots extends CardSlots {
  /** `null` if there is no carousel. */
  readonly cards: ReadonlyArray<CardSlots> | null
  /** Whether the template has an offer that expires. */
  readonly offer: boolean
  /** A description of the part that no send can fill; `null` if there is none. */
  readonly impossible: string | null
}

const wordOf = (json: Schema.Json, name: string): string | undefined => {
  const word = Predicate.hasProperty(json, name) ? json[name] : undefined
  return Predicate.isString(word) ? word : undefined
}

const typeOf = (json: Schema.Json): string | undefined => wordOf(json, "type")?.toUpperCase()

const listOf = (json: Schema.Json, name: string): ReadonlyArray<Schema.Json> => {
  const list = Predicate.hasProperty(json, name) ? json[name] : undefined
  return Array.isArray(list) ? list : []
}

const formats: ReadonlyMap<string, HeaderFormat> = new Map([
  ["IMAGE", "image"],
  ["VIDEO", "video"],
  ["DOCUMENT", "document"],
  ["LOCATION", "location"]
])

const headerOf = (component: Schema.Json): HeaderSlot | null | string => {
  const format = wordOf(component, "format")?.toUpperCase() ?? "TEXT"
  if (format === "TEXT") {
    const names = placeholdersOf(wordOf(component, "text") ?? "")
    return names.length === 0 ? null : { kind: "text", names }
  }
  const kind = formats.get(format)
  return kind === undefined ? format : { kind }
}

const optional: ReadonlyMap<string, ButtonField> = new Map([
  ["QUICK_REPLY", "payload"],
  ["FLOW", "flowToken"],
  ["CATALOG", "thumbnailProductRetailerId"]
])

const impossible = new Set(["MPM", "ORDER_DETAILS", "OTP"])

const buttonOf = (button: Schema.Json): ButtonSlot => {
  const type = typeOf(button) ?? ""
  if (impossible.has(type)) return { kind: "impossible", type }
  if (type === "COPY_CODE") return { kind: "value", field: "code", isRequired: true }
  const field = optional.get(type)
  if (field !== undefined) return { kind: "value", field, isRequired: false }
  return placeholdersOf(wordOf(button, "url") ?? "").length > 0
    ? { kind: "value", field: "urlSuffix", isRequired: true }
    : { kind: "fixed" }
}

/** Determines the values that a template takes. Unknown components take none. */
export const of = (template: Pick<ProviderTemplate, "category" | "components">): TemplateSlots => {
  let header: HeaderSlot | null = null
  let body: ReadonlyArray<string> = []
  let buttons: ReadonlyArray<ButtonSlot> = []
  let cards: ReadonlyArray<CardSlots> | null = null
  let offer = false
  let words: string | null = null
  for (const component of template.components) {
    switch (typeOf(component)) {
      case "HEADER": {
        const found = headerOf(component)
        if (typeof found === "string") words ??= `its header is of the format ${found.toLowerCase()}`
        else header = found
        break
      }
      case "BODY":
        body = placeholdersOf(wordOf(component, "text") ?? "")
        break
      case "BUTTONS":
        buttons = [...buttons, ...listOf(component, "buttons").map(buttonOf)]
        break
      case "LIMITED_TIME_OFFER":
        offer = expires(component)
        break
      case "CAROUSEL": {
        const found = listOf(component, "cards").map((card) =>
          of({ category: template.category, components: listOf(card, "components") })
        )
        words ??= found.find((card) => card.impossible !== null)?.impossible ?? null
        cards = found
        break
      }
      default:
    }
  }
  const handover = codeButtonOf(template)
  if (handover !== undefined) buttons = buttons.map((slot, i) => i === handover ? { kind: "handover" } : slot)
  for (const [i, slot] of buttons.entries()) {
    if (slot.kind === "impossible") words ??= `its button ${i + 1} is of the type ${slot.type.toLowerCase()}`
  }
  return { header, body, buttons, cards, offer, impossible: words }
}

/** An offer expires unless the component says otherwise. */
const expires = (component: Schema.Json): boolean => {
  const offer = Predicate.hasProperty(component, "limited_time_offer") ? component["limited_time_offer"] : undefined
  return !(Predicate.hasProperty(offer, "has_expiration") && offer["has_expiration"] === false)
}

/**
 * Describes why `bodyParams` alone do not fill a template; `null` if they do. They fill the body and a button that
 * copies its code.
 */
export const unfillableOf = (template: Pick<ProviderTemplate, "category" | "components">): string | null => {
  const { buttons, cards, header, impossible, offer } = of(template)
  if (impossible !== null) return impossible
  if (header !== null) {
    return header.kind === "text"
      ? "its header has a placeholder"
      : `its header needs a value of its own: ${header.kind}`
  }
  for (const [i, slot] of buttons.entries()) {
    if (slot.kind === "value" && slot.isRequired) {
      return slot.field === "urlSuffix"
        ? `the address of its button ${i + 1} has a placeholder`
        : `its button ${i + 1} needs a value of its own: ${slot.field}`
    }
  }
  if (cards !== null) return "its carousel needs values of its own"
  return offer ? "its offer needs a time of expiry" : null
}
