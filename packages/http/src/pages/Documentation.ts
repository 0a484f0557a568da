/**
 * `/openapi.json`, what is made from it (`/postman.json`, `/schemas/events.json`), and the page at `/docs` that shows
 * it: prepared once per process. The page and its two assets come from this service, and its policy lets browsers load
 * nothing from other sites.
 */
import { Api, ErrorAddress, EventSchemas, OpenApiChannel, OpenApiDocument, PostmanCollection } from "@wac/api"
import { Capabilities, Provider } from "@wac/core"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { HttpApi, HttpApiSwagger, OpenApi } from "effect/http-api"
import { MountPath } from "../MountPath.ts"
import { PublicUrl } from "../PublicUrl.ts"
import * as StaticFile from "./StaticFile.ts"

const pagePath = "/docs"
const scriptPath = "/docs/reference.js"
const stylePath = "/docs/reference.css"
const documentPath = "/openapi.json"

/** Every address of the documentation except the page of errors. */
export const paths = [
  pagePath,
  scriptPath,
  stylePath,
  documentPath,
  PostmanCollection.path,
  EventSchemas.path
] as const

/** Clients see a new version of the service within five minutes; until then, revalidation is a 304. */
const briefly = { "cache-control": "public, max-age=300" }

/** The assets change only with a dependency, and every version of them can show every version of the document. */
const forADay = { "cache-control": "public, max-age=86400" }

/** The policy of the page: Swagger UI draws its icons from `data:` URLs, and runs only the code in its file. */
const policy = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; "),
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer"
}

/** Runs `make` at the first use, and never again. */
const once = <A>(make: () => A): () => A => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

/** The OpenAPI document of the routes at the root of a server. */
const document = once(() => OpenApi.fromApi(Api))

const asJson = (value: unknown): StaticFile.StaticFile =>
  StaticFile.make({ text: JSON.stringify(value), contentType: "application/json", headers: briefly })

/** The OpenAPI document, and what is made from it, for a service whose provider's channel has these capabilities. */
const documentOf = (capabilities: Capabilities.Capabilities) => {
  const made = once(() => OpenApiChannel.of(document(), capabilities))
  return {
    /** The document for routes at the root of a server. */
    made,
    /** The document as a file for routes that are mounted at a path: its addresses are relative to the server. */
    mounted: StaticFile.byPlace((mount) => asJson(OpenApiDocument.mountedAt(made(), mount))),
    /** The Postman collection for the service's own absolute address, because clients keep it as a file. */
    collection: StaticFile.byPlace((base) => asJson(PostmanCollection.of(made(), base)))
  }
}

/** Shared, because the services of one process mostly have the same channel. */
const ofWhole = documentOf(Capabilities.all)

/** The documents of a service whose provider's channel has these capabilities; each is made at its first use. */
export const documentFor = (capabilities: Capabilities.Capabilities) =>
  Capabilities.missingIn(capabilities).length === 0 ? ofWhole : documentOf(capabilities)

const schemasBelow = StaticFile.byPlace((base) => asJson(EventSchemas.of(document(), base)))

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

type Operations = { readonly [method: string]: OpenApi.OpenAPISpecOperation }

/**
 * The page's content until the script has loaded, or without scripts. Addresses are relative, because of the mount
 * path.
 */
const page = once(() => {
  const { info, paths } = document()
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Operations).map(([method, { summary = "" }]) =>
      `<li><code>${method.toUpperCase()} ${escaped(path)}</code> ${escaped(summary)}</li>`
    )
  )
  return StaticFile.make({
    text: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(info.title)}: API reference</title>
<link rel="stylesheet" href="docs/reference.css">
<script src="docs/reference.js" defer></script>
</head>
<body>
<div id="reference">
<h1>${escaped(info.title)}: API reference</h1>
<p>The whole of it is in <a href="openapi.json">openapi.json</a>, and for Postman in
<a href="postman.json">postman.json</a>; <a href="schemas/events.json">schemas/events.json</a> has the events as JSON Schema; <a href="docs/errors">every error</a> has a page.</p>
<ul>
${operations.join("\n")}
</ul>
</div>
</body>
</html>
`,
    contentType: "text/html; charset=utf-8",
    headers: { ...briefly, ...policy }
  })
})

/** Shows this service's document. No other site validates it, and no query parameter can name a different document. */
const start = `
document.addEventListener("DOMContentLoaded", () => {
  window.SwaggerUIBundle({
    url: "openapi.json",
    domNode: document.getElementById("reference"),
    validatorUrl: null,
    deepLinking: true,
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true
  })
})
`

const style = `
body { margin: 0 auto; max-width: 1460px; padding: 0 20px; font-family: system-ui, sans-serif }
`

/** The text between two marks, the second of which follows the first. */
const between = (text: string, start: number, end: number): string => {
  if (start < 0 || end < start) throw new Error("the page of effect's HttpApiSwagger has another form than is known")
  return text.slice(start, end)
}

const assets = once(async () => {
  // `effect` includes Swagger UI only as a whole page with a document: here for an empty API
  const { dispose, handler } = HttpRouter.toWebHandler(HttpApiSwagger.layer(HttpApi.make("nothing"), { path: "/" }), {
    disableLogger: true
  })
  try {
    const html = await (await handler(new Request("http://localhost/"))).text()
    const css = between(html, html.indexOf("<style>") + "<style>".length, html.indexOf("</style>"))
    const script = html.indexOf("<script>", html.indexOf("</script>")) + "<script>".length
    const javascript = between(html, script, html.lastIndexOf("window.onload = "))
    return {
      script: StaticFile.make({
        text: javascript + start,
        contentType: "text/javascript; charset=utf-8",
        headers: forADay
      }),
      style: StaticFile.make({ text: css + style, contentType: "text/css; charset=utf-8", headers: forADay })
    }
  } finally {
    await dispose()
  }
})

/** Makes the document ahead of time, which takes tenths of a second, so that its first request delays no others. */
export const prepare = Effect.sync(() => void page())

const serve = (path: `/${string}`, file: Effect.Effect<StaticFile.StaticFile>) =>
  HttpRouter.add(
    "GET",
    path,
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.flatMap(file, ({ respond }) => respond(request)))
  )

const ofService = Effect.fnUntraced(function*() {
  const publicUrl = yield* PublicUrl
  const { capabilities } = yield* Provider.Provider
  const { collection, mounted } = documentFor(capabilities)
  const base = Effect.map(MountPath, (mount) => ErrorAddress.baseOf(publicUrl, mount))
  return Layer.mergeAll(
    serve(documentPath, Effect.map(MountPath, mounted)),
    serve(PostmanCollection.path, Effect.map(base, collection)),
    serve(EventSchemas.path, Effect.map(base, schemasBelow))
  )
})

export const layer = Layer.mergeAll(
  serve(pagePath, Effect.sync(page)),
  serve(scriptPath, Effect.map(Effect.promise(assets), ({ script }) => script)),
  serve(stylePath, Effect.map(Effect.promise(assets), ({ style }) => style)),
  Layer.unwrap(ofService())
)
