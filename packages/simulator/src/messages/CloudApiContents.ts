/** Checks the contents of free-form messages by upstream's limits, and refuses them in its words. */
import * as Errors from "../CloudApiErrors.ts"

interface Loose {
  readonly [name: string]: unknown
}

type Problem = Errors.Refusal | undefined

const isLoose = (value: unknown): value is Loose => typeof value === "object" && value !== null && !Array.isArray(value)

const missing = (name: string): Errors.Refusal =>
  Errors.refusal({ code: 131008, details: `The parameter ${name} is required.` })
const wrong = (details: string): Errors.Refusal => Errors.refusal({ code: 131009, details })
const tooLong = (name: string, most: number): Errors.Refusal =>
  Errors.refusal({ code: 100, details: `Param ${name} must be at most ${most} characters long.` })

/** The first problem of several. */
const first = (...problems: ReadonlyArray<() => Problem>): Problem => {
  for (const problem of problems) {
    const found = problem()
    if (found !== undefined) return found
  }
  return undefined
}

const each = <A>(values: ReadonlyArray<A>, check: (value: A, i: number) => Problem): Problem =>
  first(...values.map((value, i) => () => check(value, i)))

const text = (value: unknown, name: string, most: number): Problem =>
  value === undefined || value === ""
    ? missing(name)
    : typeof value !== "string"
    ? Errors.badParameter(`Param ${name} must be a string.`)
    : [...value].length > most
    ? tooLong(name, most)
    : undefined

const optionalText = (value: unknown, name: string, most: number): Problem =>
  value === undefined ? undefined : text(value, name, most)

const file = (content: Loose, name: string): Problem => {
  const { id, link } = content
  if ((id === undefined) === (link === undefined)) {
    return Errors.badParameter(`Param ${name} must have exactly one of id and link.`)
  }
  if (id !== undefined) return typeof id === "string" && id !== "" ? undefined : wrong(`${name}['id'] is no media id`)
  return typeof link === "string" && /^https?:\/\/./.test(link)
    ? undefined
    : wrong(`${name}['link'] is not a valid URL`)
}

const captioned = (name: string) => (content: Loose): Problem =>
  first(() => file(content, name), () => optionalText(content.caption, `${name}['caption']`, 1024))

const without = (content: Loose, name: string, fields: ReadonlyArray<string>): Problem =>
  each(
    fields,
    (field) =>
      content[field] === undefined ? undefined : Errors.badParameter(`Unexpected key "${field}" on param "${name}".`)
  )

const coordinate = (value: unknown, name: string, most: number): Problem => {
  if (value === undefined) return missing(`location['${name}']`)
  const degrees = Number(value)
  return Number.isFinite(degrees) && Math.abs(degrees) <= most
    ? undefined
    : wrong(`location['${name}'] is out of range`)
}

const location = (content: Loose): Problem =>
  first(() => coordinate(content.latitude, "latitude", 90), () => coordinate(content.longitude, "longitude", 180))

const furtherNames = ["first_name", "last_name", "middle_name", "suffix", "prefix"]

/** The maximum number of contacts in one message. */
const mostContacts = 257

const contacts = (content: unknown): Problem => {
  if (!Array.isArray(content)) return Errors.badParameter("Param contacts must be an array.")
  if (content.length === 0) return missing("contacts")
  if (content.length > mostContacts) return wrong(`contacts has more than ${mostContacts} elements`)
  return each(content, (contact: unknown, i) => {
    const name = isLoose(contact) ? contact.name : undefined
    if (!isLoose(name)) return missing(`contacts[${i}]['name']`)
    return text(name.formatted_name, `contacts[${i}]['name']['formatted_name']`, 1024) ??
      (furtherNames.some((field) => name[field] !== undefined)
        ? undefined
        : missing(`contacts[${i}]['name']['first_name']`))
  })
}

const reaction = (content: Loose): Problem =>
  first(
    () => text(content.message_id, "reaction['message_id']", 512),
    () =>
      typeof content.message_id === "string" && content.message_id.startsWith("wamid.")
        ? undefined
        : wrong("reaction['message_id'] is not a message id"),
    () => content.emoji === undefined ? missing("reaction['emoji']") : undefined,
    () =>
      typeof content.emoji === "string" && [...new Intl.Segmenter().segment(content.emoji)].length <= 1
        ? undefined
        : wrong("reaction['emoji'] must be a single emoji")
  )

const listOf = (value: unknown): ReadonlyArray<Loose> => Array.isArray(value) ? value.filter(isLoose) : []

const unique = (ids: ReadonlyArray<unknown>, name: string): Problem =>
  new Set(ids).size === ids.length ? undefined : wrong(`Duplicated ${name}`)

const count = (values: ReadonlyArray<unknown>, name: string, least: number, most: number): Problem =>
  values.length >= least && values.length <= most
    ? undefined
    : wrong(`${name}: expected ${least} to ${most}, received ${values.length}`)

const at = (name: string) => `interactive['${name}']`

