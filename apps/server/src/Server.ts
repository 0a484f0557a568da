/**
 * The server: the composition of `wac` behind an HTTP server, with the operator's log and telemetry.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { AlertRunner, Gauges, Heartbeats, Metrics, Stopping } from "@wac/core"
import { Composition } from "@wac/effect"
import {
  ClientErrors,
  ConnectionServer,
  Dashboard,
  EarlyRequests,
  Guides,
  HttpApp,
  MetricsPage,
  PublicUrl,
  SecurityContact
} from "@wac/http"
import { WhatsApp } from "@wac/whatsapp"
import { Effect, Layer, Logger, Metric, References, Schedule } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { FirstOwner } from "./FirstOwner.ts"
import * as GuideFiles from "./GuideFiles.ts"
import * as LogOutput from "./LogOutput.ts"
import * as ProcessMetrics from "./ProcessMetrics.ts"
import type { ServerConfig } from "./ServerConfig.ts"
import * as Telemetry from "./Telemetry.ts"

/** Ignores offers to upgrade the protocol, which Java's client sends: accepting one would lose the request's body. */
const onlyHttp = { shouldUpgradeCallback: () => false }

const logging = (config: ServerConfig) =>
  Layer.mergeAll(
    Logger.layer([config.logFormat === "pretty" ? Logger.consolePretty() : Telemetry.consoleJson]),
    Layer.effectDiscard(Effect.gen(function*() {
      const output = yield* LogOutput.Output
      const drop = yield* Metrics.logLineDropper
      // so that the metric exists before the first dropped line
      drop(0)
      output?.onDropped(drop)
    })),
    Layer.succeed(References.MinimumLogLevel, config.logLevel)
  )

/**
 * Updates the gauges of waiting work as often as metrics are sent; otherwise only a read of `/metrics` updates them.
 */
const observation = ({ telemetry }: ServerConfig) =>
  telemetry?.signals.metrics !== true
    ? Layer.empty
    : Layer.effectDiscard(
      Effect.flatMap(
        Gauges.observer,
        (observe) => Effect.forkScoped(Effect.repeat(observe, Schedule.spaced(Telemetry.metricsEvery)))
      )
    )

/** The layer of a module that is loaded only if the configuration needs it. */
const loaded = <A, Out, E, R>(load: () => Promise<A>, layer: (module: A) => Layer.Layer<Out, E, R>) =>
  Layer.unwrap(Effect.map(Effect.promise(load), layer))

/** The mailer, if one is configured (contract §12 `SMTP_URL`). */
const mailer = ({ mail }: ServerConfig) =>
  mail === undefined ? Layer.empty : loaded(() => import("./MailerSmtp.ts"), ({ layer }) => layer(mail))

/** The issuer at which people sign in, if one is configured (contract §12 `AUTH=oidc`). */
const issuerOf = ({ oidc }: ServerConfig) =>
  oidc === undefined ? Layer.empty : loaded(() => import("./OidcIssuer.ts"), ({ layer }) => layer(oidc))

/** The provider (contract §8 `PROVIDER`). */
const provider = ({ provider }: ServerConfig): Composition.Adapters["provider"] =>
  provider._tag === "Sandbox" ? Composition.standard.provider : WhatsApp.layer(provider)

/** The public address; if the system chooses the port, it is known only once the server listens. */
const publicUrl = ({ publicUrl }: ServerConfig) =>
  Layer.effect(
    PublicUrl.PublicUrl,
    Effect.map(
      HttpServer.HttpServer,
      ({ address }) => publicUrl.port === "0" ? new URL(HttpServer.formatAddress(address)) : publicUrl
    )
  )

/**
 * Stops the server before everything else: requests that wait for another request's send give up, and connections end
 * after their responses.
 */
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
  const issuer = issuerOf(config)
  const guides = Layer.effect(Guides.Guides, GuideFiles.read)
  const composition = FirstOwner.layer(config).pipe(
    Layer.provideMerge(
      Composition.layer(
        config,
        { ...Composition.standard, provider: provider(config), ...adapters }
      )
    ),
    Layer.provide(mailer(config)),
    Layer.provide(issuer),
    Layer.provide(Layer.succeed(AlertRunner.AlertUrl, config.alertUrl)),
    Layer.provide(Heartbeats.layerRestored(config.isRestored))
  )
  const app = Layer.merge(HttpApp.layer, observation(config)).pipe(
    Layer.provideMerge(composition),
    Layer.provide(NodeHttpServer.layerHttpServices),
    Layer.provide(issuer),
    Layer.provide(publicUrl(config)),
    Layer.provide(Layer.succeed(PublicUrl.IsGiven, config.isPublicUrlGiven)),
    Layer.provide(Layer.succeed(Dashboard.IsServed, true)),
    Layer.provide(Layer.succeed(Dashboard.PortalOrigins, config.portalOrigins)),
    Layer.provide(Layer.succeed(SecurityContact.SecurityContact, config.securityContact)),
    Layer.provide(guides),
    Layer.provide(Layer.succeed(HttpApp.TrustedProxies, config.trustedProxies)),
    Layer.provide(Layer.succeed(MetricsPage.MetricsToken, config.metricsToken)),
    Layer.provide(Layer.effect(Gauges.MoreObserved, ProcessMetrics.observer))
  )
  // every request's context starts with the services that the server is provided with, and is copied several times: so
  // they are few
  const serving = HttpRouter.serve(app, {
    disableLogger: true,
    disableListenLog: true,
    routerConfig: HttpApp.routerConfig
  }).pipe(
    Layer.provide(
      Telemetry.spanNames(config.telemetry).pipe(
        Layer.provide([composition, issuer, guides, Layer.succeed(Dashboard.IsServed, true)])
      )
    )
  )
  return draining(server).pipe(
    Layer.provideMerge(serving),
    Layer.provideMerge(
      NodeHttpServer.layerServer(() => EarlyRequests.hold(ClientErrors.answer(server)), {
        port: config.port,
        host: config.host,
        disablePreemptiveShutdown: true
      }).pipe(
        // the composition, of which there is only one, is built before the server listens: every accepted request is
        // served
        Layer.provide(composition)
      )
    ),
    Layer.provideMerge(Layer.sync(Stopping.Stopping, Stopping.make)),
    Layer.provideMerge(Telemetry.layer(config.telemetry)),
    Layer.provideMerge(logging(config)),
    Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map()))
  )
}
