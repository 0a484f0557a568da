/**
 * All routes, by method and template: for requests without a handler, and for the log and the metrics, which identify a
 * request by its template. A requested path may contain a customer's number, or anything that a stranger sends.
 */
import { Api } from "@wac/api"
import { Issuer, ProviderWebhook } from "@wac/core"
import { Effect } from "effect"
import * as ProviderRoute from "./inbound/ProviderRoute.ts"
import * as McpRoute from "./mcp/McpRoute.ts"
import * as Dashboard from "./pages/Dashboard.ts"
import * as Guides from "./pages/Guides.ts"
import * as MetricsPage from "./pages/MetricsPage.ts"
import * as Pages from "./pages/Pages.ts"
import * as SecurityContact from "./pages/SecurityContact.ts"
import * as OidcRoute from "./people/OidcRoute.ts"

interface Route {
  readonly method: string
  readonly path: string
  readonly segments: ReadonlyArray<string>
}

const route = (method: string, path: string): Route => ({ method, path, segments: path.split("/") })

const routes: ReadonlyArray<Route> = [
  ...Object.values(Api.groups).flatMap((group) =>
    Object.values(group.endpoints).map(({ method, path }) => route(method, path))
  ),
  ...[...Pages.paths, MetricsPage.path].map((path) => route("GET", path)),
  route("POST", McpRoute.path)
]

/** The routes of the current provider. */
const routesOf = (webhook: ProviderWebhook.ProviderWebhook | undefined): ReadonlyArray<Route> =>
  webhook === undefined ? [] : ProviderRoute.methods.map((method) => route(method, ProviderRoute.path(webhook)))

/** `:id` matches one segment that is not empty; `*` at the end matches all that follow. */
const fits = ({ segments }: Route, given: ReadonlyArray<string>): boolean =>
  (segments.at(-1) === "*" ? segments.length <= given.length : segments.length === given.length) &&
  segments.every((segment, i) => segment === "*" || (segment.startsWith(":") ? given[i] !== "" : segment === given[i]))

const pathOf = (url: string): string => {
  const end = url.indexOf("?")
  return end === -1 ? url : url.slice(0, end)
}

/** Queries about the existing routes. */
export interface Routes {
  /** The methods of a URL's path, sorted; GET includes HEAD. */
  readonly allowed: (url: string) => ReadonlyArray<string>
  /** The template of a URL's path, for any method; `undefined` if no route has the path. */
  readonly templateOf: (url: string) => string | undefined
}

/** The routes of the API, the pages and the current provider. */
export const make: Effect.Effect<Routes> = Effect.map(
  Effect.all([
    ProviderWebhook.ProviderWebhook,
    Dashboard.IsServed,
    Issuer.CurrentIssuer,
    SecurityContact.SecurityContact,
    Guides.Guides
  ]),
  ([webhook, hasDashboard, issuer, contact, guides]) => {
    const ofIssuer = issuer === undefined ? [] : OidcRoute.paths.map((path) => route("GET", path))
    const pages = hasDashboard ? Dashboard.paths.map((path) => route("GET", path)) : []
    const ofContact = contact === undefined ? [] : [route("GET", SecurityContact.path)]
    const ofGuides = Guides.pathsOf(guides).map((path) => route("GET", path))
    const all = [...routes, ...pages, ...ofGuides, ...ofIssuer, ...ofContact, ...routesOf(webhook)]
    const isOpen = ({ path }: Route) => /[:*]/.test(path)
    const fixed = new Set(all.filter((route) => !isOpen(route)).map(({ path }) => path))
    const open = all.filter(isOpen)
    return {
      allowed: (url) => {
        const segments = pathOf(url).split("/")
        const methods = new Set(all.filter((route) => fits(route, segments)).map(({ method }) => method))
        return [...methods, ...(methods.has("GET") ? ["HEAD"] : [])].sort()
      },
      templateOf: (url) => {
        const path = pathOf(url)
        if (fixed.has(path)) return path
        const segments = path.split("/")
        return open.find((route) => fits(route, segments))?.path
      }
    }
  }
)