const buttons = (action: Loose): Problem => {
  const all = listOf(action.buttons)
  const replies = all.map(({ reply }) => isLoose(reply) ? reply : {})
  return first(
    () => count(all, "buttons", 1, 3),
    () => each(replies, ({ title }) => text(title, "button title", 20)),
    () => each(replies, ({ id }) => text(id, "button id", 256)),
    () => unique(replies.map(({ id }) => id), "button id")
  )
}

const list = (action: Loose): Problem => {
  const sections = listOf(action.sections)
  const rows = sections.flatMap((section) => listOf(section.rows))
  return first(
    () => text(action.button, "action['button']", 20),
    () => count(sections, "sections", 1, 10),
    () => count(rows, "rows", 1, 10),
    () => sections.length > 1 ? each(sections, ({ title }) => text(title, "section title", 24)) : undefined,
    () => each(rows, ({ title }) => text(title, "row title", 24)),
    () => each(rows, ({ description }) => optionalText(description, "row description", 72)),
    () => unique(rows.map(({ id }) => id), "row id")
  )
}

const named = (name: string, check: (parameters: Loose) => Problem = () => undefined) => (action: Loose): Problem =>
  action.name === name
    ? check(isLoose(action.parameters) ? action.parameters : {})
    : wrong(`action['name'] must be ${name}`)

/** The id of a catalogue or a product that no business has, and of a flow that upstream has blocked. */
const unusable = "0"

const known = (...ids: ReadonlyArray<unknown>): Problem =>
  ids.includes(unusable) ? wrong("Products not found in FB Catalog") : undefined

const carousel = (action: Loose): Problem => {
  const cards = listOf(action.cards)
  return first(
    () => count(cards, "cards", 2, 10),
    () => unique(cards.map(({ card_index }) => card_index), "card_index"),
    () => new Set(cards.map(({ type }) => type)).size === 1 ? undefined : wrong("cards must have the same type")
  )
}

const products = (action: Loose): Problem => {
  const items = listOf(action.sections).flatMap((section) => listOf(section.product_items))
  return text(action.catalog_id, "action['catalog_id']", 512) ?? count(items, "product_items", 1, 30) ??
    known(action.catalog_id, ...items.map(({ product_retailer_id }) => product_retailer_id))
}

const actions: ReadonlyMap<unknown, (action: Loose) => Problem> = new Map([
  ["button", buttons],
  ["list", list],
  [
    "cta_url",
    named("cta_url", ({ display_text, url }) => text(display_text, "display_text", 20) ?? text(url, "url", 2048))
  ],
  [
    "flow",
    named("flow", ({ flow_cta, flow_id, flow_message_version, flow_name }) =>
      flow_message_version !== "3"
        ? wrong("flow_message_version must be 3")
        : (flow_id === undefined) === (flow_name === undefined)
        ? missing("flow_id")
        : flow_id === unusable
        ? Errors.refusal({ code: 132068 })
        : text(flow_cta, "flow_cta", 30))
  ],
  ["location_request_message", named("send_location")],
  ["request_contact_info", named("request_contact_info")],
  [
    "product",
    (action) =>
      text(action.product_retailer_id, "product_retailer_id", 512) ??
        known(action.catalog_id, action.product_retailer_id)
  ],
  ["product_list", products],
  ["catalog_message", named("catalog_message")],
  ["carousel", carousel],
  ["order_details", named("review_and_pay")],
  ["order_status", named("review_order")]
])

const bodyOf = ({ body }: Loose): unknown => isLoose(body) ? body.text : undefined

const interactive = (content: Loose): Problem => {
  const { action, footer, header, type } = content
  const check = actions.get(type)
  if (check === undefined) return Errors.badParameter(`Param ${at("type")} is not a valid interactive type.`)
  return first(
    () =>
      type === "product" && content.body === undefined
        ? undefined
        : text(bodyOf(content), at("body"), type === "list" ? 4096 : 1024),
    () => isLoose(footer) ? text(footer.text, at("footer"), 60) : undefined,
    () => isLoose(header) && header.type === "text" ? text(header.text, at("header"), 60) : undefined,
    () => type === "carousel" ? without(content, "interactive", ["header", "footer"]) : undefined,
    () => isLoose(action) ? check(action) : missing(at("action"))
  )
}

const checks: ReadonlyMap<string, (content: never) => Problem> = new Map<string, (content: never) => Problem>([
  ["image", captioned("image")],
  ["video", captioned("video")],
  [
    "document",
    (content: Loose) => captioned("document")(content) ?? optionalText(content.filename, "document['filename']", 240)
  ],
  ["audio", (content: Loose) => file(content, "audio") ?? without(content, "audio", ["caption", "filename"])],
  ["sticker", (content: Loose) => file(content, "sticker") ?? without(content, "sticker", ["caption", "filename"])],
  ["location", location],
  ["contacts", contacts],
  ["reaction", reaction],
  ["interactive", interactive]
])

/** The refusal of a message's content for this type; undefined if the content is valid. */
export const refused = (type: string, content: unknown): Errors.Refusal | undefined =>
  checks.get(type)?.(content as never)
