/** Checks whether the parameters of a send fit its template, by upstream's rules and in its words. */
import * as Errors from "../CloudApiErrors.ts"
import type { Component, Template } from "../templates/CloudApiTemplates.ts"

interface Loose {
  readonly [name: string]: unknown
}

const isLoose = (value: unknown): value is Loose => typeof value === "object" && value !== null && !Array.isArray(value)

const listOf = (value: unknown): ReadonlyArray<Loose> => Array.isArray(value) ? value.filter(isLoose) : []

/** The placeholders of a text, in order of appearance. */
const placeholdersOf = (text: string): ReadonlyArray<string> => [
  ...new Set([...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name]) => name!))
]

const problem = (code: number, details: string): Errors.Refusal => Errors.refusal({ code, details })

/**
 * The longest texts with their parameters filled in, in characters. Sources:
 * github.com/Nexmo/nexmo-developer/pull/2806; twilio.com/docs/api/errors/63021, "Length of the parameters and the
 * template text exceeds the allowed length of 1024 for WhatsApp".
 */
const longest = { header: 60, body: 1024 } as const

/** The longest code: `(#132018) body: Parameter at index 1 exceeds the parameter length limit 15`, in public code. */
const longestCode = 15

/**
 * The texts that upstream refuses in any parameter. Sources: github.com/netflie/whatsapp-cloud-api/issues/201,
 * github.com/dimagi/open-chat-studio/pull/4277.
 */
const forbiddenWhiteSpace = /[\n\r\t]| {5}/

/** Checks the text of a parameter. Source for empty texts: github.com/shridarpatil/frappe_whatsapp/issues/169. */
const textProblem = (parameter: Loose): Errors.Refusal | undefined => {
  if (typeof parameter.text !== "string" || parameter.text === "") {
    return problem(131008, "Parameter of type text is missing text value")
  }
  return forbiddenWhiteSpace.test(parameter.text)
    ? problem(132018, "Param text cannot have new-line/tab characters or more than 4 consecutive spaces")
    : undefined
}

const lengthOf = (text: string): number => [...text].length

const codeProblem = (label: string, index: number, code: string): Errors.Refusal | undefined =>
  lengthOf(code) <= longestCode
    ? undefined
    : problem(132018, `${label}: Parameter at index ${index} exceeds the parameter length limit ${longestCode}`)

const textTypes = new Set(["text", "currency", "date_time"])

const filledWith = (parameter: Loose): string => {
  if (typeof parameter.text === "string") return parameter.text
  const value = parameter[String(parameter.type)]
  return isLoose(value) ? String(value.fallback_value ?? "") : ""
}

/** Checks the parameters that are given for a text with placeholders. */
const inText = (
  label: "header" | "body",
  template: Template,
  text: string,
  given: ReadonlyArray<Loose>
): Errors.Refusal | undefined => {
  const placeholders = placeholdersOf(text)
  if (given.length !== placeholders.length) {
    return problem(
      132000,
      `${label}: number of localizable_params (${given.length}) does not match the expected number of params (${placeholders.length})`
    )
  }
  const filled: Record<string, string> = {}
  for (const [i, parameter] of given.entries()) {
    if (!textTypes.has(String(parameter.type))) {
      return problem(
        132012,
        `${label}: Format mismatch, expected TEXT, received ${String(parameter.type ?? "unknown").toUpperCase()}`
      )
    }
    const bad = parameter.type === "text" ? textProblem(parameter) : undefined
    if (bad !== undefined) return bad
    if (template.category === "AUTHENTICATION") {
      const long = codeProblem(label, i, filledWith(parameter))
      if (long !== undefined) return long
    }
    if (template.parameter_format === "NAMED") {
      const name = parameter.parameter_name
      if (typeof name !== "string" || name === "") return problem(100, "Parameter name is missing or empty")
      if (!placeholders.includes(name) || name in filled) {
        return problem(132012, `${label}: parameter name '${name}' does not match the parameters of the template`)
      }
      filled[name] = filledWith(parameter)
    } else {
      filled[placeholders[i]!] = filledWith(parameter)
    }
  }
  const length = lengthOf(text.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => filled[name] ?? ""))
  return length > longest[label]
    ? problem(132005, `${label}: the text with its parameters is longer than ${longest[label]} characters`)
    : undefined
}

const inHeader = (
  template: Template,
  header: Component,
  given: ReadonlyArray<Loose>
): Errors.Refusal | undefined => {
  const format = header.format ?? "TEXT"
  if (format === "TEXT") return inText("header", template, header.text ?? "", given)
  const type = given[0]?.type
  return typeof type === "string" && type.toUpperCase() === format
    ? undefined
    : problem(
      132012,
      `header: Format mismatch, expected ${format}, received ${
        typeof type === "string" ? type.toUpperCase() : "UNKNOWN"
      }`
    )
}

/**
 * Whether a button takes a value with each message: a web address with a placeholder, a code. Sources:
 * github.com/shridarpatil/whatomate/issues/501, github.com/PipedreamHQ/pipedream/issues/5899.
 */
