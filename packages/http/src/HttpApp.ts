/**
 * All routes of the API and the pages, and the middleware around every request.
 */
import { Api, ErrorAddress } from "@wac/api"
import {
  ApiKeys,
  ApiRequest,
  Elapsed,
  Errors,
  Id,
  RateLimit,
  RequestRecorder,
  RequestValuesRecorder,
  SendBinding,
  Span,
  Stopping
} from "@wac/core"
import { Cause, Clock, Context, Effect, Exit, Layer, LogLevel, type Tracer, type Types } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpMiddleware, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { IpNetwork } from "effect/net"
import * as AlertsHandlers from "./alerts/AlertsHandlers.ts"
import * as AuditHandlers from "./audit/AuditHandlers.ts"
import * as Boundary from "./Boundary.ts"
import * as CampaignsHandlers from "./campaigns/CampaignsHandlers.ts"
import * as StreamHandlers from "./changes/StreamHandlers.ts"
import * as UnfinishedRequest from "./connections/UnfinishedRequest.ts"
import * as ContactsHandlers from "./contacts/ContactsHandlers.ts"
import * as OptOutsHandlers from "./contacts/OptOutsHandlers.ts"
import * as ErrorResponse from "./ErrorResponse.ts"
import * as EventsHandlers from "./events/EventsHandlers.ts"
import * as Exchange from "./Exchange.ts"
import * as HealthHandlers from "./HealthHandlers.ts"
import * as HttpMetrics from "./HttpMetrics.ts"
import * as ProviderRoute from "./inbound/ProviderRoute.ts"
import * as ApiKeysHandlers from "./keys/ApiKeysHandlers.ts"
import * as KeyAuthentication from "./keys/KeyAuthentication.ts"
import * as RateLimitHeaders from "./limits/RateLimitHeaders.ts"
import * as McpRoute from "./mcp/McpRoute.ts"
import * as MediaHandlers from "./media/MediaHandlers.ts"
import * as MessagesHandlers from "./messages/MessagesHandlers.ts"
import * as Prefer from "./messages/Prefer.ts"
import { MountPath } from "./MountPath.ts"
import * as PhoneNumbersHandlers from "./numbers/PhoneNumbersHandlers.ts"
import * as MetricsPage from "./pages/MetricsPage.ts"
import * as PageHeaders from "./pages/PageHeaders.ts"
import * as Pages from "./pages/Pages.ts"
import * as AccountHandlers from "./people/AccountHandlers.ts"
import { CrossSite } from "./people/CrossSite.ts"
import * as FactorHandlers from "./people/FactorHandlers.ts"
import * as MembersHandlers from "./people/MembersHandlers.ts"
import * as OidcRoute from "./people/OidcRoute.ts"
import * as PasskeyHandlers from "./people/PasskeyHandlers.ts"
import { PortalCookie } from "./people/PortalCookie.ts"
import * as PortalHandlers from "./people/PortalHandlers.ts"
import * as SessionAuthentication from "./people/SessionAuthentication.ts"
import { SessionCookie } from "./people/SessionCookie.ts"
import * as SessionHandlers from "./people/SessionHandlers.ts"
import * as SignInMethodHandlers from "./people/SignInMethodHandlers.ts"
import { PublicUrl } from "./PublicUrl.ts"
import * as QueueHandlers from "./queue/QueueHandlers.ts"
import * as RequestLog from "./RequestLog.ts"
import * as RequestRecord from "./requests/RequestRecord.ts"
import * as RequestsHandlers from "./requests/RequestsHandlers.ts"
import * as Routes from "./Routes.ts"
import * as TemplatesHandlers from "./templates/TemplatesHandlers.ts"
import * as UnknownRoute from "./UnknownRoute.ts"
import * as UsageHandlers from "./usage/UsageHandlers.ts"
import * as DeliveriesHandlers from "./webhooks/DeliveriesHandlers.ts"
import * as ReplaysHandlers from "./webhooks/ReplaysHandlers.ts"
import * as WebhookHandlers from "./webhooks/WebhookHandlers.ts"

/** The proxies whose forwarding headers are trusted (contract §8 `TRUST_PROXY`). */
export const TrustedProxies = Context.Reference<ReadonlyArray<IpNetwork.IpNetwork>>(
  "@wac/http/HttpApp/TrustedProxies",
  {
    defaultValue: () => []
  }
)

