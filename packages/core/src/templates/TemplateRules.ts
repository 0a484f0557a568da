/**
 * Finds the first field of a template that the provider would refuse. The service and the dashboard's pages share this
 * file, so it imports only types and `Placeholders`. Pure.
 */
import { placeholdersOf } from "./Placeholders.ts"
import type { ParameterFormat } from "./Template.ts"
import type { Component, TemplateEdit } from "./TemplateDraft.ts"

/** A field that the provider would refuse, and the reason. */
export interface Problem {
  readonly param: string
  readonly message: string
}

/** The template that {@link problemOf} checks. */
export type Judged = Pick<TemplateEdit, "components" | "messageSendTtlSeconds"> & {
  readonly category: string
  readonly parameterFormat: ParameterFormat
}

type Found = Problem | undefined
type Of<Type extends Component["type"]> = Extract<Component, { readonly type: Type }>

const wordsOf = (text: string): ReadonlyArray<string> => placeholdersOf(text)

/**
 * Checks that placeholders are named as the format requires and numbered without a gap; in a body, also that words
 * separate them from each other and from the text's ends.
 */
const placeholders = (
  text: string,
  { parameterFormat }: Pick<Judged, "parameterFormat">,
  param: string,
  isBody: boolean
): Found => {
  const names = wordsOf(text)
  const isNumbered = parameterFormat === "positional"
  const stray = names.find((one) => isNumbered ? !/^\d+$/.test(one) : !/^[a-z][a-z0-9_]*$/.test(one))
  if (stray !== undefined) {
    const format = isNumbered ? "a number" : "a lower-case name"
    return { param, message: `has the placeholder ${stray}, but parameterFormat ${parameterFormat} requires ${format}` }
  }
  if (isNumbered && names.some((one, i) => one !== `${i + 1}`)) {
    return { param, message: "must number its placeholders 1, 2, 3 and so on, without a gap" }
  }
  if (!isBody || names.length === 0) return undefined
  if (/^\s*\{\{|\}\}\s*$/.test(text)) return { param, message: "must not begin or end with a placeholder" }
  return /\}\}\s*\{\{/.test(text) ? { param, message: "must have words between placeholders" } : undefined
}

/** Checks that each placeholder has a sample value; without one, the provider refuses the text. */
const sampled = (
  names: ReadonlyArray<string>,
  { parameterFormat }: Pick<Judged, "parameterFormat">,
  inOrder: ReadonlyArray<string> | undefined,
  named: ReadonlyArray<{ readonly param_name: string }> | undefined,
  param: string,
  fields: readonly [inOrder: string, named: string]
): Found => {
  if (names.length === 0) return undefined
  if (parameterFormat === "named") {
    const missing = names.find((name) => named?.every(({ param_name }) => param_name !== name) ?? true)
    return missing === undefined
      ? undefined
      : { param: `${param}.example.${fields[1]}`, message: `must have an example for ${missing}` }
  }
  return inOrder?.length === names.length
    ? undefined
    : { param: `${param}.example.${fields[0]}`, message: `must have ${names.length} examples, one per placeholder` }
}

const header = (one: Of<"HEADER">, judged: Judged, param: string): Found => {
  if (one.format === "LOCATION") return undefined
  if (one.format !== "TEXT") {
    const files = (one.example?.header_handle?.length ?? 0) + (one.example?.media === undefined ? 0 : 1)
    return files === 1
      ? undefined
      : { param: `${param}.example.media`, message: "must be the id of one file, or header_handle one handle of it" }
  }
  if (one.text === undefined) return { param: `${param}.text`, message: "is required in a header of text" }
  const names = wordsOf(one.text)
  if (names.length > 1) return { param: `${param}.text`, message: "may have one placeholder only" }
  return placeholders(one.text, judged, `${param}.text`, false) ??
    sampled(names, judged, one.example?.header_text, one.example?.header_text_named_params, param, [
      "header_text",
      "header_text_named_params"
    ])
}

const body = (one: Of<"BODY">, judged: Judged, param: string, longest: number): Found => {
  if (judged.category === "authentication") {
    return one.text === undefined
      ? undefined
      : { param: `${param}.text`, message: "must be omitted in an authentication template" }
  }
  if (one.text === undefined) return { param: `${param}.text`, message: "is required" }
  if ([...one.text].length > longest) return { param: `${param}.text`, message: `must have 1 to ${longest} characters` }
  return placeholders(one.text, judged, `${param}.text`, true) ??
    sampled(wordsOf(one.text), judged, one.example?.body_text?.[0], one.example?.body_text_named_params, param, [
      "body_text",
      "body_text_named_params"
    ])
}

const footer = (one: Of<"FOOTER">, judged: Judged, param: string): Found => {
  if (judged.category === "authentication") {
    return one.text === undefined
      ? undefined
      : { param: `${param}.text`, message: "must be omitted in an authentication template" }
  }
  if (one.text === undefined) return { param: `${param}.text`, message: "is required" }
  return one.text.includes("{{") ? { param: `${param}.text`, message: "may not have placeholders" } : undefined
}

/** The most buttons of a type in one template. */
const most: { readonly [type: string]: number } = {
  URL: 2,
  PHONE_NUMBER: 1,
  COPY_CODE: 1,
  FLOW: 1,
  CATALOG: 1,
  MPM: 1,
  SPM: 1,
  VOICE_CALL: 1,
  OTP: 1
}

const buttons = (one: Of<"BUTTONS">, judged: Judged, param: string): Found => {
  const counts = new Map<string, number>()
  for (const [i, button] of one.buttons.entries()) {
    const at = `${param}.buttons[${i}]`
    const count = (counts.get(button.type) ?? 0) + 1
    counts.set(button.type, count)
    const limit = most[button.type]
    if (limit !== undefined && count > limit) {
      return { param: `${at}.type`, message: `may occur ${limit === 1 ? "once" : "twice"} only: ${button.type}` }
    }
    if ((button.type === "OTP") !== (judged.category === "authentication")) {
      return { param: `${at}.type`, message: "must be OTP in an authentication template, and only there" }
    }
    if (button.type === "URL") {
      const names = wordsOf(button.url)
      if (names.length > 1 || (names.length === 1 && !button.url.endsWith("}}"))) {
        return { param: `${at}.url`, message: "may have one placeholder only, at its end" }
      }
      if (names.length === 1 && button.example?.length !== 1) {
        return { param: `${at}.example`, message: "must have one example, of the whole address" }
      }
    }
  }
  const replies = one.buttons.map(({ type }) => type === "QUICK_REPLY")
  const changes = replies.filter((isReply, i) => i > 0 && isReply !== replies[i - 1]).length
  return changes > 1
    ? { param: `${param}.buttons`, message: "must have its quick replies side by side, before or after the others" }
    : undefined
}

const carousel = (one: Of<"CAROUSEL">, judged: Judged, param: string): Found => {
  const shapeOf = (card: (typeof one.cards)[number]) =>
    card.components.map((part) =>
      part.type === "HEADER"
        ? part.format
        : part.type === "BUTTONS"
        ? part.buttons.map(({ type }) => type).join()
        : part.type
    ).join(" ")
  for (const [i, card] of one.cards.entries()) {
    const at = `${param}.cards[${i}].components`
    for (const [j, part] of card.components.entries()) {
      if (part.type === "HEADER" && part.format !== "IMAGE" && part.format !== "VIDEO") {
        return { param: `${at}[${j}].format`, message: "must be IMAGE or VIDEO in a card" }
      }
      if (part.type === "BUTTONS" && part.buttons.length > 2) {
        return { param: `${at}[${j}].buttons`, message: "may have two buttons in a card" }
      }
      const found = problemOfPart(part, judged, `${at}[${j}]`, 160)
      if (found !== undefined) return found
    }
    if (shapeOf(card) !== shapeOf(one.cards[0]!)) {
      return { param: at, message: "must have the same components as the first card" }
    }
  }
  return undefined
}

const problemOfPart = (part: Component, judged: Judged, param: string, longestBody: number): Found => {
  switch (part.type) {
    case "HEADER":
      return header(part, judged, param)
    case "BODY":
      return body(part, judged, param, longestBody)
    case "FOOTER":
      return footer(part, judged, param)
    case "BUTTONS":
      return buttons(part, judged, param)
    case "CAROUSEL":
      return carousel(part, judged, param)
    case "LIMITED_TIME_OFFER":
      return judged.category === "marketing"
        ? undefined
        : { param: `${param}.type`, message: "is for marketing templates only" }
  }
}

/** The bounds of a template's time to live, by category, in seconds. */
const ttls: { readonly [category: string]: readonly [minimum: number, maximum: number] } = {
  authentication: [30, 900],
  utility: [30, 43_200],
  marketing: [43_200, 2_592_000]
}

const problemOfTtl = ({ category, messageSendTtlSeconds }: Judged): Found => {
  const bounds = ttls[category]
  if (messageSendTtlSeconds === undefined || messageSendTtlSeconds === -1 || bounds === undefined) return undefined
  const [minimum, maximum] = bounds
  return messageSendTtlSeconds >= minimum && messageSendTtlSeconds <= maximum
    ? undefined
    : { param: "messageSendTtlSeconds", message: `must be between ${minimum} and ${maximum} in a ${category} template` }
}

/** With an offer that expires, the body is shorter and there is no footer. */
const longestBodyWithOffer = 600

/** The first field that the provider would refuse; `undefined` if there is none. The schemas are checked before. */
export const problemOf = (judged: Judged): Problem | undefined =>
  (judged.components === undefined ? undefined : problemOfAll(judged, judged.components)) ?? problemOfTtl(judged)

const problemOfAll = (judged: Judged, components: ReadonlyArray<Component>): Found => {
  const { category } = judged
  const hasOffer = components.some(({ type }) => type === "LIMITED_TIME_OFFER")
  const hasCards = components.some(({ type }) => type === "CAROUSEL")
  for (const [i, part] of components.entries()) {
    const param = `components[${i}]`
    if (components.findIndex(({ type }) => type === part.type) < i) {
      return { param: `${param}.type`, message: `may occur once only: ${part.type}` }
    }
    if (hasOffer && part.type === "FOOTER") return { param, message: "is not possible beside a limited-time offer" }
    if (hasCards && part.type !== "BODY" && part.type !== "CAROUSEL") {
      return { param, message: "is not possible beside a carousel: only a body is" }
    }
    if (category === "authentication" && (part.type === "HEADER" || part.type === "CAROUSEL")) {
      return { param, message: "is not possible in an authentication template" }
    }
    const found = problemOfPart(part, judged, param, hasOffer ? longestBodyWithOffer : 1024)
    if (found !== undefined) return found
  }
  if (!components.some(({ type }) => type === "BODY")) return { param: "components", message: "must have a body" }
  if (category === "authentication" && !components.some(({ type }) => type === "BUTTONS")) {
    return { param: "components", message: "must have a button of the type OTP" }
  }
  return undefined
}
