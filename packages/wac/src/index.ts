/**
 * The service inside your own application: promises, a fetch handler and typed errors, without Effect.
 */
import "./NodeVersion.ts"

export type {
  Campaign,
  CampaignChange,
  CampaignComparison,
  CampaignCounts,
  CampaignDifference,
  CampaignForecast,
  CampaignOutcome,
  CampaignRecipient,
  CampaignRow,
  Campaigns,
  CampaignStatus,
  CampaignVariant,
  NewCampaign,
  PauseReason,
  QuietHours
} from "./campaigns/Campaigns.ts"
export type { Contact, ContactFilter, Contacts } from "./contacts/Contacts.ts"
export type { CustomerRecord, Customers, Erasure } from "./contacts/Customers.ts"
export type {
  CampaignCompleted,
  Event,
  EventFilter,
  EventOf,
  Events,
  EventType,
  Listener,
  MessageDelivered,
  MessageEchoed,
  MessageFailed,
  MessageRead,
  MessageReceived,
  MessageSent,
  On,
  WebhookTest
} from "./events/Events.ts"
export { type FakeClock, fakeClock, type Span } from "./FakeClock.ts"
export type * from "./generated/ErrorReasons.ts"
export type * from "./generated/MessageContents.ts"
export type { Handler, NodeHandler } from "./Handlers.ts"
export type { CustomerMessage, Inbound, StatusReport, Told } from "./inbound/Inbound.ts"
export type {
  Json,
  OneContent,
  ReceivedContent,
  ReceivedContext,
  ReceivedInteractive,
  ReceivedMedia
} from "./inbound/ReceivedContent.ts"
export type { ApiKey, ApiKeys, ApiScope, CreatedApiKey, ListedApiKey, NewApiKey } from "./keys/ApiKeys.ts"
export type { Listing, Page, PageQuery } from "./Listing.ts"
export type { Log, LogEntry } from "./Log.ts"
export type { Media, NewFile, OpenedFile, StoredFile } from "./media/Media.ts"
export { type MediaStore, s3, type S3MediaStore } from "./media/MediaStore.ts"
export type {
  AnyMessage,
  ConversationFilter,
  FreeFormMessage,
  InboundMessage,
  Message,
  MessageFilter,
  Messages,
  NewMessage,
  Pricing,
  ReadOptions,
  SendOptions,
  SentMessage,
  TemplateMessage
} from "./messages/Messages.ts"
export {
  type CustomProvider,
  type LayerProvider,
  type OutboundMessage,
  type Provider,
  type ProviderOutcome,
  type ProviderTemplate,
  sandbox,
  type SandboxProvider,
  type Sender
} from "./messages/Provider.ts"
export type { Moment } from "./Moment.ts"
export type { NumberCredentials, PhoneNumber, PhoneNumbers } from "./numbers/PhoneNumbers.ts"
export type { Limits, MasterKey, Rate, ReceiverRules, Retention, WacOptions } from "./Options.ts"
export {
  type Auth,
  type HostAuth,
  type HostSession,
  local,
  type LocalAuth,
  type Role,
  type SessionRequest
} from "./people/Auth.ts"
export type { NewPortalLink, Portal, PortalLink } from "./people/Portal.ts"
export {
  type LayerStorage,
  memory,
  type MemoryStorage,
  pglite,
  type PgliteStorage,
  postgres,
  type PostgresStorage,
  type Storage
} from "./Storage.ts"
export type {
  BodyComponent,
  ButtonComponent,
  ButtonsComponent,
  CarouselComponent,
  FooterComponent,
  HeaderComponent,
  NamedSample,
  OfferComponent,
  TemplateCategory,
  TemplateComponent
} from "./templates/TemplateComponents.ts"
export type { NewTemplate, Template, TemplateEdit, TemplateFilter, Templates } from "./templates/Templates.ts"
export type { Usage, UsageLine, UsagePeriod, UsageReport, UsageStep } from "./usage/Usage.ts"
export { createWac, type Wac, type Workspace } from "./Wac.ts"
export { type ErrorCode, type ErrorDetails, type ErrorReason, type ProviderDetail, WacError } from "./WacError.ts"
export type {
  Attempt,
  Deliveries,
  Delivery,
  DeliveryDetail,
  DeliveryFilter,
  DeliveryStatus,
  Envelope,
  NewReplay,
  NewWebhook,
  Replay,
  Replays,
  SetWebhook,
  Webhook,
  WebhookConfiguration,
  WebhookState,
  WebhookStatus
} from "./webhooks/Webhook.ts"
export { whatsapp, type WhatsAppOptions, type WhatsAppProvider } from "./WhatsApp.ts"
export type { NewWorkspace, WorkspaceInfo, Workspaces } from "./workspaces/Workspaces.ts"
