/**
 * The provider's published rules for the values of a template (contract §13): their characters and their length. Pure.
 */
import type { Template } from "../templates/Template.ts"
import type { BodyParams, TemplateButton, TemplateCard, TemplateContent, TemplateValue } from "./TemplateContent.ts"

/** The field of a send whose value does not fit the template, and the reason. */
export interface Misfit {
  readonly param: string
  readonly message: string
}

/** The longest texts, in characters. */
const longest = { value: 1024, header: 60, code: 15 } as const

/** The provider refuses these in every text that it puts into a template. */
const unfit = /[\n\r\t]| {5}/

const isLonger = (text: string, most: number): boolean => text.length > most && [...text].length > most

const ofText = (text: string, param: string, most: number): Misfit | undefined =>
  unfit.test(text)
    ? { param, message: "takes no value with a line break, a tab or more than four spaces in a row" }
    : isLonger(text, most)
    ? { param, message: `takes at most ${most} characters here` }
    : undefined

const ofValue = (value: TemplateValue, param: string, most: number): Misfit | undefined =>
  typeof value === "string"
    ? ofText(value, param, most)
    : "currency" in value
    ? ofText(value.currency.fallback_value, `${param}.currency.fallback_value`, most)
    : ofText(value.date_time.fallback_value, `${param}.date_time.fallback_value`, most)

/** The first misfit among the elements; `undefined` if all fit. */
const first = <A>(
  all: ReadonlyArray<A>,
  find: (one: A, index: number) => Misfit | undefined
): Misfit | undefined => {
  for (const [i, one] of all.entries()) {
    const misfit = find(one, i)
    if (misfit !== undefined) return misfit
  }
  return undefined
}

const isInOrder = (given: BodyParams): given is ReadonlyArray<TemplateValue> => Array.isArray(given)

const ofBody = (given: BodyParams = [], param: string, most: number): Misfit | undefined =>
  isInOrder(given)
    ? first(given, (value, i) => ofValue(value, `${param}[${i}]`, most))
    : first(Object.entries(given), ([name, value]) => ofValue(value, `${param}.${name}`, most))

const ofButton = ({ code, urlSuffix }: TemplateButton, param: string): Misfit | undefined =>
  code !== undefined
    ? ofText(code, `${param}.code`, longest.code)
    : urlSuffix === undefined
    ? undefined
    // its length is limited with the rest of the request
    : ofText(urlSuffix, `${param}.urlSuffix`, Infinity)

const ofCard = ({ bodyParams, buttons = [], header }: TemplateCard, param: string, most: number): Misfit | undefined =>
  (header?.text === undefined ? undefined : ofText(header.text, `${param}header.text`, longest.header)) ??
    ofBody(bodyParams, `${param}bodyParams`, most) ??
    first(buttons, (button, i) => ofButton(button, `${param}buttons[${i}]`))

/**
 * The first value that breaks a rule; `undefined` if none does. Each value of an authentication template may be as long
 * as a code.
 */
export const misfit = (template: Pick<Template, "category">, given: TemplateContent): Misfit | undefined => {
  const most = template.category === "authentication" ? longest.code : longest.value
  return ofCard(given, "template.", most) ??
    first(given.cards ?? [], (card, i) => ofCard(card, `template.cards[${i}].`, most))
}