const needsValue = (button: Loose): boolean =>
  button.type === "COPY_CODE" || (typeof button.url === "string" && placeholdersOf(button.url).length > 0)

/**
 * The buttons that a send must name, and the code of the refusal if it does not. A component without parameters is
 * enough. Sources: of flows github.com/juspay/clairvoyance/pull/1128, github.com/chatwoot/chatwoot/pull/14714 and
 * github.com/Bindambc/whatsapp-business-java-api/issues/221; of catalogues
 * github.com/Azure-Samples/communication-services-dotnet-quickstarts/issues/169. A quick reply may be left out
 * (github.com/ChatbotXIO/ChatbotX/pull/1006).
 */
const unnamed: ReadonlyMap<unknown, number> = new Map([["FLOW", 131009], ["CATALOG", 131008]])

const buttonValueProblem = (parameter: Loose, index: number): Errors.Refusal | undefined =>
  parameter.type === "text"
    ? textProblem(parameter)
    : typeof parameter.coupon_code === "string"
    ? codeProblem("buttons", index, parameter.coupon_code)
    : undefined

const inButtons = (
  buttons: ReadonlyArray<Loose>,
  given: ReadonlyArray<Loose>
): Errors.Refusal | undefined => {
  for (const [i, button] of buttons.entries()) {
    const own = given.find((component) => String(component.index) === String(i))
    const code = own === undefined ? unnamed.get(button.type) : undefined
    if (code !== undefined) {
      return problem(code, `buttons: Button at index ${i} of type ${String(button.type)} has no component`)
    }
    const parameters = listOf(own?.parameters)
    if (needsValue(button) && parameters.length === 0) {
      return problem(131008, `buttons: Button at index ${i} of type ${String(button.type)} requires a parameter`)
    }
    const bad = parameters.map((parameter) => buttonValueProblem(parameter, i)).find((found) => found !== undefined)
    if (bad !== undefined) return bad
  }
  const stray = given.find((component) => buttons[Number(component.index)] === undefined)
  return stray === undefined
    ? undefined
    : problem(132012, `buttons: there is no button at index ${String(stray.index)}`)
}

const parametersOf = (given: ReadonlyArray<Loose>, type: string): ReadonlyArray<Loose> =>
  listOf(given.find((component) => String(component.type).toLowerCase() === type)?.parameters)

/** Checks a template's offer: if the template has an end of the offer, the send must give its time. */
const inOffer = (offer: Component | undefined, given: ReadonlyArray<Loose>): Errors.Refusal | undefined => {
  const parameters = parametersOf(given, "limited_time_offer")
  if (offer === undefined) {
    return parameters.length === 0
      ? undefined
      : problem(132012, "limited_time_offer: the template has no limited time offer")
  }
  const terms = isLoose(offer.limited_time_offer) ? offer.limited_time_offer : {}
  if (terms.has_expiration !== true) return undefined
  const value = parameters[0]?.limited_time_offer
  const ends = isLoose(value) ? value.expiration_time_ms : undefined
  return Number.isSafeInteger(ends)
    ? undefined
    : problem(131008, "limited_time_offer: expiration_time_ms is required")
}

/** Checks the cards of a send, each against the template's card with its index. */
const inCards = (
  template: Template,
  carousel: Component | undefined,
  given: ReadonlyArray<Loose>
): Errors.Refusal | undefined => {
  const sent = listOf(given.find((component) => String(component.type).toLowerCase() === "carousel")?.cards)
  const cards = listOf(carousel?.cards)
  if (sent.length !== cards.length) {
    return problem(132012, `carousel: number of cards (${sent.length}) does not match the template (${cards.length})`)
  }
  for (const [i, card] of cards.entries()) {
    const filling = sent.find(({ card_index }) => String(card_index) === String(i))
    if (filling === undefined) return problem(131008, `carousel: the card of index ${i} is missing`)
    const found = inComponents(
      template,
      listOf(card.components).filter((component): component is Loose & Component => typeof component.type === "string"),
      listOf(filling.components)
    )
    if (found !== undefined) return found
  }
  return undefined
}

/** Checks a header, a body and buttons, of a template or of one of its cards. */
const inComponents = (
  template: Template,
  components: ReadonlyArray<Component>,
  given: ReadonlyArray<Loose>
): Errors.Refusal | undefined => {
  const defined = (type: string) => components.find((component) => component.type === type)
  return inHeader(template, defined("HEADER") ?? { type: "HEADER", text: "" }, parametersOf(given, "header"))
    ?? inText("body", template, defined("BODY")?.text ?? "", parametersOf(given, "body"))
    ?? inButtons(
      defined("BUTTONS")?.buttons ?? [],
      given.filter((component) => String(component.type).toLowerCase() === "button")
    )
}

/** Upstream's refusal of the components of a send of this template; undefined if they fit. */
export const refused = (template: Template, sent: unknown): Errors.Refusal | undefined => {
  const given = listOf(sent)
  const defined = (type: string) => template.components.find((component) => component.type === type)
  return inComponents(template, template.components, given)
    ?? inOffer(defined("LIMITED_TIME_OFFER"), given)
    ?? inCards(template, defined("CAROUSEL"), given)
}
