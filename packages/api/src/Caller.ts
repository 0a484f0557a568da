/**
 * Authentication in the contract (specification §5): the two kinds of caller and their credentials.
 */
import type { ApiKeys, Session } from "@wac/core"
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { always, idempotent } from "./EndpointErrors.ts"

/** The calling API key and its workspace. */
export class Caller extends Context.Service<Caller, ApiKeys.Principal>()("@wac/api/Caller") {}

/** `Authorization: Bearer wac_live_…` on everything under `/v1`. */
export class ApiKeyAuthentication extends HttpApiMiddleware.Service<ApiKeyAuthentication, { provides: Caller }>()(
  "@wac/api/Caller/ApiKeyAuthentication",
  {
    error: idempotent,
    security: {
      apiKey: HttpApiSecurity.bearer.pipe(
        HttpApiSecurity.annotate(
          OpenApi.Description,
          "An API key: `Authorization: Bearer wac_live_…`. For server-side use only."
        )
      )
    }
  }
) {}

/** The calling dashboard session. */
export class CurrentSession
  extends Context.Service<CurrentSession, Session.Session>()("@wac/api/Caller/CurrentSession")
{}

/** A dashboard session, for every endpoint under `/internal` that is not public. An API key is not enough. */
export class SessionAuthentication
  extends HttpApiMiddleware.Service<SessionAuthentication, { provides: CurrentSession }>()(
    "@wac/api/Caller/SessionAuthentication",
    {
      error: idempotent,
      security: {
        session: HttpApiSecurity.apiKey({ in: "cookie", key: "wac_session" }).pipe(
          HttpApiSecurity.annotate(
            OpenApi.Description,
            "The cookie of a dashboard session, named `__Host-wac_session` over https."
          )
        )
      }
    }
  )
{}

/** Middleware of every endpoint: limits the body and renders errors in their common form. */
export class ErrorBoundary extends HttpApiMiddleware.Service<ErrorBoundary>()("@wac/api/Caller/ErrorBoundary", {
  error: always
}) {}
