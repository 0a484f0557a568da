/**
 * `GET /status`: how the service is doing, as a page for browsers and as JSON for programs. Open to everybody.
 */
import { ServiceStatus, Time } from "@wac/core"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Page from "./Page.ts"

/** The path of the page. */
export const path = "/status"

const names: { readonly [part in ServiceStatus.Part]: string } = {
  requests: "Requests to the API",
  deliveries: "Deliveries to webhooks",
  inbound: "Messages and reports from the provider"
}

const words: { readonly [condition in ServiceStatus.Condition]: readonly [part: string, whole: string] } = {
  operational: ["Operational", "Everything works"],
  degraded: ["Late", "Something is late"],
  down: ["Down", "Something does not work"]
}

/** How often an open page reloads, in seconds. */
const refresh = 30

const documentOf = ({ checkedAt, parts, status }: ServiceStatus.ServiceStatus): string => {
  const at = Time.iso(checkedAt)
  return Page.document(
    words[status][1],
    `<h1>${words[status][1]}</h1>
<dl>
${
      ServiceStatus.parts.map((part) => `<dt>${names[part]}</dt>\n<dd><strong>${words[parts[part]][0]}</strong></dd>`)
        .join("\n")
    }
</dl>
<p>As of <time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 19)} UTC</time>.</p>`,
    { head: `<meta http-equiv="refresh" content="${refresh}">\n` }
  )
}

const jsonOf = ({ checkedAt, parts, status }: ServiceStatus.ServiceStatus) => ({
  status,
  parts,
  checked_at: Time.iso(checkedAt)
})

export const layer = HttpRouter.use((router) =>
  Effect.gen(function*() {
    const look = yield* ServiceStatus.observer
    yield* router.add(
      "GET",
      path,
      Effect.gen(function*() {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const found = yield* look
        const status = found.status === "down" ? 503 : 200
        const response = /\btext\/html\b/.test(headers["accept"] ?? "")
          ? Page.response(documentOf(found), status)
          : HttpServerResponse.jsonUnsafe(jsonOf(found), { status })
        return HttpServerResponse.setHeader(response, "vary", "accept")
      })
    )
  })
)
