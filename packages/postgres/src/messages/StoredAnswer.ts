/**
 * The stored form of an idempotency key's answer.
 */
import { SendBinding } from "@wac/core"
import { Schema } from "effect"

const encode = Schema.encodeSync(SendBinding.Answer)
const decode = Schema.decodeUnknownSync(SendBinding.Answer)

/** Encodes an answer as JSON to store. */
export const storedAnswer = (answer: SendBinding.Answer | null): unknown => answer && encode(answer)

/** Decodes what {@link storedAnswer} encoded. */
export const storedAnswerOf = (stored: unknown): SendBinding.Answer | null => stored === null ? null : decode(stored)
