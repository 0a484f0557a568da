/**
 * The boundary around every endpoint: renders each failure in the form of contract §2.
 */
import { Access, Caller } from "@wac/api"
import { Errors } from "@wac/core"
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import * as AuditTrail from "./audit/AuditTrail.ts"
import * as RequestBody from "./bodies/RequestBody.ts"
import * as ErrorResponse from "./ErrorResponse.ts"
import * as InvalidInput from "./InvalidInput.ts"
import * as CrossSite from "./people/CrossSite.ts"

/** The part of the request that did not decode, as far as error messages depend on it. */
const inputOf = (
  kind: HttpApiError.HttpApiSchemaError["kind"]
): Effect.Effect<unknown, Errors.InvalidBody, HttpServerRequest.HttpServerRequest> =>
  kind === "Payload"
    ? RequestBody.json
    : kind === "Query"
    ? Effect.map(
      HttpServerRequest.HttpServerRequest,
      ({ url }) => HttpServerRequest.searchParamsFromURL(new URL(url, "http://localhost"))
    )
    : Effect.void

/** Turns an endpoint's domain errors into responses; other failures stay defects. */
const answer = (
  error: unknown
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest> => {
  if (Errors.isDomainError(error)) return ErrorResponse.of(error)
  if (HttpApiError.HttpApiSchemaError.is(error)) {
    if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.die(error)
    const problem = { kind: error.kind, issue: error.cause.issue }
    return inputOf(error.kind).pipe(
      Effect.match({ onSuccess: (input) => InvalidInput.of(problem, input), onFailure: (malformed) => malformed }),
      Effect.flatMap(ErrorResponse.of)
    )
  }
  return Effect.die(error)
}

export const layer = Layer.effect(
  Caller.ErrorBoundary,
  Effect.gen(function*() {
    const crossSite = yield* CrossSite.CrossSite
    const readBody = yield* RequestBody.reader
    const audited = yield* AuditTrail.make
    return Caller.ErrorBoundary.of((httpEffect, { endpoint }) => {
      const access = Context.getOrUndefined(endpoint.annotations, Access.Access)
      // endpoints with a caller check these after the caller is known (contract §3 *Order of checks*)
      const checked = access?._tag === "Public"
        ? crossSite.check(endpoint).pipe(
          Effect.andThen(HttpServerRequest.HttpServerRequest),
          Effect.flatMap((request) => readBody(endpoint, request)),
          Effect.flatMap(({ bytes, request }) =>
            Effect.andThen(
              RequestBody.onlyOnce(bytes),
              // the changes of a session are recorded in `SessionAuthentication`
              Effect.provideService(audited(endpoint, httpEffect), HttpServerRequest.HttpServerRequest, request)
            )
          )
        )
        : httpEffect
      return Effect.catch(checked, answer)
    })
  })
)
