/**
 * Text as people write it and every storage can hold it.
 */
import { Schema } from "effect"

/** No NUL and no lone surrogate: PostgreSQL holds neither, and UTF-8 cannot carry the second. */
export const PlainText = Schema.String.check(
  Schema.makeFilter((text: string) =>
    (!text.includes("\u0000") && text.isWellFormed()) || "must be well-formed text without NUL characters"
  )
)

/** The text in a form that is one, with U+FFFD in place of what cannot be kept. */
export const cleaned = (text: string): string => text.replaceAll("\u0000", "\uFFFD").toWellFormed()

/** Text of `min` to `max` characters (code points). */
export const between = (min: number, max: number) => {
  const message = `must have ${min} to ${max} characters`
  return PlainText.check(Schema.isMinCodePoints(min, { message }), Schema.isMaxCodePoints(max, { message }))
}
