/**
 * Answers of idempotency keys, as they are stored.
 */
import { Idempotency } from "@wac/core"
import { Schema } from "effect"

const encode = Schema.encodeSync(Idempotency.Answer)
const decode = Schema.decodeUnknownSync(Idempotency.Answer)

/** An answer as JSON that is to be stored. */
export const storedAnswer = (answer: Idempotency.Answer | null): unknown => answer && encode(answer)

/** The answer that {@link storedAnswer} made such JSON of. */
export const storedAnswerOf = (stored: unknown): Idempotency.Answer | null => stored === null ? null : decode(stored)
