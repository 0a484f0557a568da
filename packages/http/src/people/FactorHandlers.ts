/**
 * The handlers of `/internal/factor` (a person's own second factor) and `/internal/session/factor` (the second step of
 * a sign-in).
 */
import { Api, Caller } from "@wac/api"
import { Authenticator, Factors, Notices, Passkeys, RefusedSignIns, StoreError } from "@wac/core"
import { Effect, Layer, Option, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as PasskeyHandlers from "./PasskeyHandlers.ts"
import * as Proof from "./Proof.ts"
import * as RelyingParty from "./RelyingParty.ts"
import { SessionCookie } from "./SessionCookie.ts"
import * as SignIn from "./SignIn.ts"

const SignInFactorHandlers = HandlerGroup.layer(
  Effect.gen(function*() {
    const authenticator = yield* Authenticator.Authenticator
    const cookie = yield* SessionCookie
    const party = yield* RelyingParty.make
    const refused = yield* RefusedSignIns.RefusedSignIns
    const notices = yield* Notices.Notices
    return HttpApiBuilder.group(Api, "signInFactor", (handlers) =>
      handlers.handleAll({
        end: Effect.fnUntraced(
          function*({ payload: { challenge, ...given } }) {
            const email = Option.getOrUndefined(yield* authenticator.challengedEmail(challenge))
            const proof = yield* Proof.ofFactor(given, party)
            const opened = yield* SignIn.recorded(
              email,
              authenticator.completeSignIn({ challenge, proof, ...yield* SignIn.opening })
            ).pipe(Effect.provideService(RefusedSignIns.RefusedSignIns, refused))
            yield* SignIn.noticed(notices, opened)
            return yield* SignIn.signedIn(opened)
          },
          Effect.provideService(SessionCookie, cookie),
          StoreError.orUnavailable
        )
      }))
  })
)

const OwnFactorHandlers = HandlerGroup.layer(
  Effect.gen(function*() {
    const factors = yield* Factors.Factors
    const passkeys = yield* Passkeys.Passkeys
    return HttpApiBuilder.group(Api, "factor", (handlers) =>
      handlers.handleAll({
        get: Effect.fnUntraced(function*() {
          const session = yield* Caller.CurrentSession
          const held = yield* passkeys.list(session)
          return { ...yield* factors.status(session), passkeys: held.map(PasskeyHandlers.shown) }
        }, StoreError.orUnavailable),
        start: Effect.fnUntraced(function*() {
          const { secret, uri } = yield* factors.start(yield* Caller.CurrentSession)
          return { secret: Redacted.value(secret), uri: Redacted.value(uri) }
        }, StoreError.orUnavailable),
        confirm: Effect.fnUntraced(function*({ payload }) {
          return { recoveryCodes: yield* factors.confirm(yield* Caller.CurrentSession, payload.code) }
        }, StoreError.orUnavailable),
        renewRecoveryCodes: Effect.fnUntraced(function*() {
          return { recoveryCodes: yield* factors.renewRecoveryCodes(yield* Caller.CurrentSession) }
        }, StoreError.orUnavailable),
        remove: Effect.fnUntraced(function*() {
          yield* factors.remove(yield* Caller.CurrentSession)
        }, StoreError.orUnavailable)
      }))
  })
)

export const layer = Layer.merge(SignInFactorHandlers, OwnFactorHandlers)
