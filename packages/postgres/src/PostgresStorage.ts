/**
 * Every storage port of `@wac/core`, in PostgreSQL: on a server, or embedded in the process.
 */
import type { PgClient } from "@effect/sql-pg"
import type { Ports } from "@wac/core"
import { Effect, Layer, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import * as AlertStore from "./alerts/AlertStore.ts"
import * as AuditStore from "./audit/AuditStore.ts"
import * as CampaignStore from "./campaigns/CampaignStore.ts"
import * as ChangeStore from "./changes/ChangeStore.ts"
import * as ContactStore from "./contacts/ContactStore.ts"
import * as CustomerStore from "./contacts/CustomerStore.ts"
import { Database } from "./Database.ts"
import * as DataDirectory from "./DataDirectory.ts"
import * as EventStore from "./events/EventStore.ts"
import * as InboundPostStore from "./inbound/InboundPostStore.ts"
import * as ApiKeyStore from "./keys/ApiKeyStore.ts"
import * as RateLimitStore from "./limits/RateLimitStore.ts"
import * as MediaBytes from "./media/MediaBytes.ts"
import * as MediaStore from "./media/MediaStore.ts"
import * as MessageStore from "./messages/MessageStore.ts"
import * as Migrations from "./Migrations.ts"
import * as PhoneNumberStore from "./numbers/PhoneNumberStore.ts"
import { OpenError } from "./OpenError.ts"
import * as OutboxStore from "./outbox/OutboxStore.ts"
import * as FactorStore from "./people/FactorStore.ts"
import * as InvitationStore from "./people/InvitationStore.ts"
import * as MemberStore from "./people/MemberStore.ts"
import * as PasskeyStore from "./people/PasskeyStore.ts"
import * as PortalStore from "./people/PortalStore.ts"
import * as SessionStore from "./people/SessionStore.ts"
import * as PgliteClient from "./PgliteClient.ts"
import * as PostgresClient from "./PostgresClient.ts"
import * as QueueStore from "./queue/QueueStore.ts"
import * as KeptAnswerStore from "./requests/KeptAnswerStore.ts"
import * as RequestStore from "./requests/RequestStore.ts"
import * as RequestValuesStore from "./requests/RequestValuesStore.ts"
import { Schema } from "./Schema.ts"
import * as PepperStore from "./secrets/PepperStore.ts"
import * as SealedSecretStore from "./secrets/SealedSecretStore.ts"
import * as ServerUrl from "./ServerUrl.ts"
import * as Storage from "./Storage.ts"
import * as SubscriptionStore from "./subscriptions/SubscriptionStore.ts"
import * as TemplateStore from "./templates/TemplateStore.ts"
import type { Unlimited } from "./TimeLimits.ts"
import * as UsageStore from "./usage/UsageStore.ts"
import * as DeliveryStore from "./webhooks/DeliveryStore.ts"
import * as ReplayStore from "./webhooks/ReplayStore.ts"
import * as WebhookStore from "./webhooks/WebhookStore.ts"
import * as WorkspaceStore from "./workspaces/WorkspaceStore.ts"

/** The ports that are the same on a server and in an embedded database, over a database that has the schema. */
const anywhere = Layer.mergeAll(
  AlertStore.layer,
  ApiKeyStore.layer,
  AuditStore.layer,
  CampaignStore.layer,
  ChangeStore.layer,
  ContactStore.layer,
  CustomerStore.layer,
  DeliveryStore.layer,
  EventStore.layer,
  InboundPostStore.layer,
  FactorStore.layer,
  PasskeyStore.layer,
  InvitationStore.layer,
  MediaBytes.layer,
  MediaStore.layer,
  MemberStore.layer,
  MessageStore.layer,
  PepperStore.layer,
  PhoneNumberStore.layer,
  PortalStore.layer,
  QueueStore.layer,
  RateLimitStore.layer,
  ReplayStore.layer,
  KeptAnswerStore.layer,
  RequestStore.layer,
  RequestValuesStore.layer,
  SealedSecretStore.layer,
  SessionStore.layer,
  SubscriptionStore.layer,
  TemplateStore.layer,
  UsageStore.layer,
  WebhookStore.layer,
  WorkspaceStore.layer
).pipe(Layer.provide(SecureRandom.layerWebCrypto))

/** All ports over a database that has the schema, on a server. */
export const layer = Layer.merge(anywhere, OutboxStore.layer)

/** Brings the schema up to date, or only checks that it is. */
const schemaOf = (
  { migrate }: Pick<ServerOptions, "migrate">
): Effect.Effect<unknown, OpenError, PgClient.PgClient | Schema | Unlimited> =>
  migrate === false ? Migrations.check() : Migrations.run()

/** Prepares a server's schema, bypassing a pooler if there is a URL for that. */
const prepared = (options: ServerOptions) => {
  const { listenUrl } = options
  const run = schemaOf(options)
  return listenUrl === undefined
    ? run
    // use the schema that was already found, instead of searching again
    : Effect.flatMap(
      Schema,
      ({ name }) => Effect.provide(run, PostgresClient.layer({ url: listenUrl, maxConnections: 1, schema: name }))
    )
}

/** The options of {@link layerServer}. */
export interface ServerOptions extends PostgresClient.Options {
  /**
   * Whether to bring the schema up to date first (the default). If false, opening fails unless the schema is up to
   * date.
   */
  readonly migrate?: boolean
}

/** The ports on a PostgreSQL server (15 or later), which any number of processes may share. */
export const layerServer = (options: ServerOptions): Layer.Layer<Ports.Ports, OpenError> =>
  Layer.merge(layer, Storage.layer(serverName(options.url), true)).pipe(
    Layer.provide(Layer.merge(Database.layer, Layer.effectDiscard(prepared(options)))),
    Layer.provide(PostgresClient.layer(options))
  )

/** The options of {@link layerPool}. */
export interface PoolOptions extends PostgresClient.PoolOptions, Pick<ServerOptions, "migrate"> {}

/** The ports on a PostgreSQL server (15 or later) over a host's pool, which stays open. */
export const layerPool = (options: PoolOptions): Layer.Layer<Ports.Ports, OpenError> =>
  Layer.merge(layer, Storage.layer("PostgreSQL by the host's pool", true)).pipe(
    Layer.provide(Layer.merge(Database.layer, Layer.effectDiscard(schemaOf(options)))),
    Layer.provide(PostgresClient.layerPool(options))
  )

/** The options of {@link layerEmbedded}. */
export interface EmbeddedOptions extends PgliteClient.Options {
  /**
   * Whether to create the database if there is none, and bring its schema up to date (the default). If false, opening
   * fails unless the directory holds a database whose schema is up to date.
   */
  readonly migrate?: boolean
}

/** Fails if the directory must hold a database, and holds none. */
const found = ({ directory, migrate }: EmbeddedOptions): Effect.Effect<void, OpenError> =>
  Effect.suspend(() =>
    migrate === false && directory !== undefined && !DataDirectory.holdsDatabase(directory)
      ? Effect.fail(
        new OpenError({ message: `there is no database in ${directory}: see that this is the right directory` })
      )
      : Effect.void
  )

/** The ports on a database in this process, which uses its directory exclusively. */
export const layerEmbedded = (options: EmbeddedOptions): Layer.Layer<Ports.Ports, OpenError> =>
  Layer.mergeAll(
    anywhere,
    OutboxStore.layerEmbedded,
    Storage.layer(
      `embedded PostgreSQL in ${options.directory ?? "memory"}`,
      options.directory !== undefined
    )
  ).pipe(
    Layer.provide(Layer.merge(Database.layer, Layer.effectDiscard(schemaOf(options)))),
    Layer.provide(PgliteClient.layer(options)),
    Layer.provide(Layer.effectDiscard(found(options)))
  )

/** Brings a server's schema up to date. */
export const migrateServer = (options: PostgresClient.Options) =>
  Effect.provide(Migrations.run(), PostgresClient.layer({ ...options, url: options.listenUrl ?? options.url }))

/** Brings an embedded database's schema up to date. Creates the database first if there is none. */
export const migrateEmbedded = (options: PgliteClient.Options) =>
  Effect.provide(Migrations.run(), PgliteClient.layer(options))

const serverName = (url: Redacted.Redacted): string =>
  Result.match(ServerUrl.parse(Redacted.value(url)), {
    onFailure: () => "PostgreSQL",
    onSuccess: ({ name }) => `PostgreSQL at ${name}`
  })