const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(
    Layer.provide([
      MessagesHandlers.layer,
      MediaHandlers.layer,
      TemplatesHandlers.layer,
      ApiKeysHandlers.layer,
      SessionHandlers.layer,
      SignInMethodHandlers.layer,
      AccountHandlers.layer,
      FactorHandlers.layer,
      PasskeyHandlers.layer,
      MembersHandlers.layer,
      PortalHandlers.layer,
      PhoneNumbersHandlers.layer,
      CampaignsHandlers.layer,
      ContactsHandlers.layer,
      OptOutsHandlers.layer,
      WebhookHandlers.layer,
      DeliveriesHandlers.layer,
      ReplaysHandlers.layer,
      EventsHandlers.layer,
      RequestsHandlers.layer,
      AuditHandlers.layer,
      AlertsHandlers.layer,
      StreamHandlers.layer,
      QueueHandlers.layer,
      UsageHandlers.layer,
      HealthHandlers.layer
    ]),
    Layer.provide([KeyAuthentication.layer, SessionAuthentication.layer, Boundary.layer]),
    Layer.provide([CrossSite.layer, SessionCookie.layer, PortalCookie.layer])
  ),
  Pages.layer,
  MetricsPage.layer,
  ProviderRoute.layer,
  Layer.provide(McpRoute.layer, CrossSite.layer),
  Layer.provide(OidcRoute.layer, SessionCookie.layer)
)

/** Responds to requests that no endpoint handled: an unknown route, or a defect, which the request's log line shows. */
const unanswered = (routes: Routes.Routes) => {
  const unknownRoute = UnknownRoute.make(routes)
  return Effect.fnUntraced(function*(cause: Cause.Cause<unknown>) {
    const error = Cause.squash(cause)
    if (error instanceof HttpServerError.HttpServerError && error.reason._tag === "RouteNotFound") {
      return yield* unknownRoute(yield* HttpServerRequest.HttpServerRequest)
    }
    const exchange = yield* Exchange.Exchange
    exchange.defect = cause
    return yield* ErrorResponse.of(Errors.internal())
  })
}

/**
 * Matches a URL in which the router would end the path at `;` or `#`, although only `?` ends it: for a proxy's rules,
 * `/metrics;x` differs from `/metrics`.
 */
const endsEarly = /^[^?]*[;#]/

/** Whether a request was interrupted because its caller left. A stop of the service interrupts requests too. */
const isLeft = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => reason._tag === "Interrupt" && reason.annotations.has(HttpServerError.ClientAbort.key))

/** Fails as if the router had found no route. */
const nowhere = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.die(new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) }))

/** Headers of every response; caches store only responses that set their own lifetime. */
const headersOf = (
  exchange: Exchange.Exchange,
  { "cache-control": caching }: HttpServerResponse.HttpServerResponse["headers"]
): { readonly [name: string]: string } => ({
  ...Exchange.headersOf(exchange.requestId),
  ...(caching === undefined ? {} : { "cache-control": caching }),
  ...RateLimitHeaders.of(exchange.readings),
  ...(exchange.isReplayed ? { "idempotent-replayed": "true" } : {}),
  ...(exchange.isPreferenceApplied ? { "preference-applied": Prefer.respondAsync } : {})
})

/** Adds the exchange to a context, and observers that note the API key, the limits and a replay in the exchange. */
const observing = (exchange: Exchange.Exchange) =>
(
  context: Context.Context<HttpServerRequest.HttpServerRequest>
): Context.Context<HttpServerRequest.HttpServerRequest> =>
  context.pipe(
    Context.add(Exchange.Exchange, exchange),
    Context.add(ApiKeys.PrincipalObserver, (caller) => {
      exchange.caller = caller
    }),
    Context.add(RateLimit.Observer, (reading) => void exchange.readings.push(reading)),
    Context.add(SendBinding.ReplayObserver, (answer) => {
      exchange.isReplayed = true
      // a replayed error keeps the first request's id, in body and header: the bytes are the same
      if (answer._tag === "Failed") exchange.requestId = answer.requestId
    })
  )

/**
 * Surrounds every request: gives it an id, responds if no endpoint did, sets the headers of every response, and reports
 * to the log and the metrics, even if the caller left before the response.
 */
