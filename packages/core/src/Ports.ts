/**
 * The list of storage ports. A storage is a `Layer` of all of them. The composition, the storages and the conformance
 * suites derive their types from this list, so a missing port does not compile.
 */
import type { Context } from "effect"
import { AlertStore } from "./alerts/AlertStore.ts"
import { AuditStore } from "./audit/AuditStore.ts"
import { CampaignStore } from "./campaigns/CampaignStore.ts"
import { ChangeStore } from "./changes/ChangeStore.ts"
import { ContactStore } from "./contacts/ContactStore.ts"
import { CustomerStore } from "./contacts/CustomerStore.ts"
import { EventStore } from "./events/EventStore.ts"
import { InboundPostStore } from "./inbound/InboundPostStore.ts"
import { ApiKeyStore } from "./keys/ApiKeyStore.ts"
import { RateLimitStore } from "./limits/RateLimitStore.ts"
import { MediaBytes } from "./media/MediaBytes.ts"
import { MediaStore } from "./media/MediaStore.ts"
import { MessageStore } from "./messages/MessageStore.ts"
import { PhoneNumberStore } from "./numbers/PhoneNumberStore.ts"
import { OutboxStore } from "./outbox/OutboxStore.ts"
import { FactorStore } from "./people/FactorStore.ts"
import { InvitationStore } from "./people/InvitationStore.ts"
import { MemberStore } from "./people/MemberStore.ts"
import { PasskeyStore } from "./people/PasskeyStore.ts"
import { PortalStore } from "./people/PortalStore.ts"
import { SessionStore } from "./people/SessionStore.ts"
import { QueueStore } from "./queue/QueueStore.ts"
import { KeptAnswerStore } from "./requests/KeptAnswerStore.ts"
import { RequestStore } from "./requests/RequestStore.ts"
import { RequestValuesStore } from "./requests/RequestValuesStore.ts"
import { PepperStore } from "./secrets/PepperStore.ts"
import { SealedSecretStore } from "./secrets/SealedSecretStore.ts"
import { Storage } from "./Storage.ts"
import { SubscriptionStore } from "./subscriptions/SubscriptionStore.ts"
import { TemplateStore } from "./templates/TemplateStore.ts"
import { UsageStore } from "./usage/UsageStore.ts"
import { DeliveryStore } from "./webhooks/DeliveryStore.ts"
import { ReplayStore } from "./webhooks/ReplayStore.ts"
import { WebhookStore } from "./webhooks/WebhookStore.ts"
import { WorkspaceStore } from "./workspaces/WorkspaceStore.ts"

/** Every storage port, by name. */
export const all = {
  AlertStore,
  ApiKeyStore,
  AuditStore,
  CampaignStore,
  ChangeStore,
  ContactStore,
  CustomerStore,
  DeliveryStore,
  EventStore,
  FactorStore,
  InboundPostStore,
  InvitationStore,
  KeptAnswerStore,
  MediaBytes,
  MediaStore,
  MemberStore,
  MessageStore,
  OutboxStore,
  PasskeyStore,
  PepperStore,
  PhoneNumberStore,
  PortalStore,
  QueueStore,
  RateLimitStore,
  ReplayStore,
  RequestStore,
  RequestValuesStore,
  SealedSecretStore,
  SessionStore,
  Storage,
  SubscriptionStore,
  TemplateStore,
  UsageStore,
  WebhookStore,
  WorkspaceStore
} as const

/** The name of a storage port. */
export type Name = keyof typeof all

/** The services of a storage: `Layer.Layer<Ports.Ports>`. */
export type Ports = Context.Service.Identifier<(typeof all)[Name]>
