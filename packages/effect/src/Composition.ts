/**
 * The composition: which adapters implement which ports, and what runs in the background. Read it from the bottom up.
 */
import { MessagesApi } from "@wac/api"
import {
  Accounts,
  AlertRunner,
  Alerts,
  ApiKeys,
  Audit,
  type Authenticator,
  CampaignRunner,
  Campaigns,
  ChangeRecorder,
  Changes,
  Contacts,
  Customers,
  Deliveries,
  DeliveryTidier,
  Events,
  Factors,
  Heartbeats,
  Inbound,
  InboundPosts,
  InboundRunner,
  IssuerSignIn,
  Limits,
  LocalAuthenticator,
  MediaHold,
  MediaLibrary,
  MediaTidier,
  Members,
  Messages,
  MessageSweeper,
  Notices,
  OptOuts,
  OutboxRunner,
  PageReceiver,
  Passkeys,
  Password,
  PhoneNumbers,
  Portals,
  type Ports,
  type Provider,
  QueuedMessages,
  QueueRunner,
  RateCard,
  Readiness,
  ReadMarks,
  ReceiverReports,
  RefusedSignIns,
  ReplayRunner,
  Replays,
  RequestRecorder,
  Requests,
  RequestValues,
  RequestValuesRecorder,
  Retention,
  RetentionRunner,
  SealedSecretStore,
  SecretRewrap,
  SenderCredentials,
  Setup,
  Stopping,
  Storage as CoreStorage,
  TemplateRequests,
  Templates,
  TemplateSync,
  Usage,
  UsageRecorder,
  Vault,
  WaitingRunner,
  Webhooks,
  WebhookScheduler,
  type WebhookTransport
} from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import type * as HostPool from "@wac/postgres/HostPool"
import { ReceiverGuardDns, WebhookTransportHttp } from "@wac/receivers"
import { S3MediaBytes } from "@wac/s3"
import { SandboxProvider } from "@wac/sandbox"
import { Effect, Exit, Layer, Redacted, Schema, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Input from "./Input.ts"
import * as MediaInspectorNode from "./media/MediaInspectorNode.ts"
import * as PasskeyVerifierNode from "./people/PasskeyVerifierNode.ts"
import * as Cryptography from "./secrets/Cryptography.ts"
import * as MasterKeyFile from "./secrets/MasterKeyFile.ts"

/** A built-in storage. Its package is loaded only if it is used. */
export type BuiltInStorage =
  /** Lost with the process. */
  | { readonly _tag: "Memory" }
  /** PostgreSQL in the process, which uses the directory exclusively. */
  | { readonly _tag: "Embedded"; readonly directory: string; readonly migrate?: boolean; readonly schema?: string }
  /** A PostgreSQL server, which any number of processes may share. */
  | {
    readonly _tag: "Server"
    readonly url: Redacted.Redacted
    readonly listenUrl?: Redacted.Redacted
    readonly maxConnections?: number
    readonly migrate?: boolean
    readonly schema?: string
  }

/** A PostgreSQL server over the host's own pool of connections, which stays open. */
export interface PooledStorage {
  readonly _tag: "Pooled"
  readonly pool: HostPool.HostPool
  readonly listen?: boolean
  readonly migrate?: boolean
  readonly schema?: string
}

/**
 * A built-in storage, one over the host's connections, or any `Layer` of the ports that passes the suites of
 * `@wac/testkit`.
 */
export type Storage<E = never> = BuiltInStorage | PooledStorage | Layer.Layer<Ports.Ports, E>

/** The storage, its files, and the keys that open its secrets. */
export interface StorageConfig<E = never> {
  readonly storage: Storage<E>
  /**
   * Encrypts the secrets in the storage. If omitted, embedded PostgreSQL keeps a key beside its data, and a storage
   * that is lost with the process gets a key for the run; any other storage requires one.
   */
  readonly masterKey: Redacted.Redacted<Uint8Array> | undefined
  /** The previous master key, during a change. */
  readonly previousMasterKey: Redacted.Redacted<Uint8Array> | undefined
  readonly limits: Limits.Limits
  /** The object store for the bytes of files; if omitted, they are in the storage. */
  readonly mediaStore?: S3MediaBytes.Options
}

/** The configuration of a running instance, without its adapters. */
export interface Config<E = never> extends StorageConfig<E> {
  /** How long each kind of record is kept. Defaults to `Retention.standard`. */
  readonly retention?: Retention.Retention
  /** The provider's prices; without them, usage has no costs. */
  readonly rateCard?: RateCard.RateCard
  /** When customers' files are downloaded. Defaults to `keep`. */
  readonly inboundMedia?: MediaLibrary.Inbound
  readonly receiverRules: ReceiverGuardDns.ReceiverRules
}

/** The error if a durable storage has no master key: its secrets could not be opened after a restart. */
export class MasterKeyMissing extends Schema.TaggedError<MasterKeyMissing>()("MasterKeyMissing", {
  storage: Schema.String
}) {
  override get message() {
    return `a master key is required: ${this.storage} outlives the process`
  }
}

/**
 * The exchangeable adapters: authentication and the provider. They may use everything beneath them, and run in the
 * background for as long as their scope is open. A provider reports through `Inbound`; one that posts to us also
 * provides its `ProviderWebhook`.
 */
export interface Adapters<E = never> {
  readonly authenticator: Layer.Layer<Authenticator.Authenticator, E, Beneath | Password.Passwords>
  readonly provider: Layer.Layer<Provider.Provider, E, Beneath>
}

/** The built-in accounts, and the sandbox. */
export const standard: Adapters = { authenticator: LocalAuthenticator.layer, provider: SandboxProvider.layer }

/** Ports that wrap the storage's ports and the transport to receivers. */
export type InFront<E> = Layer.Layer<never, E, Ports.Ports | WebhookTransport.WebhookTransport>

/** Loaded on demand, so that only hosts that use PostgreSQL load its client and PGlite. */
const postgres = Effect.promise(() => import("@wac/postgres"))

const isLayer = <E>(storage: Storage<E>): storage is Layer.Layer<Ports.Ports, E> => Layer.isLayer(storage)

const layerBuiltIn = (storage: BuiltInStorage | PooledStorage) => {
  switch (storage._tag) {
    case "Memory":
      return MemoryStorage.layer
    case "Embedded":
      return Layer.unwrap(Effect.map(postgres, ({ PostgresStorage }) => PostgresStorage.layerEmbedded(storage)))
    case "Server":
      return Layer.unwrap(Effect.map(postgres, ({ PostgresStorage }) => PostgresStorage.layerServer(storage)))
    case "Pooled":
      return Layer.unwrap(Effect.map(postgres, ({ PostgresStorage }) => PostgresStorage.layerPool(storage)))
  }
}

const layerStorage = <E>(
  storage: Storage<E>
): Layer.Layer<Ports.Ports, E | Layer.Error<ReturnType<typeof layerBuiltIn>>> =>
  isLayer(storage) ? storage : layerBuiltIn(storage)

/**
 * The master key if none is configured: embedded PostgreSQL's own, or a new one if the storage is lost with the
 * process. Fails for any other storage.
 */
const keyWithout = Effect.fnUntraced(function*<E>(storage: Storage<E>) {
  if (!isLayer(storage) && storage._tag === "Embedded") {
    const { keyIds } = yield* SealedSecretStore.SealedSecretStore
    return yield* MasterKeyFile.load(storage.directory, Effect.map(keyIds, ({ length }) => length > 0))
  }
  const { durable, name } = yield* CoreStorage.Storage
  if (durable) return yield* new MasterKeyMissing({ storage: name })
  const random = yield* SecureRandom.SecureRandom
  return Redacted.make(yield* random.randomBytes(32))
})

const masterKeys = Effect.fnUntraced(function*<E>({ masterKey, previousMasterKey, storage }: StorageConfig<E>) {
  const current = masterKey ?? (yield* keyWithout(storage))
  return { current, ...(previousMasterKey === undefined ? {} : { previous: previousMasterKey }) }
})

/** The object store, if one is configured: the bytes of files are there instead of in the storage. */
const mediaBytes = ({ mediaStore }: Pick<StorageConfig, "mediaStore">) =>
  mediaStore === undefined ? Layer.empty : Layer.provide(MediaHold.layer, S3MediaBytes.layer(mediaStore))

/**
 * Fails if the object store refuses access, which an operator must correct. If the store is only unreachable, this is
 * logged, because messages without files can still be sent.
 */
const mediaStoreChecked = ({ mediaStore }: Pick<StorageConfig, "mediaStore">) =>
  mediaStore === undefined ? Layer.empty : Layer.effectDiscard(
    Effect.catchTag(S3MediaBytes.check(mediaStore), "S3Unreachable", ({ message }) => Effect.logWarning(message))
  )

/** The storage with its vault, and nothing in the background: for operator commands, even while servers run. */
export const layerOpened = <E = never>(config: StorageConfig<E>, cryptography = Cryptography.layer) =>
  Layer.unwrap(Effect.map(masterKeys(config), Vault.Vault.layer)).pipe(
    Layer.provideMerge(mediaBytes(config)),
    Layer.provideMerge(layerStorage(config.storage)),
    Layer.provideMerge(cryptography),
    Layer.provideMerge(Layer.succeed(Limits.CurrentLimits, config.limits))
  )

/** The storage only, without opening secrets and so without a master key: for operator commands. */
export const layerUnopened = <E = never>(storage: Storage<E>) =>
  layerStorage(storage).pipe(Layer.provideMerge(Cryptography.layer))

const receivers = ({ receiverRules }: Pick<Config, "receiverRules">) =>
  Layer.mergeAll(ReceiverGuardDns.layer(receiverRules), WebhookTransportHttp.layer(receiverRules))

/** The services that the exchangeable adapters need: the storage, receivers, and `Inbound` for a provider's reports. */
const beneath = <E, EInFront>(
  config: Config<E>,
  inFront: InFront<EInFront>,
  cryptography: typeof Cryptography.layer
) =>
  Readiness.Readiness.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Inbound.Inbound.layer, SenderCredentials.SenderCredentials.layer)),
    Layer.provideMerge(TemplateRequests.TemplateRequests.layer),
    Layer.provideMerge(Layer.mergeAll(RequestRecorder.layer, RequestValuesRecorder.layer, UsageRecorder.layer)),
    Layer.provideMerge(ChangeRecorder.layer),
    Layer.provideMerge(Layer.merge(inFront, PasskeyVerifierNode.layer)),
    Layer.provideMerge(receivers(config)),
    Layer.provideMerge(layerOpened(config, cryptography)),
    Layer.provideMerge(mediaStoreChecked(config)),
    Layer.provideMerge(Layer.succeed(Retention.CurrentRetention, config.retention ?? Retention.standard)),
    Layer.provideMerge(Layer.succeed(RateCard.CurrentRateCard, config.rateCard ?? [])),
    Layer.provideMerge(Layer.succeed(MediaLibrary.InboundFiles, config.inboundMedia ?? "keep"))
  )

