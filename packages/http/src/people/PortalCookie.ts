/**
 * The cookie of the portal (contract §12), which runs in a frame of another site: browsers keep one cookie for each
 * framing site. It is valid only on requests whose header names the workspace that the page shows. Pages of other sites
 * cannot send that header, and a page whose cookie was replaced by another workspace's shows nothing of that workspace.
 */
import { PortalApi } from "@wac/api"
import { Portal } from "@wac/core"
import { Context, Effect, Layer, Redacted } from "effect"
import { type Cookies, HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"

const name = "__Host-wac_portal"

/** `Secure` even on `http://localhost`, which browsers treat as secure. */
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
  /** The workspace of the portal that sent the request; `undefined` for a request of the dashboard. */
  readonly workspace: Effect.Effect<string | undefined, never, HttpServerRequest.HttpServerRequest>
  /** The token in the request's cookie. */
  readonly read: Effect.Effect<Redacted.Redacted | undefined, never, HttpServerRequest.HttpServerRequest>
  /** Makes the current response set the cookie. */
  readonly set: (token: Redacted.Redacted) => Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
  /** Makes the current response delete the cookie. */
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
