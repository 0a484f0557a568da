/**
 * A part of a phone number that somebody looks for, in any notation. Pure.
 */

/** Digits from the beginning of a number. */
export interface NumberPart {
  readonly digits: string
  /** Whether they begin with the country code; otherwise a country code may precede them. */
  readonly isInternational: boolean
}

/** The fewest digits that are looked for: fewer are in too many numbers. */
export const minDigits = 4

/** The most digits of a country code. */
export const maxCodeDigits = 3

/**
 * Reads `+49 170 12`, `0049 (0)170 12`, `0170 12` and `(555) 124-`. `undefined` for what is no part of a number, or too
 * short a one.
 */
export const parse = (text: string): NumberPart | undefined => {
  const written = text.trim().replace("(0)", "")
  if (!/^\+?[\d\s()./-]+$/u.test(written)) return undefined
  const all = written.replaceAll(/\D/gu, "")
  const isInternational = written.startsWith("+") || all.startsWith("00")
  const digits = all.replace(/^0+/u, "")
  return digits.length < minDigits || digits.length > 15 ? undefined : { digits, isInternational }
}

/** Whether a customer's name is a number with the part. */
export const isIn = ({ digits, isInternational }: NumberPart, name: string): boolean =>
  name.startsWith("+") && (
    name.startsWith(digits, 1) ||
    !isInternational && Array.from({ length: maxCodeDigits }, (_, i) => i + 2).some((at) => name.startsWith(digits, at))
  )
