/**
 * The server: the composition of `wac` behind an HTTP server, with the operator's log and telemetry.
 */
import { NodeHttpClient, NodeHttpServer } from "@effect/platform-node"
import { AlertRunner, Metrics, Stopping } from "@wac/core"
import { ClientErrors, ConnectionServer, Dashboard, EarlyRequests, HttpApp, MetricsPage, PublicUrl } from "@wac/http"
import { WhatsApp } from "@wac/whatsapp"
import { Duration, Effect, Layer, Logger, Metric, References, Schedule } from "effect"
import { HttpRouter, HttpServer, UrlParams } from "effect/http"
import { Otlp } from "effect/observability"
import { Composition } from "wac/effect"
import { FirstOwner } from "./FirstOwner.ts"
import * as MailerSmtp from "./MailerSmtp.ts"
import * as OidcIssuer from "./OidcIssuer.ts"
import * as RateLimitStoreRedis from "./RateLimitStoreRedis.ts"
import type { ServerConfig } from "./ServerConfig.ts"

/** Whoever offers another protocol, as Java's client does, is answered in HTTP; taken up, it would cost the request's body. */
const onlyHttp = { shouldUpgradeCallback: () => false }

const logging = (config: ServerConfig) =>
  Layer.mergeAll(
    Logger.layer([config.logFormat === "pretty" ? Logger.consolePretty() : Logger.consoleJson]),
    Layer.succeed(References.MinimumLogLevel, config.logLevel)
  )

/** How often a collector is told of metrics. */
const metricsEvery = Duration.seconds(10)

/** Values of a query may be a customer's number, or the token of the provider's handshake: traces have the names alone. */
const redactedNames = [/^/]

/** Traces, metrics and logs for a collector (contract §8 `OTEL_EXPORTER_OTLP_ENDPOINT`). */
const telemetry = ({ otlpEndpoint }: ServerConfig) =>
  otlpEndpoint === undefined
    ? Layer.empty
    : Otlp.layerJson({
      baseUrl: otlpEndpoint,
      resource: { serviceName: "wac" },
      metricsExportInterval: metricsEvery
    }).pipe(
      Layer.provide(NodeHttpClient.layerUndici),
      Layer.merge(Layer.succeed(UrlParams.CurrentRedactedNames, redactedNames))
    )

/** Looks up what waits as often as a collector is told of it: nobody asks for that, as readers of `/metrics` do. */
const observation = ({ otlpEndpoint }: ServerConfig) =>
  otlpEndpoint === undefined
    ? Layer.empty
    : Layer.effectDiscard(
      Effect.flatMap(
        Metrics.observer,
        (observe) => Effect.forkScoped(Effect.repeat(observe, Schedule.spaced(metricsEvery)))
      )
    )

/** In front of the storage's own, for what no send spends (contract §8 `RATE_LIMIT_STORE`). */
const rateLimits = ({ rateLimitRedis }: ServerConfig) =>
  rateLimitRedis === undefined ? Layer.empty : RateLimitStoreRedis.layer(rateLimitRedis)

/** Who sends (contract §8 `PROVIDER`). */
const provider = ({ provider }: ServerConfig): Composition.Adapters["provider"] =>
  provider._tag === "Sandbox" ? Composition.standard.provider : WhatsApp.layer(provider)

/** The address that is used; where the system chose the port, it is known only when the server listens. */
const publicUrl = ({ publicUrl }: ServerConfig) =>
  Layer.effect(
    PublicUrl.PublicUrl,
    Effect.map(
      HttpServer.HttpServer,
      ({ address }) => publicUrl.port === "0" ? new URL(HttpServer.formatAddress(address)) : publicUrl
    )
  )

/** Stops first: who waits for another's send gives up, and connections end with their answers. */
const draining = (server: ConnectionServer.ConnectionServer) =>
  Layer.effectDiscard(
    Effect.flatMap(Stopping.Stopping, (stopping) =>
      Effect.addFinalizer(() => Effect.andThen(stopping.begin, Effect.promise(() => server.stop()))))
  )

/** The service, listening. Closing its scope stops it gracefully: requests, then sends, then deliveries. */
export const layer = (config: ServerConfig, adapters?: Partial<Composition.Adapters>) =>
  Layer.unwrap(Effect.sync(() => layerOn(new ConnectionServer.ConnectionServer(onlyHttp), config, adapters)))

const layerOn = (
  server: ConnectionServer.ConnectionServer,
  config: ServerConfig,
  adapters?: Partial<Composition.Adapters>
) => {
  const composition = FirstOwner.layer(config).pipe(
    Layer.provideMerge(
      Composition.layer(
        config,
        { ...Composition.standard, provider: provider(config), ...adapters },
        rateLimits(config)
      )
    )
  )
  // around the routes alone: every request's context begins with what is around the server, and is copied several times
  const serving = HttpRouter.serve(Layer.provideMerge(Layer.merge(HttpApp.layer, observation(config)), composition), {
    disableLogger: true,
    disableListenLog: true,
    routerConfig: HttpApp.routerConfig
  })
  return draining(server).pipe(
    Layer.provideMerge(serving),
    Layer.provideMerge(publicUrl(config)),
    Layer.provideMerge(
      NodeHttpServer.layer(() => EarlyRequests.hold(ClientErrors.answer(server)), {
        port: config.port,
        host: config.host,
        disablePreemptiveShutdown: true
      }).pipe(
        // there is one composition, and it is made before the server listens: whoever is let in is served
        Layer.provide(composition)
      )
    ),
    Layer.provideMerge(Layer.sync(Stopping.Stopping, Stopping.make)),
    Layer.provide(MailerSmtp.layer(config.mail)),
    Layer.provide(OidcIssuer.layer(config.oidc)),
    Layer.provide(Layer.succeed(AlertRunner.AlertUrl, config.alertUrl)),
    Layer.provide(Layer.succeed(PublicUrl.IsGiven, config.isPublicUrlGiven)),
    Layer.provide(Layer.succeed(Dashboard.IsServed, true)),
    Layer.provide(Layer.succeed(Dashboard.PortalOrigins, config.portalOrigins)),
    Layer.provide(Layer.succeed(HttpApp.TrustedProxies, config.trustedProxies)),
    Layer.provide(Layer.succeed(MetricsPage.MetricsToken, config.metricsToken)),
    Layer.provideMerge(telemetry(config)),
    Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map())),
    Layer.provideMerge(logging(config))
  )
}
