/**
 * The whole HTTP side.
 */
import { Api } from "@wac/api"
import { Errors, Id, Idempotency, RateLimit } from "@wac/core"
import { Cause, Context, Effect, Layer, type Types } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpMiddleware, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { IpNetwork } from "effect/net"
import * as ApiKeysHandlers from "./ApiKeysHandlers.ts"
import * as Boundary from "./Boundary.ts"
import * as ContactsHandlers from "./ContactsHandlers.ts"
import { CrossSite } from "./CrossSite.ts"
import * as DeliveriesHandlers from "./DeliveriesHandlers.ts"
import * as ErrorResponse from "./ErrorResponse.ts"
import * as EventsHandlers from "./EventsHandlers.ts"
import * as Exchange from "./Exchange.ts"
import * as HealthHandlers from "./HealthHandlers.ts"
import * as KeyAuthentication from "./KeyAuthentication.ts"
import * as MessagesHandlers from "./MessagesHandlers.ts"
import * as MetricsPage from "./MetricsPage.ts"
import * as Pages from "./Pages.ts"
import * as PhoneNumbersHandlers from "./PhoneNumbersHandlers.ts"
import * as ProviderRoute from "./ProviderRoute.ts"
import * as RateLimitHeaders from "./RateLimitHeaders.ts"
import * as ReplaysHandlers from "./ReplaysHandlers.ts"
import * as SessionAuthentication from "./SessionAuthentication.ts"
import { SessionCookie } from "./SessionCookie.ts"
import * as SessionHandlers from "./SessionHandlers.ts"
import * as TemplatesHandlers from "./TemplatesHandlers.ts"
import * as UnknownRoute from "./UnknownRoute.ts"
import * as WebhookHandlers from "./WebhookHandlers.ts"

/** Proxies whose word is taken for where a request comes from (contract §8 `TRUST_PROXY`). */
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
      TemplatesHandlers.layer,
      ApiKeysHandlers.layer,
      SessionHandlers.layer,
      PhoneNumbersHandlers.layer,
      ContactsHandlers.layer,
      WebhookHandlers.layer,
      DeliveriesHandlers.layer,
      ReplaysHandlers.layer,
      EventsHandlers.layer,
      HealthHandlers.layer
    ]),
    Layer.provide([KeyAuthentication.layer, SessionAuthentication.layer, Boundary.layer]),
    Layer.provide([CrossSite.layer, SessionCookie.layer])
  ),
  Pages.layer,
  MetricsPage.layer,
  ProviderRoute.layer
)

const internal = () => new Errors.ServerError({ reason: "internal", message: "an error in the service" })

/** Answers what no endpoint did: an unknown route, or a defect of ours, which is logged under the request's id. */
const unanswered = Effect.map(
  UnknownRoute.make,
  (unknownRoute) =>
    Effect.fnUntraced(function*(cause: Cause.Cause<unknown>) {
      const error = Cause.squash(cause)
      if (error instanceof HttpServerError.HttpServerError && error.reason._tag === "RouteNotFound") {
        return yield* unknownRoute(yield* HttpServerRequest.HttpServerRequest)
      }
      const { requestId } = yield* Exchange.Exchange
      yield* Effect.logError(`request ${requestId} met a defect`, cause)
      return yield* ErrorResponse.of(internal())
    })
)

/** Where the router ends a path though nothing but `?` does: to a proxy's rules, `/metrics;x` is another address. */
const endsEarly = /^[^?]*[;#]/

/** As if the router had found no route. */
const nowhere = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.die(new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) }))

/** Of every answer; nothing is kept by caches but what says itself for how long. */
const headersOf = (
  exchange: Exchange.Exchange,
  { "cache-control": caching }: HttpServerResponse.HttpServerResponse["headers"]
): { readonly [name: string]: string } => ({
  ...Exchange.headersOf(exchange.requestId),
  ...(caching === undefined ? {} : { "cache-control": caching }),
  ...RateLimitHeaders.of(exchange.readings),
  ...(exchange.isReplayed ? { "idempotent-replayed": "true" } : {})
})

/** Has what happens within fill in the exchange. */
const observing = (exchange: Exchange.Exchange) =>
(
  context: Context.Context<HttpServerRequest.HttpServerRequest>
): Context.Context<HttpServerRequest.HttpServerRequest> =>
  context.pipe(
    Context.add(Exchange.Exchange, exchange),
    Context.add(RateLimit.Observer, (reading) => void exchange.readings.push(reading)),
    Context.add(Idempotency.ReplayObserver, (answer) => {
      exchange.isReplayed = true
      // an error keeps the id of who got it first, in body and header: the same to the byte
      if (answer._tag === "Failed") exchange.requestId = answer.requestId
    })
  )

/** Surrounds every request: gives it an id, answers what no endpoint did, and sets the headers of every answer. */
const surrounding = HttpRouter.middleware(
  Effect.gen(function*() {
    const random = yield* SecureRandom.SecureRandom
    const trustedProxies = yield* TrustedProxies
    const answer = yield* unanswered
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
      return Effect.flatMap(Id.generate(random, "req"), (requestId) => {
        const exchange = Exchange.make(requestId)
        return answered.pipe(
          Effect.updateContext(observing(exchange)),
          Effect.map((response) => HttpServerResponse.setHeaders(response, headersOf(exchange, response.headers)))
        )
      })
    }
  }),
  { global: true }
)

/** Paths are served exactly as written: another case or a further slash is another address, here as in a proxy's rules. */
export const routerConfig = { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false }

/** Every route, and what surrounds all of them. Serve it with `HttpRouter.serve` and {@link routerConfig}. */
export const layer = Layer.mergeAll(routes, surrounding)
