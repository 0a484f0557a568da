/**
 * The intent of a send by an AI agent (contract §18): the agent's own name for the one message that a person wants
 * sent. It takes the place of an Idempotency-Key, which an agent cannot keep: what it repeats are the arguments of a
 * call, often in other words. Pure.
 */
import { Schema } from "effect"
import * as PlainText from "../PlainText.ts"

/**
 * Only letters and digits of an intent count, and where one is parted from the next (`1-12` and `11-2` are two dates):
 * an agent writes the same name with other spaces, case or punctuation.
 */
const insignificant = /[^\p{L}\p{M}\p{N}]+/gu

/** An intent in the form in which two are compared. */
export const nameOf = (intent: string): string =>
  // some letters have another lower case beside some punctuation
  intent.normalize("NFKC").replace(insignificant, "-").replace(/^-|-$/g, "").toLowerCase()

/** Text of 1 to 200 characters with at least one letter or digit. */
export const SendIntent = PlainText.between(1, 200).check(
  Schema.makeFilter(
    (intent: string) => nameOf(intent) !== "" || "must contain a letter or a digit",
    { toJsonSchema: () => ({}) }
  )
)

/**
 * The text whose digest is the Idempotency-Key of a send: the same for each repetition of the call, whatever session,
 * connection or process it comes from. The content of the message is not part of it, so that a repetition with a
 * changed text is refused instead of sent; the recipient is, so that one intent can reach several customers once each.
 */
export const keyText = (intent: string, to: string): string => JSON.stringify([nameOf(intent), to])