/** Every service that an adapter of {@link Adapters} may use. */
export type Beneath = Layer.Success<ReturnType<typeof beneath>>

/** Reads messages of the outbox. */
export const outboxReader = Layer.succeed(OutboxRunner.OutboxReader, {
  read: Input.reader(MessagesApi.EnqueuedMessage)
})

/** The domain's services over storage, provider and receivers. */
export const services = <E, EAdapters, EInFront>(
  config: Config<E>,
  { authenticator, provider }: Adapters<EAdapters>,
  inFront: InFront<EInFront>,
  cryptography = Cryptography.layer,
  inspector = MediaInspectorNode.layer
) =>
  Layer.mergeAll(
    ApiKeys.ApiKeys.layer,
    Layer.provide(Messages.Messages.layer, outboxReader),
    ReadMarks.ReadMarks.layer,
    Webhooks.Webhooks.layer,
    Deliveries.Deliveries.layer,
    ReceiverReports.ReceiverReports.layer,
    Replays.Replays.layer,
    Events.Events.layer,
    InboundPosts.InboundPosts.layer,
    PhoneNumbers.PhoneNumbers.layer,
    Contacts.Contacts.layer,
    OptOuts.OptOuts.layer,
    Customers.Customers.layer,
    Requests.Requests.layer,
    RequestValues.RequestValues.layer,
    Usage.Usage.layer,
    Alerts.Alerts.layer,
    Audit.Audit.layer,
    Changes.Changes.layer,
    PageReceiver.PageReceivers.layer,
    Campaigns.Campaigns.layer,
    QueuedMessages.QueuedMessages.layer,
    Members.Members.layer,
    Notices.Notices.layer,
    Portals.Portals.layer,
    IssuerSignIn.IssuerSignIn.layer,
    RefusedSignIns.RefusedSignIns.layer,
    Accounts.Accounts.layer,
    Factors.Factors.layer,
    Passkeys.Passkeys.layer,
    authenticator
  ).pipe(
    Layer.provideMerge(Setup.Setup.layer),
    Layer.provideMerge(Layer.mergeAll(Templates.Templates.layer, Password.Passwords.layer)),
    Layer.provideMerge(Layer.provide(MediaLibrary.MediaLibrary.layer, inspector)),
    Layer.provideMerge(provider),
    Layer.provideMerge(beneath(config, inFront, cryptography))
  )

