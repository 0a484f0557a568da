/**
 * The cookie of the portal (contract §12), which lives in a frame of another site: browsers keep one for each site that
 * frames us. It counts only on requests whose header names the workspace that the page shows. No other site's page can
 * send that header, and a page whose cookie was replaced by another workspace's shows nothing of that.
 */
import { PortalApi } from "@wac/api"
import { Portal } from "@wac/core"
import { Context, Effect, Layer, Redacted } from "effect"
import { type Cookies, HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"

const name = "__Host-wac_portal"

/** Secure on `http://localhost`, too: browsers count that as such. */
const options = {
  path: "/",
  httpOnly: true,
  secure: true,
  sameSite: "none",
  partitioned: true,
  maxAge: Portal.sessionLifetime
} satisfies Cookies.Cookie["options"]

/** @effect-expect-leaking HttpServerRequest */
export class PortalCookie extends Context.Service<PortalCookie, {
  /** The workspace whose portal the request comes from; nothing for a request of the dashboard. */
  readonly workspace: Effect.Effect<string | undefined, never, HttpServerRequest.HttpServerRequest>
  /** The token that the request brings. */
  readonly read: Effect.Effect<Redacted.Redacted | undefined, never, HttpServerRequest.HttpServerRequest>
  /** Has the answer under way set the cookie. */
  readonly set: (token: Redacted.Redacted) => Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
  /** Has the answer under way take the cookie back. */
  readonly clear: Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
}>()("@wac/http/people/PortalCookie") {
  static readonly layer = Layer.succeed(
    PortalCookie,
    PortalCookie.of({
      workspace: Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => headers[PortalApi.header]),
      read: Effect.map(HttpServerRequest.HttpServerRequest, ({ cookies }) => {
        const value = cookies[name]
        return value === undefined || value === "" ? undefined : Redacted.make(value)
      }),
      set: (token) =>
        HttpEffect.appendPreResponseHandler((_, response) =>
          Effect.orDie(HttpServerResponse.setCookie(response, name, Redacted.value(token), options))
        ),
      clear: HttpEffect.appendPreResponseHandler((_, response) =>
        Effect.orDie(HttpServerResponse.setCookie(response, name, "", { ...options, maxAge: 0 }))
      )
    })
  )
}
