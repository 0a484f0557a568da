/** What a person looks for with a text, by its shape. Pure. */
import { isUserId } from "../contacts/Names.ts"

/**
 * The phone number that a text is, as it is on the wire: `0049 170 1234567` and `+49 (0)170 1234567` are
 * `+491701234567`. `undefined` for what is not a whole number with its country code, such as a part of one.
 */
export const numberOf = (text: string): string | undefined => {
  const written = text.trim().replace("(0)", "")
  if (!/^\+?[\d\s()./-]+$/.test(written)) return undefined
  const digits = written.replaceAll(/\D/g, "")
  const isMarked = written.startsWith("+") || digits.startsWith("00")
  const number = isMarked ? digits.replace(/^00/, "") : digits
  // fewer digits without a mark can be somebody's own number for an order
  return (isMarked ? /^[1-9]\d{6,14}$/ : /^[1-9]\d{9,14}$/).test(number) ? `+${number}` : undefined
}

/** Whether a text may be a part of a phone number: four digits or more, in any notation. */
export const isNumberPart = (text: string): boolean =>
  /^\+?[\d\s()./-]+$/.test(text) && /^[^1-9]*([1-9]\D*)(\d\D*){3,14}$/.test(text.replace("(0)", ""))

/** The name of a customer that a text is: a number or a user id. */
export const customerOf = (text: string): string | undefined => isUserId(text) ? text : numberOf(text)

/** The filter of the list of messages: a customer, the provider's id, or somebody's own reference. */
export const soughtMessages = (
  text: string | undefined
): { readonly to?: string; readonly provider?: string; readonly reference?: string } => {
  if (text === undefined) return {}
  const to = customerOf(text)
  return to !== undefined ? { to } : text.startsWith("wamid.") ? { provider: text } : { reference: text }
}

/** The status code that a text is; `undefined` if it is none. */
export const statusCodeOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-5]\d\d$/.test(text) ? Number(text) : undefined

/** Whether a text is an id of a kind, of which `prefix` is the beginning. */
export const isIdOf = (prefix: string, text: string | undefined): text is string => text?.startsWith(prefix) === true
