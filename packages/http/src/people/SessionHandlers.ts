/**
 * `/internal/session` and `/internal/setup`.
 */
import { Api, Caller } from "@wac/api"
import { Authenticator, Setup, StoreError } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"
import { SessionCookie } from "./SessionCookie.ts"

const addressOf = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ remoteAddress }) => Option.getOrElse(remoteAddress, () => "unknown")
)

/** Has the answer carry the cookies of a session that was opened just now. */
const signedIn = Effect.fnUntraced(function*({ device, session, token }: Authenticator.SignedIn) {
  const cookie = yield* SessionCookie
  yield* cookie.set(token)
  yield* cookie.setDevice(device)
  return session
})

const SignInHandlers = HandlerGroup.layer(
  Effect.gen(function*() {
    const setup = yield* Setup.Setup
    const authenticator = yield* Authenticator.Authenticator
    const cookie = yield* SessionCookie
    return HttpApiBuilder.group(Api, "signIn", (handlers) =>
      handlers.handleAll({
        signIn: Effect.fnUntraced(
          function*({ payload }) {
            const opened = yield* authenticator.signIn({
              ...payload,
              address: yield* addressOf,
              device: yield* cookie.device,
              current: yield* cookie.read
            })
            return yield* signedIn(opened)
          },
          Effect.provideService(SessionCookie, cookie),
          StoreError.orUnavailable
        ),
        setUp: Effect.fnUntraced(
          function*({ payload: { token, ...owner } }) {
            const userId = yield* setup.redeem(token, owner, yield* addressOf)
            return yield* signedIn(yield* authenticator.open(userId, yield* cookie.read))
          },
          Effect.provideService(SessionCookie, cookie),
          StoreError.orUnavailable
        )
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
