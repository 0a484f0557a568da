/**
 * Requests that no route takes: 404, or 405 with `Allow` where the path has other methods (contract §2).
 */
import { Errors } from "@wac/core"
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as ErrorResponse from "./ErrorResponse.ts"
import type { Routes } from "./Routes.ts"

/** Gives the answer to requests that found no route. */
export const make = (routes: Routes) =>
  Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    const methods = routes.allowed(request.url)
    // an address of the right form that no router would read (`%zz`, an endless id) is nowhere, whatever the method
    if (methods.length === 0 || methods.includes(request.method)) {
      return yield* ErrorResponse.of(new Errors.NotFound({ message: "there is nothing at this address" }))
    }
    const refusal = yield* ErrorResponse.of(
      new Errors.NotFound({ message: `this address accepts ${methods.join(", ")}` })
    )
    return HttpServerResponse.setStatus(HttpServerResponse.setHeader(refusal, "allow", methods.join(", ")), 405)
  })
