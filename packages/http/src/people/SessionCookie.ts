/**
 * The cookies of a dashboard session, and of the device that it was opened on (contract §5).
 */
import { DeviceCookie, Session } from "@wac/core"
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { type Cookies, HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PublicUrl } from "../PublicUrl.ts"

const plainName = "wac_session"
const plainDeviceName = "wac_device"
const localHosts = new Set(["localhost", "127.0.0.1"])

/** `__Host-` cookies need https, which nobody has on their own machine. */
const isLocal = (url: URL): boolean => url.protocol === "http:" && localHosts.has(url.hostname)

/** @effect-expect-leaking HttpServerRequest */
export class SessionCookie extends Context.Service<SessionCookie, {
  /** The token that the request brings. */
  readonly read: Effect.Effect<Redacted.Redacted | undefined, never, HttpServerRequest.HttpServerRequest>
  /** Has the answer under way set the cookie. */
  readonly set: (token: Redacted.Redacted) => Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
  /** Has the answer under way take the cookie back. */
  readonly clear: Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
  /** What the request brings from before its person went to the issuer. */
  readonly kept: Effect.Effect<string | undefined, never, HttpServerRequest.HttpServerRequest>
  /** Has the answer under way keep something while its person is at the issuer; nothing takes it back. */
  readonly keep: (value: string) => Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
  /** The device cookie that the request brings, which outlives sessions. */
  readonly device: Effect.Effect<Redacted.Redacted | undefined, never, HttpServerRequest.HttpServerRequest>
  /** Has the answer under way set the device cookie. */
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
      // only our own pages sign anybody in: no other site's link needs to bring it along
      const deviceOptions = {
        ...options,
        sameSite: "strict",
        maxAge: DeviceCookie.lifetime
      } satisfies Cookies.Cookie["options"]
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
                maxAge: value === "" ? 0 : Duration.minutes(10)
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
