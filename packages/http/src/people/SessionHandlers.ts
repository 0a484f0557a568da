/**
 * The handlers of `/internal/session` (sign-in, the current session, sign-out) and `/internal/setup` (the first owner).
 */
import { Api, Caller } from "@wac/api"
import { Authenticator, Notices, Portals, RefusedSignIns, Setup, StoreError } from "@wac/core"
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"
import { PortalCookie } from "./PortalCookie.ts"
import { SessionCookie } from "./SessionCookie.ts"
import * as SignIn from "./SignIn.ts"

const SignInHandlers = HandlerGroup.layer(
  Effect.gen(function*() {
    const setup = yield* Setup.Setup
    const authenticator = yield* Authenticator.Authenticator
    const cookie = yield* SessionCookie
    const refused = yield* RefusedSignIns.RefusedSignIns
    const notices = yield* Notices.Notices
    return HttpApiBuilder.group(Api, "signIn", (handlers) =>
      handlers.handleAll({
        signIn: Effect.fnUntraced(
          function*({ payload }) {
            const opened = yield* SignIn.recorded(
              payload.email,
              authenticator.signIn({ ...payload, ...yield* SignIn.opening })
            ).pipe(Effect.provideService(RefusedSignIns.RefusedSignIns, refused))
            yield* SignIn.noticed(notices, opened)
            return yield* SignIn.signedIn(opened)
          },
          Effect.provideService(SessionCookie, cookie),
          StoreError.orUnavailable
        ),
        setUp: Effect.fnUntraced(
          function*({ payload: { token, ...owner } }) {
            const opening = yield* SignIn.opening
            const userId = yield* setup.redeem(token, owner, opening.address)
            return yield* SignIn.signedIn(yield* authenticator.open(userId, opening))
          },
          Effect.provideService(SessionCookie, cookie),
          StoreError.orUnavailable
        )
      }))
  })
)

const CurrentSessionHandlers = HandlerGroup.layer(
  Effect.gen(function*() {
    const dashboard = { cookie: yield* SessionCookie, end: (yield* Authenticator.Authenticator).signOut }
    const portal = { cookie: yield* PortalCookie, end: (yield* Portals.Portals).close }
    return HttpApiBuilder.group(Api, "session", (handlers) =>
      handlers.handleAll({
        get: () => Effect.map(Caller.CurrentSession, SignIn.shown),
        signOut: Effect.fnUntraced(function*() {
          const { cookie, end } = (yield* portal.cookie.workspace) === undefined ? dashboard : portal
          const token = yield* cookie.read
          if (token !== undefined) yield* end(token)
          yield* cookie.clear
        }, StoreError.orUnavailable)
      }))
  })
)

export const layer = Layer.merge(SignInHandlers, CurrentSessionHandlers)
