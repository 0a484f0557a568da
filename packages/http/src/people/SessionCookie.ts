/**
 * The cookies of a dashboard session and of its device (contract §5).
 */
import { DeviceCookie, IssuerState, Session } from "@wac/core"
import { Context, Effect, Layer, Redacted } from "effect"
import { type Cookies, HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PublicUrl } from "../PublicUrl.ts"

const plainName = "wac_session"
const plainDeviceName = "wac_device"
const localHosts = new Set(["localhost", "127.0.0.1"])

/** `__Host-` cookies require https, which a local server usually does not have. */
const isLocal = (url: URL): boolean => url.protocol === "http:" && localHosts.has(url.hostname)

/** @effect-expect-leaking HttpServerRequest */
export class SessionCookie extends Context.Service<SessionCookie, {
  /** The token in the request's cookie. */
  readonly read: Effect.Effect<Redacted.Redacted | undefined, never, HttpServerRequest.HttpServerRequest>
  /** Makes the current response set the cookie. */
  readonly set: (token: Redacted.Redacted) => Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
  /** Makes the current response delete the cookie. */
  readonly clear: Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
  /** The state of a sign-in at the issuer, from the request's cookie. */
  readonly kept: Effect.Effect<string | undefined, never, HttpServerRequest.HttpServerRequest>
  /** Makes the current response store a state while the person is at the issuer; an empty string deletes it. */
  readonly keep: (value: string) => Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
  /** The request's device cookie, which outlives sessions. */
  readonly device: Effect.Effect<Redacted.Redacted | undefined, never, HttpServerRequest.HttpServerRequest>
  /** Makes the current response set the device cookie. */
  readonly setDevice: (value: Redacted.Redacted) => Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
}>()("@wac/http/people/SessionCookie") {
  static readonly layer = Layer.effect(
    SessionCookie,
    Effect.gen(function*() {
      const local = isLocal(yield* PublicUrl)
      const nameOf = (plain: string) => local ? plain : `__Host-${plain}`
      const name = nameOf(plainName)
      const deviceName = nameOf(plainDeviceName)
      const options = {
        path: "/",
        httpOnly: true,
        sameSite: "lax",
        secure: !local,
        maxAge: Session.absoluteTimeout
      } satisfies Cookies.Cookie["options"]
      // not Strict: whoever comes back from an issuer was led here by another site
      const deviceOptions = { ...options, maxAge: DeviceCookie.lifetime }
      const read = (name: string) =>
        Effect.map(HttpServerRequest.HttpServerRequest, ({ cookies }) => {
          const value = cookies[name]
          return value === undefined || value === "" ? undefined : Redacted.make(value)
        })
      const keptName = nameOf("wac_oidc")
      return SessionCookie.of({
        kept: Effect.map(read(keptName), (value) => value && Redacted.value(value)),
        keep: (value) =>
          HttpEffect.appendPreResponseHandler((_, response) =>
            Effect.orDie(
              HttpServerResponse.setCookie(response, keptName, value, {
                ...options,
                maxAge: value === "" ? 0 : IssuerState.lifetime
              })
            )
          ),
        read: read(name),
        device: read(deviceName),
        setDevice: (value) =>
          HttpEffect.appendPreResponseHandler((_, response) =>
            Effect.orDie(HttpServerResponse.setCookie(response, deviceName, Redacted.value(value), deviceOptions))
          ),
        set: (token) =>
          HttpEffect.appendPreResponseHandler((_, response) =>
            Effect.orDie(HttpServerResponse.setCookie(response, name, Redacted.value(token), options))
          ),
        clear: HttpEffect.appendPreResponseHandler((_, response) =>
          Effect.orDie(HttpServerResponse.setCookie(response, name, "", { ...options, maxAge: 0 }))
        )
      })
    })
  )
}
