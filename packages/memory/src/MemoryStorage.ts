/**
 * Every storage port of `@wac/core`, in memory: exact and fast, lost at the process's end.
 */
import type * as Core from "@wac/core"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as ApiKeyStore from "./ApiKeyStore.ts"
import * as ContactStore from "./ContactStore.ts"
import * as DeliveryStore from "./DeliveryStore.ts"
import * as EventStore from "./EventStore.ts"
import * as InboundPostStore from "./InboundPostStore.ts"
import * as MemberStore from "./MemberStore.ts"
import * as MessageStore from "./MessageStore.ts"
import * as PepperStore from "./PepperStore.ts"
import * as PhoneNumberStore from "./PhoneNumberStore.ts"
import * as Polling from "./Polling.ts"
import * as RateLimitStore from "./RateLimitStore.ts"
import * as ReplayStore from "./ReplayStore.ts"
import * as SealedSecretStore from "./SealedSecretStore.ts"
import * as SessionStore from "./SessionStore.ts"
import { State } from "./State.ts"
import * as Storage from "./Storage.ts"
import * as TemplateStore from "./TemplateStore.ts"
import * as WebhookStore from "./WebhookStore.ts"
import * as WorkspaceStore from "./WorkspaceStore.ts"

/** Every port of a storage. */
export type Ports =
  | Core.ApiKeyStore.ApiKeyStore
  | Core.ContactStore.ContactStore
  | Core.DeliveryStore.DeliveryStore
  | Core.EventStore.EventStore
  | Core.InboundPostStore.InboundPostStore
  | Core.MemberStore.MemberStore
  | Core.MessageStore.MessageStore
  | Core.PepperStore.PepperStore
  | Core.PhoneNumberStore.PhoneNumberStore
  | Core.RateLimitStore.RateLimitStore
  | Core.ReplayStore.ReplayStore
  | Core.SealedSecretStore.SealedSecretStore
  | Core.SessionStore.SessionStore
  | Core.Storage.Storage
  | Core.TemplateStore.TemplateStore
  | Core.WebhookStore.WebhookStore
  | Core.WorkspaceStore.WorkspaceStore

/** All ports over one state; every building of the layer makes a new, empty one. */
export const layer: Layer.Layer<Ports> = Layer.mergeAll(
  ApiKeyStore.layer,
  ContactStore.layer,
  DeliveryStore.layer,
  EventStore.layer,
  InboundPostStore.layer,
  MemberStore.layer,
  MessageStore.layer,
  PepperStore.layer,
  PhoneNumberStore.layer,
  Polling.layer,
  RateLimitStore.layer,
  ReplayStore.layer,
  SealedSecretStore.layer,
  SessionStore.layer,
  Storage.layer,
  TemplateStore.layer,
  WebhookStore.layer,
  WorkspaceStore.layer
).pipe(Layer.provide([State.layer, SecureRandom.layerWebCrypto]))
