/**
 * `/internal/session` and `/internal/setup`.
 */
import { Api, Caller } from "@wac/api"
import { Authenticator, Setup, StoreError } from "@wac/core"
import { Effect, Layer, Option, type Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "./HandlerGroup.ts"
import { SessionCookie } from "./SessionCookie.ts"

/** Opens a session and has the answer carry its cookie. */
const signIn = Effect.fnUntraced(function*(credentials: {
  readonly email: string
  readonly password: Redacted.Redacted
}) {
  const authenticator = yield* Authenticator.Authenticator
  const cookie = yield* SessionCookie
  const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
  const { session, token } = yield* authenticator.signIn({
    ...credentials,
    address: Option.getOrElse(remoteAddress, () => "unknown")
  })
  yield* cookie.set(token)
  return session
})

const SignInHandlers = HandlerGroup.layer(
  Effect.gen(function*() {
    const setup = yield* Setup.Setup
    const services = yield* Effect.context<Authenticator.Authenticator | SessionCookie>()
    return HttpApiBuilder.group(Api, "signIn", (handlers) =>
      handlers.handleAll({
        signIn: ({ payload }) => signIn(payload).pipe(Effect.provideContext(services), StoreError.orUnavailable),
        setUp: Effect.fnUntraced(function*({ payload: { token, ...owner } }) {
          yield* setup.redeem(token, owner)
          return yield* Effect.provideContext(signIn(owner), services)
        }, StoreError.orUnavailable)
      }))
  })
)

const CurrentSessionHandlers = HandlerGroup.layer(
  Effect.gen(function*() {
    const authenticator = yield* Authenticator.Authenticator
    const cookie = yield* SessionCookie
    return HttpApiBuilder.group(Api, "session", (handlers) =>
      handlers.handleAll({
        get: () => Effect.map(Caller.CurrentSession, (session) => session),
        signOut: Effect.fnUntraced(function*() {
          const token = yield* cookie.read
          if (token !== undefined) yield* authenticator.signOut(token)
          yield* cookie.clear
        }, StoreError.orUnavailable)
      }))
  })
)

export const layer = Layer.merge(SignInHandlers, CurrentSessionHandlers)
