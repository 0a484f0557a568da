/**
 * The header `Idempotency-Key`, before the body is decoded (contract §3 *Order of checks*).
 */
import { Access } from "@wac/api"
import { type Errors, Idempotency } from "@wac/core"
import { Context, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"

/** Refuses a request without a well-formed key where the endpoint needs one. */
export const check = (
  endpoint: HttpApiEndpoint.Top
): Effect.Effect<void, Errors.InvalidBody, HttpServerRequest.HttpServerRequest> =>
  Context.get(endpoint.annotations, Access.NeedsIdempotencyKey)
    ? Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      ({ headers }) => Effect.asVoid(Effect.fromResult(Idempotency.parseKey(headers["idempotency-key"])))
    )
    : Effect.void
