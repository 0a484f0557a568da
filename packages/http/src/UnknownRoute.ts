/**
 * Requests that no route takes: 404, or 405 with `Allow` where the path has other methods (contract §2).
 */
import { Api } from "@wac/api"
import { Errors } from "@wac/core"
import { Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpServerResponse as Response } from "effect/http"
import * as ErrorResponse from "./ErrorResponse.ts"
import * as MetricsPage from "./MetricsPage.ts"
import * as Pages from "./Pages.ts"

interface Route {
  readonly method: string
  readonly segments: ReadonlyArray<string>
}

const routes: ReadonlyArray<Route> = [
  ...Object.values(Api.groups).flatMap((group) =>
    Object.values(group.endpoints).map(({ method, path }) => ({ method, segments: path.split("/") }))
  ),
  ...[...Pages.paths, MetricsPage.path].map((path) => ({ method: "GET", segments: path.split("/") }))
]

const fits = (route: Route, segments: ReadonlyArray<string>): boolean =>
  route.segments.length === segments.length &&
  route.segments.every((segment, i) => segment.startsWith(":") ? segments[i] !== "" : segment === segments[i])

/** The methods of a path, sorted; GET brings HEAD. Pure. */
const allowed = (url: string): ReadonlyArray<string> => {
  const segments = url.split("?", 1)[0]!.split("/")
  const methods = new Set(routes.filter((route) => fits(route, segments)).map(({ method }) => method))
  return [...methods, ...(methods.has("GET") ? ["HEAD"] : [])].sort()
}

/** The answer to a request that found no route. */
export const answer = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const methods = allowed(request.url)
  // an address of the right form that no router would read (`%zz`, an endless id) is nowhere, whatever the method
  return methods.length === 0 || methods.includes(request.method)
    ? ErrorResponse.of(new Errors.NotFound({ message: "there is nothing at this address" }))
    : Effect.map(
      ErrorResponse.of(new Errors.NotFound({ message: `this address takes ${methods.join(", ")}` })),
      (response) => Response.setStatus(Response.setHeader(response, "allow", methods.join(", ")), 405)
    )
}
