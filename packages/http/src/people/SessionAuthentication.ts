/**
 * Authentication of the dashboard, in this order: session, own pages, role, recent proof of presence, body and
 * Idempotency-Key (specification §5, contract §5).
 */
import { Access, Caller, SessionApi } from "@wac/api"
import { ApiKey, Authenticator, Errors, Issuer, Member, Portals, type Session, StoreError } from "@wac/core"
import { Context, Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import * as AuditTrail from "../audit/AuditTrail.ts"
import * as RequestBody from "../bodies/RequestBody.ts"
import * as KnownCallers from "../connections/KnownCallers.ts"
import { Exchange } from "../Exchange.ts"
import * as IdempotencyHeader from "../messages/IdempotencyHeader.ts"
import * as KeptAnswers from "../requests/KeptAnswers.ts"
import * as CrossSite from "./CrossSite.ts"
import { PortalCookie } from "./PortalCookie.ts"
import { SessionCookie } from "./SessionCookie.ts"

const bringsApiKey = (authorization: string | undefined): boolean =>
  authorization !== undefined && new RegExp(`^Bearer +${ApiKey.tokenPrefix}`, "i").test(authorization)

export const layer = Layer.effect(
  Caller.SessionAuthentication,
  Effect.gen(function*() {
    const authenticator = yield* Authenticator.Authenticator
    const issuer = yield* Issuer.CurrentIssuer
    const cookie = yield* SessionCookie
    const portals = yield* Portals.Portals
    const portalCookie = yield* PortalCookie
    const crossSite = yield* CrossSite.CrossSite
    const readBody = yield* RequestBody.reader
    const audited = yield* AuditTrail.make
    const around = yield* KeptAnswers.make

    /** The session of a workspace's portal. */
    const portalSession = Effect.fnUntraced(function*(workspaceId: string) {
      const token = yield* portalCookie.read
      const found = token === undefined ? Option.none<Session.Session>() : yield* portals.session(token)
      return Option.filter(found, (session) => session.workspaceId === workspaceId)
    })

    const authenticate = Effect.fnUntraced(function*(endpoint: HttpApiEndpoint.Top) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { headers } = request
      const portal = yield* portalCookie.workspace
      const session = bringsApiKey(headers["authorization"])
        ? Option.none()
        : portal !== undefined
        ? yield* portalSession(portal)
        : yield* authenticator.session({ token: yield* cookie.read, headers })
      if (Option.isNone(session)) {
        return yield* new Errors.Unauthorized({
          reason: "missing_session",
          message: "this endpoint requires a dashboard session; an API key is not enough"
        })
      }
      // another tab may have switched the workspace, or signed somebody else in, since the page was loaded
      const page = headers[SessionApi.header]
      if (page !== undefined && page !== SessionApi.pageOf(session.value)) {
        return yield* new Errors.Unauthorized({
          reason: "missing_session",
          message: "the session belongs to a different workspace or person than the page that sent this request"
        })
      }
      KnownCallers.note(request)
      const exchange = yield* Exchange
      exchange.actors = [session.value]
      yield* crossSite.check(endpoint)
      const access = Context.getOrUndefined(endpoint.annotations, Access.Access)
      const forbidden = portal !== undefined && !Context.get(endpoint.annotations, Access.OpenToPortal)
        ? new Errors.Forbidden({ reason: "role_not_allowed", message: "a portal session may not call this endpoint" })
        : access?._tag === "Session"
        ? Member.roleRefusal(session.value.role, access.role)
        : new Errors.Forbidden({ reason: "role_not_allowed", message: "no role may call this endpoint" })
      if (forbidden !== undefined) return yield* forbidden
      if (
        Context.get(endpoint.annotations, Access.NeedsFreshSession) && portal === undefined &&
        !(yield* authenticator.isFresh({ token: yield* cookie.read, headers }))
      ) {
        return yield* new Errors.Forbidden({
          reason: "fresh_session_required",
          message: issuer === undefined
            ? "this requires a sign-in or a confirmed password within the last 10 minutes: confirm your password " +
              "with POST /internal/session/confirm, or sign in again, then repeat the request"
            : "this requires a sign-in within the last 10 minutes: sign in again at " +
              "/internal/oidc/sign-in?fresh=true, then repeat the request"
        })
      }
      const read = yield* readBody(endpoint, request)
      const keyless = IdempotencyHeader.refusal(endpoint, headers)
      if (keyless !== undefined) return yield* keyless
      yield* RequestBody.onlyOnce(read.bytes)
      return { session: session.value, request: read.request }
    })

    return Caller.SessionAuthentication.of({
      session: (httpEffect, { endpoint }) =>
        Effect.flatMap(
          StoreError.orUnavailable(authenticate(endpoint)),
          ({ request, session }) =>
            Effect.updateContext(
              around(
                endpoint,
                { workspaceId: session.workspaceId, caller: KeptAnswers.callerOf(session) },
                request,
                // recorded inside the kept work, because a replayed request changes nothing
                audited(endpoint, httpEffect)
              ),
              (context: Context.Context<never>) =>
                context.pipe(
                  Context.add(Caller.CurrentSession, session),
                  Context.add(HttpServerRequest.HttpServerRequest, request)
                )
            )
        )
    })
  })
)
