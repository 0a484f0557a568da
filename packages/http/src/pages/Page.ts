/**
 * A plain page of HTML, apart from the dashboard.
 */
import { HttpServerResponse } from "effect/http"
import * as PageHeaders from "./PageHeaders.ts"

/** Escapes text for an attribute between double quotes. Pure. */
export const quoted = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("\"", "&quot;").replaceAll("<", "&lt;")

/** The HTML of a page. `root` is the relative address of `/`; `head` has more elements for the page's `<head>`. */
export const document = (
  title: string,
  body: string,
  { head = "", root = "" }: { readonly root?: string; readonly head?: string } = {}
): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${root}favicon.svg">
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem }
</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`

/** The response with a page. Only the page's own scripts and styles run. */
export const response = (text: string, status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": PageHeaders.policyOf(text) }
  })
