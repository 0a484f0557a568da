/**
 * What keeps pages for people from being framed, followed or given strange scripts; and people on `https`.
 */
import type { HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"

type Headers = { readonly [name: string]: string }

const none: Headers = {}

/** Every page has these. Browsers that know `frame-ancestors` pass over the older header. */
const always: Headers = { "x-frame-options": "DENY", "referrer-policy": "no-referrer" }

/** For pages that carry no policy of their own. */
const standardPolicy = "frame-ancestors 'none'; base-uri 'none'; object-src 'none'"

/** A year: whoever has been here once over `https` does not come by plain http again. */
const strictTransport = "max-age=31536000"

/** What answers of a service at this address say of it. */
export const ofAddress = ({ protocol }: URL): Headers =>
  protocol === "https:" ? { "strict-transport-security": strictTransport } : {}

const isPage = ({ headers }: HttpServerResponse.HttpServerResponse): boolean =>
  headers["content-type"]?.startsWith("text/html") === true

/** The headers of an answer that is a page; what it says itself stays. */
export const of = (response: HttpServerResponse.HttpServerResponse): Headers =>
  isPage(response) ? { ...always, "content-security-policy": standardPolicy, ...response.headers } : none

const hashesIn = (html: string, element: "script" | "style"): string =>
  [...html.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, "g"))]
    .map(([, text]) => `'sha256-${createHash("sha256").update(text!).digest("base64")}'`).join(" ") || "'none'"

/** The policy of a page that brings its scripts and styles along: they run, and no others. */
export const policyOf = (html: string): string =>
  [
    "default-src 'none'",
    `script-src ${hashesIn(html, "script")}`,
    `style-src ${hashesIn(html, "style")}`,
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
