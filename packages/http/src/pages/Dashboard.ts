/**
 * The dashboard at `/dashboard`: static files, which the build of `apps/dashboard` puts into this package's
 * `dist/dashboard`. Every other path below `/dashboard` is a page, which the dashboard's script renders.
 */
import { Authenticator, Capabilities, Id, Mailer, Portal, Provider, Setup } from "@wac/core"
import { Context, Effect, Option } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { directory } from "../DashboardDirectory.ts"
import { MountPath } from "../MountPath.ts"
import { version } from "../Version.ts"
import * as Page from "./Page.ts"
import * as StaticFile from "./StaticFile.ts"

/** Whether the pages are served. An embedding host enables them; the standalone server always serves them. */
export const IsServed = Context.Reference<boolean>("@wac/http/pages/Dashboard/IsServed", { defaultValue: () => false })

/** The origins whose pages may frame the portal, such as `https://app.example.com` (contract §12). */
export const PortalOrigins = Context.Reference<ReadonlyArray<string>>("@wac/http/pages/Dashboard/PortalOrigins", {
  defaultValue: () => []
})

const rootPath = "/dashboard"

/** Addresses of the dashboard, and those that redirect to it: the first page and the set-up link. */
export const paths = [rootPath, `${rootPath}/*`, "/setup", Portal.pathOf("*")] as const

/** Names of assets contain a hash of their content. */
const forEver = { "cache-control": "public, max-age=31536000, immutable" }

/** Revalidated each time; a client with the current version gets 304. */
const fresh = { "cache-control": "no-cache" }

/**
 * The headers of a page: only scripts and styles from this service run, and no string can become markup or script.
 * Images, such as a host's logo, may also come from the origins that may frame the page.
 */
const policyFor = (frameAncestors: string) => ({
  // a page that frames the portal may require that other origins permit the use of their content
  ...(frameAncestors === noFrame ? {} : { "cross-origin-resource-policy": "cross-origin" }),
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${frameAncestors === noFrame ? "" : ` ${frameAncestors}`}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${frameAncestors}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join("; ")
})

const noFrame = "'none'"
const policy = policyFor(noFrame)

const contentTypes: { readonly [ending: string]: string } = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml"
}

interface Built {
  /** The page as built: its addresses begin with `./`. */
  readonly index: string
  /** The files by their path below `/dashboard`. */
  readonly files: ReadonlyMap<string, StaticFile.StaticFile>
}

/**
 * Fails if a host has bundled this code without the pages. Reads all files, so that a later build does not remove files
 * that open pages of this build still need.
 */
const read = async (): Promise<Built> => {
  const folder = directory()
  const files = new Map<string, StaticFile.StaticFile>()
  for (const name of await readdir(folder, { recursive: true })) {
    const contentType = contentTypes[name.split(".").at(-1)!]
    if (contentType === undefined) continue
    files.set(
      `/${name.replaceAll("\\", "/")}`,
      StaticFile.make({
        text: await readFile(join(folder, name), "utf8"),
        contentType,
        headers: name.startsWith("assets") ? forEver : fresh
      })
    )
  }
  return { index: await readFile(join(folder, "index.html"), "utf8"), files }
}

let reading: Promise<Built | undefined> | undefined

/** The files, read once; `undefined` before they are built. */
const built = (): Promise<Built | undefined> => {
  reading ??= read().catch(() => {
    reading = undefined
    return undefined
  })
  return reading
}

/** The page for a mount path, with what its script must know before sign-in. Pure. */
const indexFor = (index: string, mount: string, about: { readonly [name: string]: string | undefined }): string => {
  const meta = { root: `${mount}/`, version, ...about }
  const elements = Object.entries(meta).flatMap(([name, content]) =>
    content === undefined ? [] : [`\n<meta name="wac-${name}" content="${Page.quoted(content)}">`]
  )
  return index.replaceAll("=\"./", () => `="${Page.quoted(mount)}${rootPath}/`).replace(
    "<head>",
    () => `<head>${elements.join("")}`
  )
}

/** A host mounts the routes at one path, or a few. If part of the path varies, the oldest entries are removed. */
const maxIndexes = 32

