/**
 * Authentication, as the contract sees it (specification §5): the two kinds of caller and how they show who they are.
 */
import type { ApiKeys, Session } from "@wac/core"
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { always, authenticated } from "./ErrorBody.ts"

/** The API key that calls, and its workspace. */
export class Caller extends Context.Service<Caller, ApiKeys.Principal>()("@wac/api/Caller") {}

/** `Authorization: Bearer wac_live_…` on everything under `/v1`. */
export class ApiKeyAuthentication extends HttpApiMiddleware.Service<ApiKeyAuthentication, { provides: Caller }>()(
  "@wac/api/Caller/ApiKeyAuthentication",
  {
    error: authenticated,
    security: {
      apiKey: HttpApiSecurity.bearer.pipe(
        HttpApiSecurity.annotate(
          OpenApi.Description,
          "An API key: `Authorization: Bearer wac_live_…`. Server-side only."
        )
      )
    }
  }
) {}

/** The dashboard session that calls. */
export class CurrentSession
  extends Context.Service<CurrentSession, Session.Session>()("@wac/api/Caller/CurrentSession")
{}

/** A dashboard session on everything under `/internal` that is not public; an API key does not open it. */
export class SessionAuthentication
  extends HttpApiMiddleware.Service<SessionAuthentication, { provides: CurrentSession }>()(
    "@wac/api/Caller/SessionAuthentication",
    {
      error: authenticated,
      security: {
        session: HttpApiSecurity.apiKey({ in: "cookie", key: "wac_session" }).pipe(
          HttpApiSecurity.annotate(
            OpenApi.Description,
            "The cookie of a dashboard session; `__Host-wac_session` over https."
          )
        )
      }
    }
  )
{}

/** What every endpoint passes, whoever calls: a body in bounds, and errors in their one shape. */
export class ErrorBoundary extends HttpApiMiddleware.Service<ErrorBoundary>()("@wac/api/Caller/ErrorBoundary", {
  error: always
}) {}
