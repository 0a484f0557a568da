/**
 * The errors that endpoints declare, with their statuses: one list for each kind of endpoint. Clients decode bodies to
 * domain errors by them.
 */
import { Errors } from "@wac/core"
import { Schema, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { ErrorBody } from "./ErrorBody.ts"

const described = (body: ErrorBody["error"]) => ({
  message: body.message,
  ...(body.param === undefined ? {} : { param: body.param }),
  ...(body.provider === undefined ? {} : { provider: body.provider })
})

/** The fields of a domain error from a body, for clients. The wait is in the header, not in the body. */
const fromBody = ({ error }: ErrorBody): unknown => {
  const fields = { ...described(error), reason: error.reason }
  switch (error.code) {
    case "invalid_body":
      return { _tag: "InvalidBody", ...fields }
    case "unauthorized":
      return {
        _tag: "Unauthorized",
        ...fields,
        ...(error.challenge === undefined ? {} : { challenge: error.challenge })
      }
    case "forbidden":
      return { _tag: "Forbidden", ...fields }
    case "idempotency_conflict":
      return { _tag: "IdempotencyConflict", ...fields }
    case "rate_limited":
      return { _tag: "RateLimited", ...fields, retryAfter: 0 }
    case "server_error":
      return { _tag: "ServerError", ...fields }
    case "not_found":
      return { _tag: "NotFound", ...(error.reason === undefined ? {} : { reason: error.reason }), ...described(error) }
  }
}

const at = <T extends Errors.DomainError, E>(status: number, error: Schema.Codec<T, E>) =>
  ErrorBody.pipe(
    Schema.decodeTo(
      error,
      SchemaTransformation.transform({
        decode: (body: ErrorBody) => fromBody(body) as E,
        // servers render errors with `bodyOf`, which knows the request; a client never encodes one
        encode: (): ErrorBody => ({ error: { code: "server_error", message: "", request_id: "", doc_url: "" } })
      })
    ),
    HttpApiSchema.status(status)
  )

const invalidBody = at(400, Errors.InvalidBody)
const unauthorized = at(401, Errors.Unauthorized)
const forbidden = at(403, Errors.Forbidden)
const notFound = at(404, Errors.NotFound)
const conflict = at(409, Errors.IdempotencyConflict)
const tooLarge = at(413, Errors.InvalidBody)
const unsupportedMediaType = at(415, Errors.InvalidBody)
const rateLimited = at(429, Errors.RateLimited)
const internal = at(500, Errors.ServerError)
const badGateway = at(502, Errors.ServerError)
const unavailable = at(503, Errors.ServerError)
const gatewayTimeout = at(504, Errors.ServerError)

/** The errors of every endpoint. */
export const always = [invalidBody, internal, unavailable] as const

/** The errors of an endpoint that requires authentication. */
export const authenticated = [...always, unauthorized, forbidden, rateLimited] as const

/** The errors of an endpoint whose answers are kept under Idempotency-Keys. */
export const idempotent = [...authenticated, conflict, gatewayTimeout] as const

/** The errors of an endpoint whose requests have no body. */
export const reading = [...authenticated, notFound] as const

/** The errors of an endpoint that calls the provider, and whose requests have no body. */
export const readingProvider = [...reading, badGateway] as const

/** The errors of an endpoint whose requests have a body. */
export const writing = [...reading, conflict, tooLarge, unsupportedMediaType] as const

/** The errors of an endpoint that calls the provider, and whose requests have a body. */
export const writingProvider = [...writing, badGateway] as const

/** The errors of an endpoint that sends messages. */
export const sending = [...writingProvider, gatewayTimeout] as const