const indexes = new Map<string, StaticFile.StaticFile>()

const indexFile = (
  index: string,
  mount: string,
  about: { readonly [name: string]: string | undefined },
  policy: { readonly [name: string]: string }
): StaticFile.StaticFile => {
  const text = indexFor(index, mount, about)
  // services of one process may differ in what may frame their pages
  const key = `${policy["content-security-policy"]} ${text}`
  const before = indexes.get(key)
  if (before !== undefined) return before
  const made = StaticFile.make({ text, contentType: "text/html; charset=utf-8", headers: { ...fresh, ...policy } })
  indexes.set(key, made)
  if (indexes.size > maxIndexes) indexes.delete(indexes.keys().next().value!)
  return made
}

const notBuilt = (mount: string) =>
  HttpServerResponse.text(
    `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>wac</title></head>
<body>
<main>
<h1>The dashboard is not built</h1>
<p>The service is running. <code>npm start</code> builds its pages, and so does
<code>npm run build --workspace @wac/dashboard</code>. A program that is bundled finds them if its bundler leaves
<code>wac</code> out.</p>
<p><a href="${Page.quoted(mount)}/docs">API documentation</a></p>
</main>
</body>
</html>
`,
    { status: 503, contentType: "text/html; charset=utf-8", headers: policy }
  )

/** The part of the request's path below the dashboard's. */
const within = (url: string): string => {
  const [path = ""] = url.split("?")
  return path.slice(rootPath.length)
}

/** Responds as if there were no such route. */
const nowhere = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.die(new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) }))

/** Whether the path belongs to a workspace's portal, even if the workspace does not exist. */
const isOfPortal = (url: string): boolean => {
  const [, , workspace = ""] = url.split(/[/?]/)
  return Option.isSome(Id.parse(Id.WorkspaceId, workspace))
}

/**
 * `/dashboard` and every path below it, the portal, and `/setup`, which redirects with the fragment that browsers keep.
 */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function*() {
    if (!(yield* IsServed)) return
    const { isDone } = yield* Setup.Setup
    const setUp = isDone.pipe(
      Effect.map((isSetUp) => isSetUp ? "yes" : "no"),
      Effect.catch(() => Effect.succeed(undefined))
    )
    const missing = Capabilities.missingIn((yield* Provider.Provider).capabilities)
    const { hasAccounts } = yield* Authenticator.Authenticator
    const lacks = [
      ...missing,
      ...(yield* Mailer.Mailer) === undefined ? ["mail"] : [],
      ...hasAccounts ? [] : ["accounts"]
    ].join(" ")
    const lacking = lacks === "" ? {} : { lacks }
    const origins = yield* PortalOrigins
    const ancestors = origins.length === 0 ? undefined : origins.join(" ")
    const portalPolicy = policyFor(ancestors ?? noFrame)
    const about = { portal: "yes", "portal-origins": ancestors }
    const serve = Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const mount = yield* MountPath
      const found = yield* Effect.promise(built)
      if (found === undefined) return notBuilt(mount)
      const path = within(request.url)
      const file = found.files.get(path)
      if (file !== undefined) return yield* file.respond(request)
      if (path.startsWith("/assets/")) {
        return yield* nowhere(request)
      }
      return yield* indexFile(found.index, mount, { ...lacking, "set-up": yield* setUp }, policy).respond(request)
    })
    const servePortal = Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const mount = yield* MountPath
      if (!isOfPortal(request.url)) return yield* nowhere(request)
      const found = yield* Effect.promise(built)
      if (found === undefined) return notBuilt(mount)
      return yield* indexFile(found.index, mount, about, portalPolicy).respond(request)
    })
    // the router also matches the path without anything below it
    yield* router.add("GET", `${rootPath}/*`, serve)
    yield* router.add("GET", "/portal/*", servePortal)
    yield* router.add(
      "GET",
      "/setup",
      Effect.map(MountPath, (mount) => HttpServerResponse.redirect(`${mount}${rootPath}/setup`))
    )
  })
)

/** The address of the first page, below the mount path. */
export const home: string = rootPath
