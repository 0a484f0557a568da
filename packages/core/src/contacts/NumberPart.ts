/**
 * A part of a phone number that a person searches for, in any notation. Pure.
 */
import { Schema } from "effect"

/** The first digits of a number, with or without its country code. */
export interface NumberPart {
  readonly digits: string
  /** Whether the digits begin with the country code. If not, a country code may precede them. */
  readonly isInternational: boolean
}

/** The maximum length of the text, in characters. */
const maxLength = 64

/** The maximum number of digits of a country code. */
export const maxCodeDigits = 3

/**
 * At least four digits, since too many numbers contain a shorter part, and at most 16: the digits of a number and a
 * `(0)`.
 */
const pattern = /^[\s()./-]*(\+[\s()./-]*)?(0[\s()./-]*)*[1-9][\s()./-]*([0-9][\s()./-]*){3,15}$/u

/** A written part of a number, such as `+49 170 12`, `0049 (0)170 12`, `0170 12` or `(555) 124-`. */
export const Written = Schema.String.check(
  Schema.isPattern(pattern, {
    message: "must have at least 4 digits, and nothing else but + ( ) . / - and spaces",
    toJsonSchema: () => ({ pattern: pattern.source, maxLength })
  }),
  Schema.isMaxLength(maxLength)
)

/** Reads a {@link Written} part. */
export const read = (text: string): NumberPart => {
  const written = text.trim().replace("(0)", "")
  const all = written.replaceAll(/\D/gu, "")
  return { digits: all.replace(/^0+/u, ""), isInternational: written.includes("+") || all.startsWith("00") }
}

/**
 * Whether a customer's name is a number that begins with the part, or (for a part without country code) has it after up
 * to three digits.
 */
export const isIn = ({ digits, isInternational }: NumberPart, name: string): boolean =>
  name.startsWith("+") && (
    name.startsWith(digits, 1) ||
    !isInternational && Array.from({ length: maxCodeDigits }, (_, i) => i + 2).some((at) => name.startsWith(digits, at))
  )
