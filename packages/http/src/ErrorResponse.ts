/**
 * Errors as answers, in the one shape of contract §2.
 */
import { ErrorBody } from "@wac/api"
import { type Errors } from "@wac/core"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Exchange } from "./Exchange.ts"

/**
 * Renders an error for the exchange under way. One that another request got first keeps that request's id, in the
 * body and in the header, so that a replay is the same to the byte.
 */
export const of = (error: Errors.DomainError): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(Exchange, (exchange) => {
    if (exchange.replayed?._tag === "Failed") exchange.requestId = exchange.replayed.requestId
    return HttpServerResponse.jsonUnsafe(ErrorBody.bodyOf(error, exchange.requestId), {
      status: ErrorBody.statusOf(error),
      headers: { ...ErrorBody.headersOf(error), ...exchange.headers }
    })
  })
