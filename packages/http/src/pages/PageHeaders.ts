/**
 * Headers that protect pages against framing, tracking, foreign scripts and windows, and that keep people on `https`.
 */
import type { HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"

type Headers = { readonly [name: string]: string }

/** Headers of every response: other origins cannot embed it. */
const ofAll: Headers = { "cross-origin-resource-policy": "same-origin" }

/** Features of browsers that no page uses. */
const unused = ["camera", "display-capture", "geolocation", "microphone", "midi", "payment", "serial", "usb"]

/** Headers of every page. Browsers that know `frame-ancestors` ignore `X-Frame-Options`. */
const always: Headers = {
  ...ofAll,
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": unused.map((feature) => `${feature}=()`).join(", ")
}

/** The policy of pages without their own. */
const standardPolicy = "frame-ancestors 'none'; base-uri 'none'; object-src 'none'"

/** For a year after a visit over `https`, the browser no longer uses plain http. */
const strictTransport = "max-age=31536000"

/** The headers of every response of a service at this address. */
export const ofAddress = ({ protocol }: URL): Headers =>
  protocol === "https:" ? { "strict-transport-security": strictTransport } : {}

const isPage = ({ headers }: HttpServerResponse.HttpServerResponse): boolean =>
  headers["content-type"]?.startsWith("text/html") === true

/** The headers that protect a response; those that a page brings itself stay. */
export const of = (response: HttpServerResponse.HttpServerResponse): Headers =>
  isPage(response) ? { ...always, "content-security-policy": standardPolicy, ...response.headers } : ofAll

const hashesIn = (html: string, element: "script" | "style"): string =>
  [...html.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, "g"))]
    .map(([, text]) => `'sha256-${createHash("sha256").update(text!).digest("base64")}'`).join(" ") || "'none'"

/** The policy of a page with inline scripts and styles: only these run. */
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
