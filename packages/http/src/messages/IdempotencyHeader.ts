/**
 * The header `Idempotency-Key`, before the body is decoded (contract §3 *Order of checks*).
 */
import { Traits } from "@wac/api"
import { type Errors, Idempotency } from "@wac/core"
import { Result } from "effect"
import type { Headers } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"

/** The error for a request without a well-formed key if the endpoint requires one; otherwise `undefined`. */
export const refusal = (endpoint: HttpApiEndpoint.Top, headers: Headers.Headers): Errors.InvalidBody | undefined => {
  if (!Traits.has(endpoint, Traits.NeedsIdempotencyKey)) return undefined
  const key = Idempotency.parseKey(headers["idempotency-key"])
  return Result.isFailure(key) ? key.failure : undefined
}
