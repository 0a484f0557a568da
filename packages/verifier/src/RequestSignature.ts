/**
 * The content that is signed for a request to the service (contract §5).
 */
import { bodyOf, withBody } from "./SigningInput.ts"

/** The parts of an HTTP request that its signature covers. */
export interface RequestPayloadInput {
  /** The HTTP method; it is converted to upper case, as sent over the wire. */
  readonly method: string
  /** The request-target exactly as sent: path and query, neither decoded nor normalised, e.g. `/v1/messages?a=1`. */
  readonly target: string
  /** The `Idempotency-Key` header exactly as sent; absent, `null` and empty are the same. */
  readonly idempotencyKey?: string | null | undefined
  /** The raw body; `""` if the request has none. */
  readonly body: string | Uint8Array
}

/**
 * The content that a request signature covers (contract §5), to be given to `sign` or `verify` as their raw body:
 *
 * ```text
 * <METHOD>\n<request-target>\n<Idempotency-Key or empty>\n<raw body>
 * ```
 *
 * Method, target and key are bound so that a captured signature cannot be moved to another operation while it is
 * fresh. The content is plain text, so any verifier of the scheme `t=…,v1=…` can check it.
 *
 * Throws a `TypeError` if a part other than the body contains a line feed (no HTTP message can carry one there, and two
 * requests could then share one content), if the method or target is empty, or if a part has the wrong type.
 */
export const requestPayload = (input: RequestPayloadInput): Uint8Array<ArrayBuffer> => {
  const { body, idempotencyKey, method, target } = input
  const lines = [method, target, idempotencyKey ?? ""]
  if (!method || !target || !lines.every((line) => typeof line === "string" && !line.includes("\n"))) {
    throw new TypeError("The method, target and idempotency key must be strings of one line")
  }
  return withBody(`${method.toUpperCase()}\n${target}\n${idempotencyKey ?? ""}\n`, bodyOf(body))
}
