/**
 * What a request that signs somebody in brings, and what its response carries.
 */
import type { Authenticator, Session } from "@wac/core"
import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { Exchange } from "../Exchange.ts"
import { SessionCookie } from "./SessionCookie.ts"

/** The client's address. */
export const addressOf = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ remoteAddress }) => Option.getOrElse(remoteAddress, () => "unknown")
)

/** Where a session is opened, and the one that it takes the place of. */
export const opening = Effect.gen(function*() {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const cookie = yield* SessionCookie
  return { address: yield* addressOf, agent: headers["user-agent"], current: yield* cookie.read }
})

/** A session as the dashboard shows it. */
export const shown = ({ email, role, userId, workspaceId, workspaceName }: Session.Session) => ({
  userId,
  email,
  role,
  workspaceId,
  workspaceName
})

/** Has the answer carry the cookies of a session that was opened just now. */
export const signedIn = Effect.fnUntraced(function*({ device, session, token }: Authenticator.SignedIn) {
  const cookie = yield* SessionCookie
  const exchange = yield* Exchange
  exchange.actors = [session]
  yield* cookie.set(token)
  yield* cookie.setDevice(device)
  return shown(session)
})
