/**
 * Answers and verdicts of idempotency keys, as they are stored.
 */
import { Idempotency } from "@wac/core"
import { Schema } from "effect"

const encodeAnswer = Schema.encodeSync(Idempotency.Answer)
const decodeAnswer = Schema.decodeUnknownSync(Idempotency.Answer)

/** As text in the command: it may hold what PostgreSQL can keep in JSON, and cannot read. */
export const storedAnswer = (answer: Idempotency.Answer): string => JSON.stringify(encodeAnswer(answer))

/** What {@link storedAnswer} has stored. */
export const storedAnswerOf = (stored: unknown): Idempotency.Answer | null =>
  stored === null ? null : decodeAnswer(stored)

/** A verdict as it is stored: with answers in their encoded form. */
export type StoredVerdict = Idempotency.Verdict & { readonly answer?: unknown; readonly lastFailure?: unknown }

export const verdictOf = (stored: StoredVerdict): Idempotency.Verdict => {
  switch (stored._tag) {
    case "Answered":
      return { _tag: "Answered", answer: decodeAnswer(stored.answer) }
    case "Released":
      return { _tag: "Released", lastFailure: storedAnswerOf(stored.lastFailure) }
    default:
      return stored
  }
}
