/**
 * Everything that `wac` exports: the package `wac` is this module, with everything that it needs in one package. From
 * here, `createWac` uses the host's own `effect`, so that it accepts Layers (`Adapter`).
 */
import "./NodeVersion.ts"

export type { Contacts } from "./contacts/Contacts.ts"
export type { CustomerRecord, Customers, Erasure } from "./contacts/Customers.ts"
export type { Events, Listener, On } from "./events/Events.ts"
export { type FakeClock, fakeClock, type Span } from "./FakeClock.ts"
export type * from "./generated/AccountTemplates.ts"
export type * from "./generated/ErrorReasons.ts"
export type * from "./generated/Event.ts"
export type * from "./generated/MessageContents.ts"
export type * from "./generated/Messaging.ts"
export type * from "./generated/Resources.ts"
export type { Template } from "./generated/Resources.ts"
export type { Handler, NodeHandler } from "./Handlers.ts"
export type { CustomerMessage, Inbound, Received, StatusReport, Told } from "./inbound/Inbound.ts"
export type { OneContent } from "./inbound/OneContent.ts"
export type { Json } from "./Json.ts"
export type { ApiKeys } from "./keys/ApiKeys.ts"
export type { Log, LogEntry } from "./Log.ts"
export type { Media, OpenedFile } from "./media/Media.ts"
export { type MediaStore, s3, type S3MediaStore } from "./media/MediaStore.ts"
export type { EnqueuedMessage, InTransaction } from "./messages/Enqueuing.ts"
export type { FreeFormMessage, Messages } from "./messages/Messages.ts"
export type { Query, Transaction } from "./messages/Transaction.ts"
export type { NumberCredentials, PhoneNumbers } from "./numbers/PhoneNumbers.ts"
export type { Limits, MasterKey, Rate, ReceiverRules, Retention, WacOptions } from "./Options.ts"
export {
  type Auth,
  type HostAuth,
  type HostSession,
  local,
  type LocalAuth,
  type SessionRequest
} from "./people/Auth.ts"
export type { NewPortalLink, Portal, PortalLink, PortalTheme } from "./people/Portal.ts"
export type {
  Capabilities,
  CustomProvider,
  OutboundMessage,
  OutboundMessageOf,
  ProviderDefinition,
  ProviderOutcome,
  ProviderTemplate,
  Sender
} from "./provider/CustomProvider.ts"
export {
  defineProvider,
  type LayerProvider,
  type Provider,
  sandbox,
  type SandboxProvider
} from "./provider/Provider.ts"
export {
  type LayerStorage,
  memory,
  type MemoryStorage,
  pglite,
  type PgliteStorage,
  type PooledStorage,
  postgres,
  type PostgresStorage,
  type Storage
} from "./Storage.ts"
export type {
  FailedEvent,
  Subscribe,
  SubscribeOptions,
  SubscriptionFilter,
  SubscriptionHandler,
  Subscriptions,
  SubscriptionStatus,
  Try
} from "./subscriptions/Subscriptions.ts"
export type { Templates } from "./templates/Templates.ts"
export type { TimeInput } from "./TimeInput.ts"
export type { UnknownName } from "./UnknownName.ts"
export type { Usage } from "./usage/Usage.ts"
export { createWac, type Wac, type WorkOptions, type Workspace } from "./Wac.ts"
export { type ErrorDetails, WacError } from "./WacError.ts"
export type { Deliveries, Replays, Webhook, WebhookConfiguration } from "./webhooks/Webhook.ts"
export { whatsapp, type WhatsAppOptions, type WhatsAppProvider } from "./WhatsApp.ts"
export type { NewWorkspace, WorkspaceInfo, Workspaces } from "./workspaces/Workspaces.ts"
