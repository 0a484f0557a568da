/**
 * Errors as responses, in the form of contract §2.
 */
import { ErrorAddress, ErrorBody } from "@wac/api"
import { type Errors } from "@wac/core"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServerResponse } from "effect/http"
import { Exchange, headersOf } from "./Exchange.ts"

/** Renders an error for the current exchange. */
export const of = (error: Errors.DomainError): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(Exchange, (exchange) => {
    exchange.error = error
    return HttpServerResponse.jsonUnsafe(ErrorBody.bodyOf(error, exchange.requestId, exchange.errorsPage), {
      status: ErrorBody.statusOf(error),
      headers: ErrorBody.headersOf(error)
    })
  })

/** A response for code that writes it without Effect. */
export interface Plain {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

/**
 * Renders an error for a request without an exchange, with a new request id. Without `errorsPage`, its `doc_url` is
 * relative to the requested address.
 */
export const outside = (error: Errors.DomainError, errorsPage: string = ErrorAddress.path): Plain => {
  const requestId = `req_${SecureRandom.ulidUnsafe()}`
  return {
    status: ErrorBody.statusOf(error),
    headers: { "content-type": "application/json", ...headersOf(requestId), ...ErrorBody.headersOf(error) },
    body: JSON.stringify(ErrorBody.bodyOf(error, requestId, errorsPage))
  }
}