const surrounding = HttpRouter.middleware(
  Effect.gen(function*() {
    const random = yield* SecureRandom.SecureRandom
    const trustedProxies = yield* TrustedProxies
    const publicUrl = yield* PublicUrl
    const routes = yield* Routes.make
    const answer = unanswered(routes)
    const stopping = yield* Stopping.Stopping
    const ofAddress = PageHeaders.ofAddress(publicUrl)
    const ofConnection = (isUnfinished: boolean) => isUnfinished || stopping.isBegun() ? { connection: "close" } : {}
    const count = HttpMetrics.make(yield* Effect.context<never>())
    const record = RequestRecord.make({
      record: yield* RequestRecorder.RequestRecorder,
      keepValues: yield* RequestValuesRecorder.RequestValuesRecorder
    })
    const log = RequestLog.make(yield* LogLevel.isEnabled("Debug"))
    const note = (
      request: HttpServerRequest.HttpServerRequest,
      exchange: Exchange.Exchange,
      status: number,
      arrivedAt: { readonly at: number; readonly elapsed: number },
      now: number,
      span: Tracer.AnySpan | undefined
    ): Effect.Effect<void> => {
      const { method } = request
      const route = routes.templateOf(request.url) ?? "unknown"
      const durationMs = now - arrivedAt.elapsed
      const reason = exchange.error === undefined ? undefined : Errors.reasonOf(exchange.error)
      count({ method, route, status, reason, at: arrivedAt.at, durationMs, span })
      record({ method, route, status, durationMs, exchange, at: arrivedAt.at, url: request.url })
      return log({ method, route, status, durationMs, exchange })
    }
    return (
      app: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>
    ): Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled, HttpServerRequest.HttpServerRequest> => {
      const exact = Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        (request) => endsEarly.test(request.url) ? nowhere(request) : app
      )
      const forwarded = trustedProxies.length === 0
        ? exact
        : HttpMiddleware.xForwardedHeaders({ trustedProxies })(exact)
      const answered = Effect.catchCauseIf(forwarded, (cause) => !Cause.hasInterruptsOnly(cause), answer)
      return Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const clock = yield* Clock.Clock
        const arrivedAt = { at: clock.currentTimeMillisUnsafe(), elapsed: Elapsed.of(clock) }
        const exchange = Exchange.make(
          yield* Id.generate(random, "req"),
          ErrorAddress.pageOf(publicUrl, yield* MountPath)
        )
        const span = Span.collected(yield* Effect.context<never>())
        const response = yield* Effect.onExit(Effect.updateContext(answered, observing(exchange)), (exit) => {
          const status = Exit.isSuccess(exit) ? exit.value.status : isLeft(exit.cause) ? ApiRequest.left : undefined
          return status === undefined ? Effect.void : Effect.andThen(
            Span.annotate(() => ({
              "wac.request.id": exchange.ownId,
              "wac.api_key.id": exchange.caller?.key.id,
              "wac.error.reason": exchange.error === undefined ? undefined : Errors.reasonOf(exchange.error)
            })),
            note(request, exchange, status, arrivedAt, Elapsed.of(clock), span)
          )
        })
        return HttpServerResponse.setHeaders(response, {
          ...PageHeaders.of(response),
          ...headersOf(exchange, response.headers),
          ...ofAddress,
          ...ofConnection(yield* UnfinishedRequest.isLeft)
        })
      })
    }
  }),
  { global: true }
)

/** A method in a span's name: `HTTP` for methods that no route has, because a stranger may send any word. */
const nameOf = (method: string): string => HttpMetrics.methods.has(method) ? method : "HTTP"

/** Names the span of a request by its method and its route's template, as OpenTelemetry's conventions do. */
export const spanNames = Layer.effect(
  HttpMiddleware.SpanNameGenerator,
  Effect.map(Routes.make, ({ templateOf }) => ({ method, url }: HttpServerRequest.HttpServerRequest) => {
    const route = templateOf(url)
    return route === undefined ? nameOf(method) : `${nameOf(method)} ${route}`
  })
)

/** Paths match exactly: a path with different case or an additional slash is different, as in a proxy's rules. */
export const routerConfig = { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false }

/** All routes and their middleware. Serve them with `HttpRouter.serve` and {@link routerConfig}. */
export const layer = Layer.mergeAll(routes, surrounding)
