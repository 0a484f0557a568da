/**
 * The composition: which adapters stand behind which ports, and what runs in the background. Read from the bottom up.
 */
import { NodeHttpClient, NodeHttpServer } from "@effect/platform-node"
import {
  ApiKeys,
  Deliveries,
  DeliveryTidier,
  Events,
  Inbound,
  Limits,
  LocalAuthenticator,
  Messages,
  MessageSweeper,
  Password,
  ReplayRunner,
  Replays,
  SecretRewrap,
  Setup,
  Templates,
  Vault,
  Webhooks,
  WebhookScheduler
} from "@wac/core"
import { ClientErrors, HttpApp, MetricsPage, PublicUrl, ReceiverGuardDns, WebhookTransportUndici } from "@wac/http"
import { MemoryStorage } from "@wac/memory"
import { PostgresStorage } from "@wac/postgres"
import { SandboxProvider } from "@wac/sandbox"
import { Duration, Effect, Layer, Logger, Metric, Redacted, References } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpRouter } from "effect/http"
import { Otlp } from "effect/observability"
import { createServer } from "node:http"
import * as Cryptography from "./Cryptography.ts"
import * as MasterKeyFile from "./MasterKeyFile.ts"
import * as RateLimitStoreRedis from "./RateLimitStoreRedis.ts"
import type { ServerConfig } from "./ServerConfig.ts"

/** How long stopping waits for requests in flight; sends among them end within the provider's 8 s. */
const stopTimeout = Duration.seconds(12)

const logging = (config: ServerConfig) =>
  Layer.mergeAll(
    Logger.layer([config.logFormat === "pretty" ? Logger.consolePretty() : Logger.consoleJson]),
    Layer.succeed(References.MinimumLogLevel, config.logLevel)
  )

const telemetry = (config: ServerConfig) =>
  config.otlpEndpoint === undefined
    ? Layer.empty
    : Otlp.layerJson({ baseUrl: config.otlpEndpoint, resource: { serviceName: "wac" } }).pipe(
      Layer.provide(NodeHttpClient.layerUndici)
    )

/** Where everything is kept (contract §8 `DATABASE_URL`). */
const storage = ({ storage }: ServerConfig) => {
  switch (storage._tag) {
    case "Memory":
      return MemoryStorage.layer
    case "Embedded":
      return PostgresStorage.layerEmbedded(storage)
    case "Server":
      return PostgresStorage.layerServer(storage)
  }
}

/** In front of the storage's own, for what no send spends (contract §8 `RATE_LIMIT_STORE`). */
const rateLimits = ({ rateLimitRedis }: ServerConfig) =>
  rateLimitRedis === undefined ? Layer.empty : RateLimitStoreRedis.layer(rateLimitRedis)

/** Memory forgets with the process, so a key of this run alone is enough for it; an embedded database has its own. */
const masterKeys = Effect.fnUntraced(function*({ masterKey, previousMasterKey, storage }: ServerConfig) {
  const random = yield* SecureRandom.SecureRandom
  const current = masterKey ?? (storage._tag === "Embedded"
    ? yield* MasterKeyFile.load(storage.directory)
    : Redacted.make(yield* random.randomBytes(32)))
  return { current, ...(previousMasterKey === undefined ? {} : { previous: previousMasterKey }) }
})

const receivers = ({ receiverRules }: ServerConfig) =>
  Layer.mergeAll(ReceiverGuardDns.layer(receiverRules), WebhookTransportUndici.layer(receiverRules))

/** The adapters that can be exchanged: how people sign in, and who sends. */
export const standard = { authenticator: LocalAuthenticator.layer, provider: SandboxProvider.layer }
export type Adapters = typeof standard

/** The domain's services over storage, provider and receivers. */
const services = (config: ServerConfig, { authenticator, provider }: Adapters) =>
  Layer.mergeAll(
    ApiKeys.ApiKeys.layer,
    Messages.Messages.layer,
    Webhooks.Webhooks.layer,
    Deliveries.Deliveries.layer,
    Replays.Replays.layer,
    Events.Events.layer,
    authenticator
  ).pipe(
    Layer.provideMerge(Setup.Setup.layer(SandboxProvider.firstNumber)),
    Layer.provideMerge(Layer.mergeAll(Templates.Templates.layer, Password.Passwords.layer)),
    Layer.provideMerge(provider),
    Layer.provideMerge(Inbound.Inbound.layer),
    Layer.provideMerge(Layer.unwrap(Effect.map(masterKeys(config), Vault.Vault.layer))),
    Layer.provideMerge(receivers(config)),
    Layer.provideMerge(rateLimits(config)),
    Layer.provideMerge(storage(config)),
    Layer.provideMerge(Cryptography.layer),
    Layer.provideMerge(Layer.succeed(Limits.CurrentLimits, config.limits))
  )

const background = Layer.mergeAll(
  MessageSweeper.layer,
  DeliveryTidier.layer,
  ReplayRunner.layer,
  SecretRewrap.layer,
  WebhookScheduler.layer
)

/** The service, listening. Closing its scope stops it gracefully: requests, then sends, then deliveries. */
export const layer = (config: ServerConfig, adapters: Adapters = standard) =>
  HttpRouter.serve(HttpApp.layer, {
    disableLogger: true,
    disableListenLog: true,
    routerConfig: HttpApp.routerConfig
  }).pipe(
    Layer.provideMerge(background),
    Layer.provideMerge(services(config, adapters)),
    Layer.provideMerge(Layer.succeed(PublicUrl.PublicUrl, config.publicUrl)),
    Layer.provide(Layer.succeed(HttpApp.TrustedProxies, config.trustedProxies)),
    Layer.provide(Layer.succeed(MetricsPage.MetricsToken, config.metricsToken)),
    Layer.provideMerge(
      NodeHttpServer.layer(() => ClientErrors.answer(createServer()), {
        port: config.port,
        host: config.host,
        gracefulShutdownTimeout: stopTimeout
      })
    ),
    Layer.provideMerge(telemetry(config)),
    Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map())),
    Layer.provideMerge(logging(config))
  )
