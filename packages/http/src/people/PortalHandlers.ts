/**
 * The handler of `/internal/portal`, which opens a portal session with the token of a host's link.
 */
import { Api } from "@wac/api"
import { Portals, StoreError } from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import { PortalCookie } from "./PortalCookie.ts"
import * as SignIn from "./SignIn.ts"

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const portals = yield* Portals.Portals
    const cookie = yield* PortalCookie
    return HttpApiBuilder.group(Api, "portal", (handlers) =>
      handlers.handleAll({
        open: Effect.fnUntraced(function*({ payload }) {
          const { session, token } = yield* portals.open(payload.token, yield* SignIn.addressOf)
          const exchange = yield* Exchange
          exchange.actors = [session]
          exchange.changed = { detail: { role: session.role } }
          yield* cookie.set(token)
          return SignIn.shown(session)
        }, StoreError.orUnavailable)
      }))
  })
)
