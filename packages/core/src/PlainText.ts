/**
 * Text as people write it and every storage can hold it.
 */
import { Schema, SchemaTransformation } from "effect"

/** No NUL and no lone surrogate: PostgreSQL holds neither, and UTF-8 cannot carry the second. */
export const PlainText = Schema.String.check(
  Schema.makeFilter(
    (text: string) =>
      (!text.includes("\u0000") && text.isWellFormed()) || "must be well-formed text without NUL characters",
    // JSON in UTF-8 has no lone surrogates to speak of
    { toJsonSchema: () => ({ pattern: "^[^\\x00]*$" }) }
  )
)

/** The text in a form that is one, with U+FFFD in place of what cannot be kept. */
export const cleaned = (text: string): string => text.replaceAll("\u0000", "\uFFFD").toWellFormed()

/** Text of `min` to `max` characters (code points). */
export const between = (min: number, max: number) => {
  const message = `must have ${min} to ${max} characters`
  return PlainText.check(Schema.isMinCodePoints(min, { message }), Schema.isMaxCodePoints(max, { message }))
}

/** Text of 1 to `max` characters, without the white space around it, which is taken off. */
export const trimmed = (max: number) => {
  const pattern = `^\\s*[^\\s\\x00](?:[^\\x00]{0,${max - 2}}[^\\s\\x00])?\\s*$`
  // describes what comes; what is left of it is what is judged
  const described = Schema.String.check(
    Schema.makeFilter((_: string) => true, { toJsonSchema: () => ({ pattern }) })
  )
  return described.pipe(Schema.decodeTo(between(1, max), SchemaTransformation.trim()))
}
