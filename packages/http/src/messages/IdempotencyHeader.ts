/**
 * Checks the header `Idempotency-Key` before the body is decoded (contract §3 *Order of checks*).
 */
import { EndpointAnnotations } from "@wac/api"
import { type Errors, Idempotency } from "@wac/core"
import { Result } from "effect"
import type { Headers } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"

/** The error for a malformed key, and for a missing one if the endpoint requires it; otherwise `undefined`. */
export const refusal = (endpoint: HttpApiEndpoint.Top, headers: Headers.Headers): Errors.InvalidBody | undefined => {
  const header = headers["idempotency-key"]
  const isOptional = header === undefined && !EndpointAnnotations.has(endpoint, EndpointAnnotations.NeedsIdempotencyKey)
  if (isOptional || EndpointAnnotations.useOfKey(endpoint) === "none") return undefined
  const key = Idempotency.parseKey(header)
  return Result.isFailure(key) ? key.failure : undefined
}
