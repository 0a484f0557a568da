/**
 * The response to requests without a route: 404, or 405 with `Allow` if the path has different methods (contract §2).
 */
import { Errors } from "@wac/core"
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as ErrorResponse from "./ErrorResponse.ts"
import type { Routes } from "./Routes.ts"

/** Returns the function that responds to requests without a route. */
export const make = (routes: Routes) =>
  Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    const methods = routes.allowed(request.url)
    // an address may fit a template although the router cannot read it (`%zz`, an endless id): it does not exist
    if (methods.length === 0 || methods.includes(request.method)) {
      return yield* ErrorResponse.of(new Errors.NotFound({ message: "there is nothing at this address" }))
    }
    const refusal = yield* ErrorResponse.of(
      new Errors.NotFound({ message: `this address accepts ${methods.join(", ")}` })
    )
    return HttpServerResponse.setStatus(HttpServerResponse.setHeader(refusal, "allow", methods.join(", ")), 405)
  })
