/**
 * Schemas for text that people write, limited to what every storage can hold.
 */
import { Schema, SchemaTransformation } from "effect"

/** Why text is not {@link PlainText}; `undefined` if it is. */
export const issueOf = (text: string): string | undefined =>
  !text.includes("\u0000") && text.isWellFormed() ? undefined : "must be well-formed text without NUL characters"

/** Text without NUL characters or lone surrogates. PostgreSQL can store neither, and UTF-8 cannot encode the latter. */
export const PlainText = Schema.String.check(
  Schema.makeFilter(
    (text: string) => issueOf(text) ?? true,
    // the JSON schema needs no rule for lone surrogates: JSON in UTF-8 cannot contain them
    { toJsonSchema: () => ({ pattern: "^[^\\x00]*$" }) }
  )
)

/** Replaces NUL characters and lone surrogates by U+FFFD, which makes any text a valid {@link PlainText}. */
export const cleaned = (text: string): string => text.replaceAll("\u0000", "\uFFFD").toWellFormed()

/** Text of `min` to `max` characters (Unicode code points). */
export const between = (min: number, max: number) => {
  const message = `must have ${min} to ${max} characters`
  return PlainText.check(Schema.isMinCodePoints(min, { message }), Schema.isMaxCodePoints(max, { message }))
}

/** Text of 1 to `max` characters after trimming. Surrounding white space is removed. */
export const trimmed = (max: number) => {
  const pattern = `^\\s*[^\\s\\x00](?:[^\\x00]{0,${max - 2}}[^\\s\\x00])?\\s*$`
  // the JSON schema describes the untrimmed input; the check applies to the trimmed text
  const described = Schema.String.check(
    Schema.makeFilter((_: string) => true, { toJsonSchema: () => ({ pattern }) })
  )
  return described.pipe(Schema.decodeTo(between(1, max), SchemaTransformation.trim()))
}
