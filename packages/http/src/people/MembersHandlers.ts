/**
 * The handlers of `/internal/members` and `/internal/invitations`: the people of a workspace.
 */
import { Api, Caller } from "@wac/api"
import {
  Authenticator,
  type Errors,
  Factors,
  type Invitation,
  type Member,
  Members,
  Notices,
  RefusedSignIns,
  StoreError,
  Time
} from "@wac/core"
import { Effect, Layer, Option, type Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as PersonalLink from "./PersonalLink.ts"
import * as Proof from "./Proof.ts"
import * as RelyingParty from "./RelyingParty.ts"
import { SessionCookie } from "./SessionCookie.ts"
import * as SignIn from "./SignIn.ts"

/** A member as the dashboard shows them. */
const member = ({ createdAt, email, role, userId }: Member.Member) => ({
  id: userId,
  email,
  role,
  status: "active" as const,
  createdAt: Time.iso(createdAt),
  expiresAt: null,
  invitedBy: null
})

/** An invited person. */
const invited = ({ by, createdAt, email, expiresAt, id, role }: Invitation.Invitation) => ({
  id,
  email,
  role,
  status: "invited" as const,
  createdAt: Time.iso(createdAt),
  expiresAt: Time.iso(expiresAt),
  invitedBy: by?.person ?? null
})

const membersLayer = HandlerGroup.layer(
  Effect.gen(function*() {
    const members = yield* Members.Members
    const authenticator = yield* Authenticator.Authenticator
    const factors = yield* Factors.Factors
    const cookie = yield* SessionCookie
    const linkTo = yield* PersonalLink.make
    return HttpApiBuilder.group(Api, "members", (handlers) =>
      handlers.handleAll({
        list: Effect.fnUntraced(function*() {
          const { workspaceId } = yield* Caller.CurrentSession
          const found = yield* members.list(workspaceId)
          return {
            data: [...found.members.map(member), ...found.invitations.map(invited)],
            hasMore: false,
            nextCursor: null
          }
        }, StoreError.orUnavailable),
        invite: Effect.fnUntraced(function*({ payload }) {
          yield* Authenticator.needAccounts(authenticator)
          const session = yield* Caller.CurrentSession
          const linkOf = yield* linkTo("invitation")
          const { invitation, token } = yield* members.invite(session, payload, linkOf)
          const exchange = yield* Exchange
          exchange.changed = { target: invitation.id, detail: { email: invitation.email, role: invitation.role } }
          return { id: invitation.id, inviteUrl: linkOf(token), expiresAt: Time.iso(invitation.expiresAt) }
        }, StoreError.orUnavailable),
        change: Effect.fnUntraced(function*({ params, payload }) {
          const changed = yield* members.setRole(yield* Caller.CurrentSession, params.id, payload.role)
          const exchange = yield* Exchange
          exchange.changed = { target: changed.userId, detail: { email: changed.email, role: changed.role } }
          return member(changed)
        }, StoreError.orUnavailable),
        remove: Effect.fnUntraced(function*({ params }) {
          yield* members.remove(yield* Caller.CurrentSession, params.id)
        }, StoreError.orUnavailable),
        endSessions: Effect.fnUntraced(function*({ params }) {
          yield* members.endSessions(yield* Caller.CurrentSession, yield* cookie.read, params.id)
        }, StoreError.orUnavailable),
        resetFactor: Effect.fnUntraced(function*({ params }) {
          const { email, userId } = yield* factors.reset(yield* Caller.CurrentSession, params.id)
          const exchange = yield* Exchange
          exchange.changed = { target: userId, detail: { email } }
        }, StoreError.orUnavailable)
      }))
  })
)

const invitationsLayer = HandlerGroup.layer(
  Effect.gen(function*() {
    const members = yield* Members.Members
    const authenticator = yield* Authenticator.Authenticator
    const cookie = yield* SessionCookie
    const notices = yield* Notices.Notices
    const refused = yield* RefusedSignIns.RefusedSignIns
    const factors = yield* Factors.Factors
    const party = yield* RelyingParty.make

    /** Records a refused proof of the account that an invitation is for. A refused token concerns no account. */
    const recordRefusal = Effect.fnUntraced(
      function*(token: Redacted.Redacted, error: Errors.DomainError | StoreError.StoreError) {
        if (error._tag === "StoreError" || error.param === "token") return
        const email = yield* members.invitedEmail(token)
        if (Option.isSome(email)) yield* SignIn.record(email.value, error)
      },
      Effect.catchTag("StoreError", () => Effect.void)
    )

    return HttpApiBuilder.group(Api, "invitations", (handlers) =>
      handlers.handleAll({
        show: Effect.fnUntraced(function*({ payload: { token } }) {
          yield* Authenticator.needAccounts(authenticator)
          const { expiresAt, ...shown } = yield* members.show({ token, address: yield* SignIn.addressOf })
          return { ...shown, expiresAt: Time.iso(expiresAt) }
        }, StoreError.orUnavailable),
        accept: Effect.fnUntraced(
          function*({ payload: { password, token, ...given } }) {
            yield* Authenticator.needAccounts(authenticator)
            const hasFactor = given.code !== undefined || given.credential !== undefined
            const proof = hasFactor ? yield* Proof.ofFactor(given, party) : undefined
            const opening = yield* SignIn.opening
            const session = yield* authenticator.session({ token: opening.current, headers: {} })
            const { provenBy, ...joined } = yield* members.accept({
              token,
              password,
              factor: proof && ((person) => factors.prove(person, proof, opening)),
              session: Option.getOrUndefined(session),
              address: opening.address
            }).pipe(
              Effect.tapError((error) => recordRefusal(token, error)),
              Effect.provideService(RefusedSignIns.RefusedSignIns, refused)
            )
            const { email, role, userId, workspaceId } = joined
            const exchange = yield* Exchange
            exchange.actors = [joined]
            // the person is a member even if no session begins
            exchange.changed = exchange.changedAnyway = { detail: { email, role } }
            const opened = yield* authenticator.open(userId, {
              ...opening,
              workspaceId,
              ...(provenBy._tag === "Session" ? { isContinuing: true } : { passwordHash: provenBy.passwordHash })
            })
            // a new person has no device yet, and a session was noticed when it began
            if (provenBy._tag === "Password") yield* SignIn.noticed(notices, opened)
            return yield* SignIn.signedIn(opened)
          },
          Effect.provideService(SessionCookie, cookie),
          StoreError.orUnavailable
        )
      }))
  })
)

export const layer = Layer.merge(membersLayer, invitationsLayer)
