/**
 * The handlers of `/internal/factor/passkeys`, and of the options with which browsers create and use passkeys.
 */
import { Api, Caller } from "@wac/api"
import { Authenticator, type Passkey, Passkeys, StoreError, Time } from "@wac/core"
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as RelyingParty from "./RelyingParty.ts"
import * as SignIn from "./SignIn.ts"

/** A passkey as the dashboard shows it. */
export const shown = ({ createdAt, id, lastUsedAt, name }: Passkey.Passkey) => ({
  id,
  name,
  createdAt: Time.iso(createdAt),
  lastUsedAt: lastUsedAt === null ? null : Time.iso(lastUsedAt)
})

const signInLayer = HandlerGroup.layer(
  Effect.gen(function*() {
    const authenticator = yield* Authenticator.Authenticator
    const relyingParty = yield* RelyingParty.make
    return HttpApiBuilder.group(Api, "signInPasskey", (handlers) =>
      handlers.handleAll({
        request: Effect.fnUntraced(function*({ payload: { challenge } }) {
          const party = yield* relyingParty
          return yield* authenticator.requestPasskey({ challenge, party, address: yield* SignIn.addressOf })
        }, StoreError.orUnavailable)
      }))
  })
)

const ownLayer = HandlerGroup.layer(
  Effect.gen(function*() {
    const passkeys = yield* Passkeys.Passkeys
    const relyingParty = yield* RelyingParty.make
    return HttpApiBuilder.group(Api, "passkeys", (handlers) =>
      handlers.handleAll({
        start: Effect.fnUntraced(function*() {
          return yield* passkeys.start(yield* Caller.CurrentSession, yield* relyingParty)
        }, StoreError.orUnavailable),
        add: Effect.fnUntraced(function*({ payload: { credential, name } }) {
          const { passkey, recoveryCodes } = yield* passkeys.add(yield* Caller.CurrentSession, yield* relyingParty, {
            name,
            registration: credential
          })
          const exchange = yield* Exchange
          exchange.changed = { target: passkey.id, detail: { name } }
          return { passkey: shown(passkey), recoveryCodes }
        }, StoreError.orUnavailable),
        remove: Effect.fnUntraced(function*({ params }) {
          const { isLast, name } = yield* passkeys.remove(yield* Caller.CurrentSession, params.id)
          const exchange = yield* Exchange
          exchange.changed = { detail: { name, ...(isLast ? { secondFactor: "off" } : {}) } }
        }, StoreError.orUnavailable),
        startConfirming: Effect.fnUntraced(function*() {
          return yield* passkeys.startConfirming(yield* Caller.CurrentSession, yield* relyingParty)
        }, StoreError.orUnavailable)
      }))
  })
)

export const layer = Layer.merge(signInLayer, ownLayer)
