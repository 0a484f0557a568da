/**
 * Recognizes by its form what a search text stands for: a phone number, a customer, an identifier, a status code. Pure.
 */
import { isUserId } from "../contacts/Names.ts"

/**
 * The phone number that a text stands for, as the API writes it: `0049 170 1234567` and `+49 (0)170 1234567` become
 * `+491701234567`. `undefined` if the text is not a complete number with a country code.
 */
export const numberOf = (text: string): string | undefined => {
  const written = text.trim().replace("(0)", "")
  if (!/^\+?[\d\s()./-]+$/.test(written)) return undefined
  const digits = written.replaceAll(/\D/g, "")
  const isMarked = written.startsWith("+") || digits.startsWith("00")
  const number = isMarked ? digits.replace(/^00/, "") : digits
  // fewer digits without a prefix can be a reference, such as an order number
  return (isMarked ? /^[1-9]\d{6,14}$/ : /^[1-9]\d{9,14}$/).test(number) ? `+${number}` : undefined
}

/** Whether a text may be a part of a phone number: four digits or more, in any notation. */
export const isNumberPart = (text: string): boolean =>
  /^\+?[\d\s()./-]+$/.test(text) && /^[^1-9]*([1-9]\D*)(\d\D*){3,14}$/.test(text.replace("(0)", ""))

/** The customer that a text stands for: a phone number, or a user id of the provider; `undefined` if neither. */
export const customerOf = (text: string): string | undefined => isUserId(text) ? text : numberOf(text)

/**
 * The filter of the message list for a search text: a customer, the provider's message id, or the sender's reference.
 * `typed` is the text if it is read as a phone number and may be a reference too, such as the number of an order.
 */
export const soughtMessages = (
  text: string | undefined
): { readonly to?: string; readonly typed?: string; readonly provider?: string; readonly reference?: string } => {
  if (text === undefined) return {}
  const to = customerOf(text)
  if (to === undefined) return text.startsWith("wamid.") ? { provider: text } : { reference: text }
  return isUserId(text) || text.startsWith("+") ? { to } : { to, typed: text }
}

/** The HTTP status code that a text stands for; `undefined` if it is not one. */
export const statusCodeOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-5]\d\d$/.test(text) ? Number(text) : undefined

/** Whether a text is an identifier with this prefix. */
export const isIdOf = (prefix: string, text: string | undefined): text is string => text?.startsWith(prefix) === true
