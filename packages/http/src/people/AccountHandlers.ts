/**
 * The handlers of `/internal/workspaces`, `/internal/sessions` and `/internal/password`: a person's own account.
 */
import { Api, Caller } from "@wac/api"
import { Accounts, StoreError, Time } from "@wac/core"
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as PersonalLink from "./PersonalLink.ts"
import * as Proof from "./Proof.ts"
import * as RelyingParty from "./RelyingParty.ts"
import { SessionCookie } from "./SessionCookie.ts"
import * as SignIn from "./SignIn.ts"

const whole = <A>(data: ReadonlyArray<A>) => ({ data, hasMore: false, nextCursor: null })

const accountLayer = HandlerGroup.layer(
  Effect.gen(function*() {
    const accounts = yield* Accounts.Accounts
    const cookie = yield* SessionCookie
    const party = yield* RelyingParty.make
    return HttpApiBuilder.group(Api, "account", (handlers) =>
      handlers.handleAll({
        workspaces: Effect.fnUntraced(function*() {
          const session = yield* Caller.CurrentSession
          const memberships = yield* accounts.workspaces(session)
          if (memberships.length === 0) {
            const { role, workspaceId: id, workspaceName: name } = session
            return whole([{ id, name, role, isCurrent: true }])
          }
          return whole(memberships.map(({ role, workspace: { id, name } }) => ({
            id,
            name,
            role,
            isCurrent: id === session.workspaceId
          })))
        }, StoreError.orUnavailable),
        switchWorkspace: Effect.fnUntraced(function*({ payload }) {
          const session = yield* Caller.CurrentSession
          return SignIn.shown(yield* accounts.moveTo(session, yield* cookie.read, payload.workspaceId))
        }, StoreError.orUnavailable),
        confirmSession: Effect.fnUntraced(function*({ payload }) {
          const token = yield* accounts.confirm(
            yield* Caller.CurrentSession,
            yield* cookie.read,
            yield* Proof.ofPresence(payload, party)
          )
          yield* cookie.set(token)
        }, StoreError.orUnavailable),
        sessions: Effect.fnUntraced(function*() {
          const session = yield* Caller.CurrentSession
          return whole((yield* accounts.sessions(session)).map((one) => ({
            id: one.id,
            createdAt: Time.iso(one.createdAt),
            expiresAt: Time.iso(one.absoluteUntil),
            address: one.address,
            agent: one.agent,
            isCurrent: one.id === session.id
          })))
        }, StoreError.orUnavailable),
        endSession: Effect.fnUntraced(function*({ params }) {
          yield* accounts.endSession(yield* Caller.CurrentSession, params.id)
        }, StoreError.orUnavailable),
        endOtherSessions: Effect.fnUntraced(function*() {
          yield* accounts.endOtherSessions(yield* Caller.CurrentSession, yield* cookie.read)
        }, StoreError.orUnavailable),
        changePassword: Effect.fnUntraced(function*({ payload }) {
          const { device, token } = yield* accounts.changePassword(
            yield* Caller.CurrentSession,
            yield* cookie.read,
            { current: payload.current, next: payload.new },
            yield* cookie.device
          )
          yield* cookie.set(token)
          yield* cookie.setDevice(device)
        }, StoreError.orUnavailable)
      }))
  })
)

const resetLayer = HandlerGroup.layer(
  Effect.gen(function*() {
    const accounts = yield* Accounts.Accounts
    const cookie = yield* SessionCookie
    const linkTo = yield* PersonalLink.make
    return HttpApiBuilder.group(Api, "passwordReset", (handlers) =>
      handlers.handleAll({
        request: Effect.fnUntraced(function*({ payload }) {
          yield* accounts.requestReset(payload.email, yield* SignIn.addressOf, yield* linkTo("password-reset"))
        }, StoreError.orUnavailable),
        reset: Effect.fnUntraced(function*({ payload }) {
          const { account: { memberships, person }, device } = yield* accounts.reset(payload.token, payload.password, {
            address: yield* SignIn.addressOf,
            device: yield* cookie.device
          })
          yield* cookie.setDevice(device)
          const exchange = yield* Exchange
          exchange.person = person
          exchange.actors = memberships.map(({ workspace }) => ({ ...person, workspaceId: workspace.id }))
        }, StoreError.orUnavailable)
      }))
  })
)

export const layer = Layer.merge(accountLayer, resetLayer)
