/**
 * A part of a phone number that somebody looks for, in any notation. Pure.
 */
import { Schema } from "effect"

/** Digits from the beginning of a number. */
export interface NumberPart {
  readonly digits: string
  /** Whether they begin with the country code; otherwise a country code may precede them. */
  readonly isInternational: boolean
}

/** Characters of the longest text that is read. */
const maxLength = 64

/** The most digits of a country code. */
export const maxCodeDigits = 3

/** At least four digits, since fewer are in too many numbers, and no more than a number has with a `(0)` in it. */
const pattern = /^[\s()./-]*(\+[\s()./-]*)?(0[\s()./-]*)*[1-9][\s()./-]*([0-9][\s()./-]*){3,15}$/u

/** `+49 170 12`, `0049 (0)170 12`, `0170 12` and `(555) 124-`. */
export const Written = Schema.String.check(
  Schema.isPattern(pattern, {
    message: "must have at least 4 digits, and nothing else but + ( ) . / - and spaces",
    toJsonSchema: () => ({ pattern: pattern.source, maxLength })
  }),
  Schema.isMaxLength(maxLength)
)

/** Reads what is {@link Written}. */
export const read = (text: string): NumberPart => {
  const written = text.trim().replace("(0)", "")
  const all = written.replaceAll(/\D/gu, "")
  return { digits: all.replace(/^0+/u, ""), isInternational: written.includes("+") || all.startsWith("00") }
}

/** Whether a customer's name is a number with the part. */
export const isIn = ({ digits, isInternational }: NumberPart, name: string): boolean =>
  name.startsWith("+") && (
    name.startsWith(digits, 1) ||
    !isInternational && Array.from({ length: maxCodeDigits }, (_, i) => i + 2).some((at) => name.startsWith(digits, at))
  )
