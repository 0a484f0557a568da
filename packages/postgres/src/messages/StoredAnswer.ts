/**
 * The stored form of an idempotency key's answer.
 */
import { Idempotency } from "@wac/core"
import { Schema } from "effect"

const encode = Schema.encodeSync(Idempotency.Answer)
const decode = Schema.decodeUnknownSync(Idempotency.Answer)

/** Encodes an answer as JSON to store. */
export const storedAnswer = (answer: Idempotency.Answer | null): unknown => answer && encode(answer)

/** Decodes what {@link storedAnswer} encoded. */
export const storedAnswerOf = (stored: unknown): Idempotency.Answer | null => stored === null ? null : decode(stored)
