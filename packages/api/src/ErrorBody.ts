/**
 * Errors on the wire (contract §2): the only mapping from domain errors to statuses, bodies and headers.
 */
import { Errors } from "@wac/core"
import { Duration, Schema } from "effect"
import * as ErrorAddress from "./ErrorAddress.ts"

/** The body of every error. */
export const ErrorBody = Schema.Struct({
  error: Schema.Struct({
    /** The kind of error: one of the specification's six codes, or `not_found`. */
    code: Schema.Literals([
      "invalid_body",
      "unauthorized",
      "forbidden",
      "idempotency_conflict",
      "rate_limited",
      "server_error",
      "not_found"
    ]),
    /** For people. May change. */
    message: Schema.String,
    /** The condition under the code that applied. Stable. */
    reason: Schema.optionalKey(Schema.String),
    /** JSON path of the first offending field, or the header's name. */
    param: Schema.optionalKey(Schema.String),
    /** With `second_factor_required`: the one-time token with which a code or a passkey ends the sign-in. */
    challenge: Schema.optionalKey(Schema.String),
    /** Equal to the response's `Request-Id` header. */
    request_id: Schema.String,
    /** The explanation of this error: an absolute URL, or a URL relative to this server if its address is unknown. */
    doc_url: Schema.String,
    /** The provider's own error. */
    provider: Schema.optionalKey(Errors.ProviderDetail)
  })
}).annotate({
  identifier: "Error",
  description: "An error: its code, and its reason, which names the condition that applied"
})
export type ErrorBody = typeof ErrorBody.Type

/** The statuses of contract §2. */
export const statusOf = (error: Errors.DomainError): number => {
  switch (error.code) {
    case "invalid_body":
      if (error.reason === "too_large") return 413
      // a file of an unsupported type gets 400, because the body itself has the right type
      return error.reason === "unsupported_media_type" && error.param !== "file" ? 415 : 400
    case "unauthorized":
      return 401
    case "forbidden":
      return 403
    case "not_found":
      return 404
    case "idempotency_conflict":
      return 409
    case "rate_limited":
      return 429
    case "server_error":
      switch (error.reason) {
        case "internal":
        case "body_already_parsed":
          return 500
        case "provider_error":
        case "provider_unavailable":
          return 502
        case "overloaded":
        case "storage_unavailable":
        case "in_progress":
          return 503
        case "outcome_unknown":
        case "delivery_unknown":
          return 504
      }
  }
}

/** The body of an error in the response to the request `requestId`. The page of errors is at `errorsPage`. */
export const bodyOf = (error: Errors.DomainError, requestId: string, errorsPage: string): ErrorBody => {
  const reason = Errors.reasonOf(error)
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(reason === undefined ? {} : { reason }),
      ...(error.param === undefined ? {} : { param: error.param }),
      ...("challenge" in error && error.challenge !== undefined ? { challenge: error.challenge } : {}),
      request_id: requestId,
      doc_url: ErrorAddress.of(errorsPage, { code: error.code, reason }),
      ...(error.provider === undefined ? {} : { provider: error.provider })
    }
  }
}

/** The wait for errors with status 503 that name none. */
const defaultRetryAfter = Duration.seconds(1)

/**
 * The wait before a retry that an error asks for, if any: in whole seconds, rounded up, never 0, so that a client that
 * waits this long is not refused again for the same reason.
 */
export const retryAfterOf = (error: Errors.DomainError): number | undefined => {
  const wait = Errors.retryAfterOf(error) ?? (statusOf(error) === 503 ? defaultRetryAfter : undefined)
  return wait === undefined ? undefined : Math.max(1, Math.ceil(Duration.toMillis(wait) / 1000))
}

/** The headers that an error adds to those of every response: `Retry-After`, `WWW-Authenticate`. */
export const headersOf = (error: Errors.DomainError): { readonly [name: string]: string } => {
  const wait = retryAfterOf(error)
  return {
    ...(wait === undefined ? {} : { "retry-after": `${wait}` }),
    ...(statusOf(error) === 401 ? { "www-authenticate": "Bearer" } : {})
  }
}
