/**
 * Every storage port of `@wac/core` in memory: exact and fast, and lost when the process ends.
 */
import type { Ports } from "@wac/core"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as AlertStore from "./alerts/AlertStore.ts"
import * as AuditStore from "./audit/AuditStore.ts"
import * as CampaignStore from "./campaigns/CampaignStore.ts"
import * as ChangeStore from "./changes/ChangeStore.ts"
import * as ContactStore from "./contacts/ContactStore.ts"
import * as CustomerStore from "./contacts/CustomerStore.ts"
import * as EventStore from "./events/EventStore.ts"
import * as InboundPostStore from "./inbound/InboundPostStore.ts"
import * as ApiKeyStore from "./keys/ApiKeyStore.ts"
import * as RateLimitStore from "./limits/RateLimitStore.ts"
import * as MediaBytes from "./media/MediaBytes.ts"
import * as MediaStore from "./media/MediaStore.ts"
import * as MessageStore from "./messages/MessageStore.ts"
import * as PhoneNumberStore from "./numbers/PhoneNumberStore.ts"
import * as OutboxStore from "./outbox/OutboxStore.ts"
import * as FactorStore from "./people/FactorStore.ts"
import * as InvitationStore from "./people/InvitationStore.ts"
import * as MemberStore from "./people/MemberStore.ts"
import * as PasskeyStore from "./people/PasskeyStore.ts"
import * as PortalStore from "./people/PortalStore.ts"
import * as SessionStore from "./people/SessionStore.ts"
import * as Polling from "./Polling.ts"
import * as QueueStore from "./queue/QueueStore.ts"
import * as KeptAnswerStore from "./requests/KeptAnswerStore.ts"
import * as RequestStore from "./requests/RequestStore.ts"
import * as RequestValuesStore from "./requests/RequestValuesStore.ts"
import * as PepperStore from "./secrets/PepperStore.ts"
import * as SealedSecretStore from "./secrets/SealedSecretStore.ts"
import { State } from "./State.ts"
import * as Storage from "./Storage.ts"
import * as SubscriptionStore from "./subscriptions/SubscriptionStore.ts"
import * as TemplateStore from "./templates/TemplateStore.ts"
import * as UsageStore from "./usage/UsageStore.ts"
import * as DeliveryStore from "./webhooks/DeliveryStore.ts"
import * as ReplayStore from "./webhooks/ReplayStore.ts"
import * as WebhookStore from "./webhooks/WebhookStore.ts"
import * as WorkspaceStore from "./workspaces/WorkspaceStore.ts"

/** {@link layer}, with identifiers of events and deliveries from the given randomness. */
export const layerNoRandom: Layer.Layer<Ports.Ports, never, SecureRandom.SecureRandom> = Layer.mergeAll(
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
  OutboxStore.layer,
  PhoneNumberStore.layer,
  Polling.layer,
  PortalStore.layer,
  QueueStore.layer,
  RateLimitStore.layer,
  ReplayStore.layer,
  KeptAnswerStore.layer,
  RequestStore.layer,
  RequestValuesStore.layer,
  SealedSecretStore.layer,
  SessionStore.layer,
  Storage.layer,
  SubscriptionStore.layer,
  TemplateStore.layer,
  UsageStore.layer,
  WebhookStore.layer,
  WorkspaceStore.layer
).pipe(Layer.provide(State.layer))

/** All ports over one state. Every build of the layer creates a new, empty one. */
export const layer: Layer.Layer<Ports.Ports> = Layer.provide(layerNoRandom, SecureRandom.layerWebCrypto)
