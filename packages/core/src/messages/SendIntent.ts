/**
 * The intent of a send by an AI agent (contract §18): the agent's own name for the one message that a person wants
 * sent. It replaces the Idempotency-Key, which an agent cannot keep: an agent that repeats a call writes its arguments
 * again, often in other words. Pure.
 */
import { Schema } from "effect"
import * as PlainText from "../PlainText.ts"

/**
 * What separates the words of an intent. Any separator counts as the same one, because an agent may write the same name
 * with other spaces or punctuation. A separator is not left out, because `1-12` and `11-2` are two dates.
 */
const insignificant = /[^\p{L}\p{M}\p{N}]+/gu

/** The form of an intent in which two intents are compared. */
export const nameOf = (intent: string): string =>
  // punctuation goes first, because the lower case of some letters depends on the characters beside them
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
