/**
 * The composition: which adapters stand behind which ports, and what runs in the background. Read from the bottom up.
 */
import {
  ApiKeys,
  type Authenticator,
  Contacts,
  Deliveries,
  DeliveryTidier,
  Events,
  Inbound,
  InboundPosts,
  InboundRunner,
  Limits,
  LocalAuthenticator,
  Messages,
  MessageSweeper,
  Password,
  PhoneNumbers,
  type Ports,
  type Provider,
  Readiness,
  ReplayRunner,
  Replays,
  SecretRewrap,
  SenderCredentials,
  Setup,
  TemplateRequests,
  Templates,
  TemplateSync,
  Vault,
  Webhooks,
  WebhookScheduler,
  type WebhookTransport,
  type WorkspaceStore
} from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { ReceiverGuardDns, WebhookTransportHttp } from "@wac/receivers"
import { SandboxProvider } from "@wac/sandbox"
import type { WhatsApp } from "@wac/whatsapp"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Cryptography from "./secrets/Cryptography.ts"
import * as MasterKeyFile from "./secrets/MasterKeyFile.ts"

/** Where everything is kept. */
export type Storage =
  /** Lost with the process. */
  | { readonly _tag: "Memory" }
  /** PostgreSQL in the process, which has the directory to itself; in memory without one. */
  | { readonly _tag: "Embedded"; readonly directory: string }
  /** A PostgreSQL server, which any number of processes may share. */
  | {
    readonly _tag: "Server"
    readonly url: Redacted.Redacted
    readonly listenUrl?: Redacted.Redacted
    readonly maxConnections?: number
    readonly migrate?: boolean
  }

/** What is kept, and what opens it. */
export interface Kept {
  readonly storage: Storage
  /** With embedded storage one is kept beside the data, with memory one is made for the run. */
  readonly masterKey: Redacted.Redacted<Uint8Array> | undefined
  /** The one before, while it is being changed. */
  readonly previousMasterKey: Redacted.Redacted<Uint8Array> | undefined
  readonly limits: Limits.Limits
}

/** What a running instance is made with, but for its adapters. */
export interface Config extends Kept {
  readonly receiverRules: ReceiverGuardDns.ReceiverRules
}

/**
 * The adapters that can be exchanged: how people sign in, and who sends. A provider that posts to us brings its
 * `ProviderWebhook` along.
 */
export interface Adapters {
  readonly authenticator: Layer.Layer<
    Authenticator.Authenticator,
    never,
    Layer.Services<typeof LocalAuthenticator.layer> | WorkspaceStore.WorkspaceStore
  >
  readonly provider: Layer.Layer<
    Provider.Provider,
    never,
    | Layer.Services<typeof SandboxProvider.layer>
    | Layer.Services<ReturnType<typeof WhatsApp.layer>>
  >
}

/** Our own accounts, and the sandbox. */
export const standard: Adapters = { authenticator: LocalAuthenticator.layer, provider: SandboxProvider.layer }

/** Ports that stand in front of the storage's own and of the transport to receivers, over which they are made. */
export type InFront<E> = Layer.Layer<never, E, Ports.Ports | WebhookTransport.WebhookTransport>

/** Only who uses PostgreSQL waits for its client, and for PGlite, to be loaded. */
const postgres = Effect.promise(() => import("@wac/postgres"))

const layerStorage = (storage: Storage) => {
  switch (storage._tag) {
    case "Memory":
      return MemoryStorage.layer
    case "Embedded":
      return Layer.unwrap(Effect.map(postgres, ({ PostgresStorage }) => PostgresStorage.layerEmbedded(storage)))
    case "Server":
      return Layer.unwrap(Effect.map(postgres, ({ PostgresStorage }) => PostgresStorage.layerServer(storage)))
  }
}

/** Memory forgets with the process, so a key of this run alone is enough for it; an embedded database has its own. */
const masterKeys = Effect.fnUntraced(function*(
  { masterKey, previousMasterKey, storage }: Kept
): Effect.fn.Return<Vault.MasterKeys, MasterKeyFile.MasterKeyFileError, SecureRandom.SecureRandom> {
  const random = yield* SecureRandom.SecureRandom
  const current = masterKey ?? (storage._tag === "Embedded"
    ? yield* MasterKeyFile.load(storage.directory)
    : Redacted.make(yield* random.randomBytes(32)))
  return { current, ...(previousMasterKey === undefined ? {} : { previous: previousMasterKey }) }
})

/** The storage with its vault, and nothing that runs: for an operator's commands, beside servers or without one. */
export const layerKept = (config: Kept, cryptography = Cryptography.layer) =>
  Layer.unwrap(Effect.map(masterKeys(config), Vault.Vault.layer)).pipe(
    Layer.provideMerge(layerStorage(config.storage)),
    Layer.provideMerge(cryptography),
    Layer.provideMerge(Layer.succeed(Limits.CurrentLimits, config.limits))
  )

/** The storage alone, none of its secrets opened and so without a master key: for an operator's commands. */
export const layerUnopened = (storage: Storage) => layerStorage(storage).pipe(Layer.provideMerge(Cryptography.layer))

const receivers = ({ receiverRules }: Config) =>
  Layer.mergeAll(ReceiverGuardDns.layer(receiverRules), WebhookTransportHttp.layer(receiverRules))

/** The domain's services over storage, provider and receivers. */
const services = <E>(
  config: Config,
  { authenticator, provider }: Adapters,
  inFront: InFront<E>,
  cryptography: typeof Cryptography.layer
) =>
  Layer.mergeAll(
    ApiKeys.ApiKeys.layer,
    Messages.Messages.layer,
    Webhooks.Webhooks.layer,
    Deliveries.Deliveries.layer,
    Replays.Replays.layer,
    Events.Events.layer,
    InboundPosts.InboundPosts.layer,
    PhoneNumbers.PhoneNumbers.layer,
    Contacts.Contacts.layer,
    authenticator
  ).pipe(
    Layer.provideMerge(Setup.Setup.layer),
    Layer.provideMerge(Layer.mergeAll(Templates.Templates.layer, Password.Passwords.layer)),
    Layer.provideMerge(provider),
    Layer.provideMerge(Readiness.Readiness.layer),
    Layer.provideMerge(Layer.mergeAll(Inbound.Inbound.layer, SenderCredentials.SenderCredentials.layer)),
    Layer.provideMerge(TemplateRequests.TemplateRequests.layer),
    Layer.provideMerge(inFront),
    Layer.provideMerge(receivers(config)),
    Layer.provideMerge(layerKept(config, cryptography))
  )

const background = Layer.mergeAll(
  InboundRunner.layer,
  PhoneNumbers.layerEnsured,
  TemplateSync.layer,
  MessageSweeper.layer,
  DeliveryTidier.layer,
  ReplayRunner.layer,
  SecretRewrap.layer,
  WebhookScheduler.layer
)

/**
 * Every service of the domain, and all that runs in the background. Closing the scope stops it gracefully: deliveries
 * in flight are given back, sends in flight end.
 */
export const layer = <E = never>(
  config: Config,
  adapters: Adapters = standard,
  inFront: InFront<E> = Layer.empty,
  cryptography = Cryptography.layer
) => background.pipe(Layer.provideMerge(services(config, adapters, inFront, cryptography)))
