/**
 * What the routes that sign people in share: the client's data, the record of refusals, the notice of a new device, and
 * the response with its cookies.
 */
import { type Authenticator, type Notices, RefusedSignIns, type Session } from "@wac/core"
import { Effect, Option, Predicate } from "effect"
import { HttpServerRequest } from "effect/http"
import { Exchange } from "../Exchange.ts"
import { SessionCookie } from "./SessionCookie.ts"

/** The client's address. */
export const addressOf = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ remoteAddress }) => Option.getOrElse(remoteAddress, () => "unknown")
)

/** The client's data for a new session, with the tokens of its current session and its device. */
export const opening = Effect.gen(function*() {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const cookie = yield* SessionCookie
  return {
    address: yield* addressOf,
    agent: headers["user-agent"],
    current: yield* cookie.read,
    device: yield* cookie.device
  }
})

const isRefusal = (error: unknown): error is RefusedSignIns.Refused["error"] =>
  refusals.some((tag) => Predicate.isTagged(error, tag))

const refusals = ["Unauthorized", "Forbidden", "RateLimited"]

/**
 * Records the error of a sign-in if it is a refusal. A demand for the second factor is no refusal. `account` is what the
 * sign-in names: an e-mail address, or a known account in each of its workspaces; `undefined` if it names neither.
 */
export const record = Effect.fnUntraced(function*(account: RefusedSignIns.Refused["account"], error: unknown) {
  if (!isRefusal(error) || error.reason === "second_factor_required") return
  const { ownId } = yield* Exchange
  const address = yield* addressOf
  const refused = yield* RefusedSignIns.RefusedSignIns
  yield* refused.record({ error, account, address, requestId: ownId })
})

/** Makes a sign-in be recorded if it is refused, as {@link record} says. */
export const recorded = <A, E, R>(account: RefusedSignIns.Refused["account"], signIn: Effect.Effect<A, E, R>) =>
  Effect.tapError(signIn, (error) => record(account, error))

/** A session as the dashboard shows it. */
export const shown = ({ email, role, userId, workspaceId, workspaceName }: Session.Session) => ({
  userId,
  email,
  role,
  workspaceId,
  workspaceName
})

/** Notifies the person if they signed in on a new device. */
export const noticed = Effect.fnUntraced(function*(
  notices: Notices.Notices["Service"],
  { isNewDevice, session }: Authenticator.SignedIn
) {
  if (isNewDevice) yield* notices.ofDevice(session, yield* addressOf)
})

/** Makes the response carry the cookies of a new session. */
export const signedIn = Effect.fnUntraced(function*({ device, session, token }: Authenticator.SignedIn) {
  const cookie = yield* SessionCookie
  const exchange = yield* Exchange
  exchange.actors = [session]
  yield* cookie.set(token)
  yield* cookie.setDevice(device)
  return shown(session)
})