/** Sets up the provider's number and templates at the start, and retries until that succeeds. */
export const ensured = PhoneNumbers.layerEnsured

/**
 * Ends a layer as soon as the shutdown begins, or else with its scope. Otherwise it would begin work until the requests
 * in flight have ended, and little or no time would be left for that work.
 */
const untilStopping = <E, R>(layer: Layer.Layer<never, E, R>): Layer.Layer<never, E, R> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const stopping = yield* Stopping.Stopping
    const scope = yield* Scope.fork(yield* Effect.scope)
    yield* Layer.buildWithScope(layer, scope)
    // the end of the outer scope waits for an end that has begun
    yield* Effect.forkScoped(Effect.andThen(stopping.begun, Effect.uninterruptible(Scope.close(scope, Exit.void))))
  }))

/**
 * Everything that runs in the background, over the services. It stops gracefully once the shutdown begins, or with its
 * scope: claims of deliveries in flight are released, and sends in flight finish.
 */
export const background = untilStopping(
  Layer.mergeAll(
    AlertRunner.layer,
    CampaignRunner.layer,
    InboundRunner.layer,
    MediaTidier.layer,
    TemplateSync.layer,
    MessageSweeper.layer,
    Layer.provide(OutboxRunner.layer, outboxReader),
    DeliveryTidier.layer,
    QueueRunner.layer,
    ReplayRunner.layer,
    RetentionRunner.layer,
    SecretRewrap.layer,
    WaitingRunner.layer,
    WebhookScheduler.layer
  ).pipe(Layer.provide(Heartbeats.Heartbeats.layer))
)

/**
 * Every service of the domain, and everything that runs in the background. Closing the scope stops it gracefully:
 * claims of deliveries in flight are released, and sends in flight finish.
 */
export const layer = <E = never, EAdapters = never, EInFront = never>(
  config: Config<E>,
  adapters: Adapters<EAdapters> = standard,
  inFront: InFront<EInFront> = Layer.empty,
  cryptography = Cryptography.layer,
  inspector = MediaInspectorNode.layer
) =>
  Layer.merge(ensured, background).pipe(
    Layer.provideMerge(services(config, adapters, inFront, cryptography, inspector))
  )
