/**
 * The pages for people besides the dashboard: the first page, the icon, the documentation, the status.
 */
import { ErrorAddress } from "@wac/api"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { MountPath } from "../MountPath.ts"
import { version } from "../Version.ts"
import * as Dashboard from "./Dashboard.ts"
import * as Documentation from "./Documentation.ts"
import * as ErrorsPage from "./ErrorsPage.ts"
import * as Guides from "./Guides.ts"
import * as Page from "./Page.ts"
import * as SecurityContact from "./SecurityContact.ts"
import * as StatusPage from "./StatusPage.ts"

/** The address where browsers look for the icon by default, and to which our own pages link. */
const iconPaths = ["/favicon.ico", "/favicon.svg"] as const

/** Every page except those of the dashboard, for `Routes`. */
export const paths = [
  "/",
  ErrorAddress.path,
  StatusPage.path,
  Guides.listPath,
  ...Documentation.paths,
  ...iconPaths
] as const

const running = `wac ${version}`

/**
 * The first page without a dashboard: names the service and links to its pages. A mount path without a slash at its end
 * serves this page too, and from there relative links would lead out of the mount.
 */
const home = (mount: string): string => {
  const root = mount === "" ? "" : `${Page.quoted(mount)}/`
  return Page.document(
    "wac",
    `<h1>wac</h1>
<p>This is ${running}: it sends WhatsApp messages for a workspace, issues API keys, and reports what happened through
signed webhooks. The service is running.</p>
<ul>
<li><a href="${root}docs">API documentation</a> (<a href="${root}openapi.json">OpenAPI</a>,
<a href="${root}llms.txt">llms.txt</a>)</li>
<li><a href="${root}docs/errors">Every error</a>, and what to do about it</li>
<li><a href="${root}status">Status</a>, for people</li>
<li><a href="${root}readyz">Readiness</a>, for load balancers;
<a href="${root}healthz">health</a>, for whatever restarts it</li>
</ul>`,
    { root }
  )
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<path d="M4 5h24v17H15l-7 6v-6H4z" fill="#0b7a4b"/>
<path d="M9 11l3 6 4-6 4 6 3-6" fill="none" stroke="#fff" stroke-width="2.5" stroke-linejoin="round"/>
</svg>
`

/** The first page: the dashboard, if it is served. */
const first = HttpRouter.use((router) =>
  Effect.gen(function*() {
    const response = (yield* Dashboard.IsServed)
      ? Effect.map(MountPath, (mount) => HttpServerResponse.redirect(`${mount}${Dashboard.home}`))
      : Effect.map(MountPath, (mount) => Page.response(home(mount)))
    yield* router.add("GET", "/", response)
  })
)

export const layer = Layer.mergeAll(
  first,
  Dashboard.layer,
  ...iconPaths.map((path) =>
    HttpRouter.add(
      "GET",
      path,
      HttpServerResponse.text(icon, {
        contentType: "image/svg+xml",
        headers: { "cache-control": "public, max-age=86400" }
      })
    )
  ),
  HttpRouter.add("GET", ErrorAddress.path, Page.response(Page.document("Errors", ErrorsPage.body, { root: "../" }))),
  Documentation.layer,
  Guides.layer,
  SecurityContact.layer,
  StatusPage.layer
)
