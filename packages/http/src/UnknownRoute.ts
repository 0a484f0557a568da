/**
 * Requests that no route takes: 404, or 405 with `Allow` where the path has other methods (contract §2).
 */
import { Api } from "@wac/api"
import { Errors, ProviderWebhook } from "@wac/core"
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as ErrorResponse from "./ErrorResponse.ts"
import * as MetricsPage from "./MetricsPage.ts"
import * as Pages from "./Pages.ts"
import * as ProviderRoute from "./ProviderRoute.ts"

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

/** Those of the provider that is in use. */
const routesOf = (webhook: ProviderWebhook.ProviderWebhook | undefined): ReadonlyArray<Route> =>
  webhook === undefined
    ? []
    : ProviderRoute.methods.map((method) => ({ method, segments: ProviderRoute.path(webhook).split("/") }))

/** The methods of a path, sorted; GET brings HEAD. Pure. */
const allowed = (url: string, routes: ReadonlyArray<Route>): ReadonlyArray<string> => {
  const segments = url.split("?", 1)[0]!.split("/")
  const methods = new Set(routes.filter((route) => fits(route, segments)).map(({ method }) => method))
  return [...methods, ...(methods.has("GET") ? ["HEAD"] : [])].sort()
}

/** Gives the answer to requests that found no route. */
export const make = Effect.map(ProviderWebhook.ProviderWebhook, (webhook) => {
  const all = [...routes, ...routesOf(webhook)]
  return Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    const methods = allowed(request.url, all)
    // an address of the right form that no router would read (`%zz`, an endless id) is nowhere, whatever the method
    if (methods.length === 0 || methods.includes(request.method)) {
      return yield* ErrorResponse.of(new Errors.NotFound({ message: "there is nothing at this address" }))
    }
    const refusal = yield* ErrorResponse.of(
      new Errors.NotFound({ message: `this address takes ${methods.join(", ")}` })
    )
    return HttpServerResponse.setStatus(HttpServerResponse.setHeader(refusal, "allow", methods.join(", ")), 405)
  })
})
