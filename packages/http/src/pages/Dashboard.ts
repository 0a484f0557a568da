/**
 * The dashboard at `/dashboard`: static files, which the build of `apps/dashboard` puts into this package's
 * `dist/dashboard`. Whatever is below it and is no file is a page of the dashboard, whose script shows it.
 */
import { Setup } from "@wac/core"
import { Context, Effect } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { MountPath } from "../MountPath.ts"
import { version } from "../Version.ts"
import * as StaticFile from "./StaticFile.ts"

/** Whether the pages are served. A host that embeds us asks for them; the standalone server always has them. */
export const IsServed = Context.Reference<boolean>("@wac/http/pages/Dashboard/IsServed", { defaultValue: () => false })

const rootPath = "/dashboard"

/** Addresses of the dashboard, and those that lead to it: the first page, and the one that the set-up link names. */
export const paths = [rootPath, `${rootPath}/*`, "/setup"] as const

/** Names of assets hold a hash of their content. */
const forEver = { "cache-control": "public, max-age=31536000, immutable" }

/** Asked for each time; who has the present one gets a 304. */
const fresh = { "cache-control": "no-cache" }

/** Only scripts and styles from here run, and no text becomes markup or script: nothing may turn a string into either. */
const policy = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join("; ")
}

const contentTypes: { readonly [ending: string]: string } = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml"
}

interface Built {
  /** As built: its addresses begin with `./`. */
  readonly index: string
  /** By the path below `/dashboard`. */
  readonly files: ReadonlyMap<string, StaticFile.StaticFile>
}

/** Reads all files, so that a later build does not take away what the page of this one still asks for. */
const read = async (): Promise<Built> => {
  // from `src/pages` as well as from `dist/pages`; fails where a host has bundled us into a file of its own
  const directory = fileURLToPath(new URL("../../dist/dashboard/", import.meta.url))
  const files = new Map<string, StaticFile.StaticFile>()
  for (const name of await readdir(directory, { recursive: true })) {
    const contentType = contentTypes[name.split(".").at(-1)!]
    if (contentType === undefined) continue
    files.set(
      `/${name.replaceAll("\\", "/")}`,
      StaticFile.make({
        text: await readFile(join(directory, name), "utf8"),
        contentType,
        headers: name.startsWith("assets") ? forEver : fresh
      })
    )
  }
  return { index: await readFile(join(directory, "index.html"), "utf8"), files }
}

let reading: Promise<Built | undefined> | undefined

/** The files, read once; nothing before they are built. */
const built = (): Promise<Built | undefined> => {
  reading ??= read().catch(() => {
    reading = undefined
    return undefined
  })
  return reading
}

/** Text in an attribute between double quotes. Pure. */
const quoted = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("\"", "&quot;").replaceAll("<", "&lt;")

/** The page for where it is mounted, with what its script needs to know before anybody is signed in. Pure. */
const indexFor = (index: string, mount: string, isSetUp: boolean | undefined): string => {
  const meta = { root: `${mount}/`, version, "set-up": isSetUp === undefined ? undefined : isSetUp ? "yes" : "no" }
  const elements = Object.entries(meta).flatMap(([name, content]) =>
    content === undefined ? [] : [`\n<meta name="wac-${name}" content="${quoted(content)}">`]
  )
  return index.replaceAll("=\"./", () => `="${quoted(mount)}${rootPath}/`).replace(
    "<head>",
    () => `<head>${elements.join("")}`
  )
}

/** An application mounts the routes in one place, or a few. Where a part of the path varies, the oldest are forgotten. */
const maxIndexes = 32

const indexes = new Map<string, StaticFile.StaticFile>()

const indexFile = (index: string, mount: string, isSetUp: boolean | undefined): StaticFile.StaticFile => {
  const text = indexFor(index, mount, isSetUp)
  const before = indexes.get(text)
  if (before !== undefined) return before
  const made = StaticFile.make({ text, contentType: "text/html; charset=utf-8", headers: { ...fresh, ...policy } })
  indexes.set(text, made)
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
<code>npm run build --workspace @wac/dashboard</code>.</p>
<p><a href="${quoted(mount)}/docs">API documentation</a></p>
</main>
</body>
</html>
`,
    { status: 503, contentType: "text/html; charset=utf-8", headers: policy }
  )

/** The part of the request's path that is below the dashboard's. */
const within = (url: string): string => {
  const [path = ""] = url.split("?")
  return path.slice(rootPath.length)
}

/** `/dashboard` and whatever is below it, and `/setup`, which leads there with the fragment that browsers keep. */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function*() {
    if (!(yield* IsServed)) return
    const { isDone } = yield* Setup.Setup
    const isSetUp = Effect.catch(isDone, () => Effect.void)
    const serve = Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const mount = yield* MountPath
      const found = yield* Effect.promise(built)
      if (found === undefined) return notBuilt(mount)
      const path = within(request.url)
      const file = found.files.get(path)
      if (file !== undefined) return yield* file.respond(request)
      if (path.startsWith("/assets/")) {
        return yield* Effect.die(
          new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })
        )
      }
      return yield* indexFile(found.index, mount, (yield* isSetUp) ?? undefined).respond(request)
    })
    // the router takes the path without anything below it for one of these
    yield* router.add("GET", `${rootPath}/*`, serve)
    yield* router.add(
      "GET",
      "/setup",
      Effect.map(MountPath, (mount) => HttpServerResponse.redirect(`${mount}${rootPath}/setup`))
    )
  })
)

/** The address of the first page, below where the routes are mounted. */
export const home: string = rootPath
