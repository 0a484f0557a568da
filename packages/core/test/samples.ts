/**
 * Complete and simple values of the domain, for tests of pure decisions.
 */
import type { Contact } from "../src/contacts/Contact.ts"
import type { Event } from "../src/events/Event.ts"
import type { ByPrefix } from "../src/Id.ts"
import type { ApiKey } from "../src/keys/ApiKey.ts"
import type { Message, OutboundMessage, Report } from "../src/messages/Message.ts"
import type { SendBinding } from "../src/messages/SendBinding.ts"
import { type PhoneNumber, unlearned } from "../src/numbers/PhoneNumber.ts"
import type { Template } from "../src/templates/Template.ts"
import type { Attempt, Delivery } from "../src/webhooks/Delivery.ts"
import type { Webhook } from "../src/webhooks/Webhook.ts"
import { initial, type WebhookHealth } from "../src/webhooks/WebhookHealth.ts"

/** The `n`th identifier of a kind. */
export const id = <Prefix extends keyof ByPrefix>(prefix: Prefix, n = 1): ByPrefix[Prefix] =>
  `${prefix}_${String(n).padStart(26, "0")}` as ByPrefix[Prefix]

/** 2026-01-02T03:04:05.678Z. */
export const start = 1_767_323_045_678

export const customer = "+12025550123"

export const apiKey = (fields: Partial<ApiKey> = {}): ApiKey => ({
  id: id("key"),
  workspaceId: id("ws"),
  name: "a key",
  prefix: "wac_live_aZ09",
  scopes: ["messages:send"],
  tokenHash: "00",
  signingSecret: { keyId: "k", nonce: new Uint8Array(12), ciphertext: new Uint8Array(48) },
  phoneNumberIds: null,
  allowedCidrs: null,
  requireSignature: false,
  createdAt: start,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  ...fields
})

export const text = (fields: { readonly from?: string; readonly clientReference?: string } = {}): OutboundMessage => ({
  type: "text",
  to: customer,
  text: { body: "How are you?" },
  ...fields
})

export const templated = (
  bodyParams?: ReadonlyArray<string>,
  fields: { readonly from?: string } = {}
): OutboundMessage => ({
  type: "template",
  to: customer,
  template: { name: "order", language: "en_US", ...(bodyParams === undefined ? {} : { bodyParams }) },
  ...fields
})

export const message = (fields: Partial<Message> = {}): Message => ({
  id: id("msg"),
  workspaceId: id("ws"),
  apiKeyId: id("key"),
  campaignId: null,
  variant: null,
  phoneNumberId: id("pn"),
  from: "+14155550100",
  content: text(),
  status: "sending",
  statusAt: start,
  providerMessageId: null,
  createdAt: start,
  sendAt: null,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  failedAt: null,
  error: null,
  pricing: null,
  playedAt: null,
  isHeld: false,
  sequence: 0,
  ...fields
})

export const report = (status: Report["status"], at: number, fields: Partial<Report> = {}): Report => ({
  status,
  at,
  providerMessageId: "wamid.1",
  error: status === "failed" ? { code: "forbidden", reason: "provider_policy", message: "no" } : null,
  ...fields
})

export const binding = (fields: Partial<SendBinding> = {}): SendBinding => ({
  fingerprint: "one",
  messageId: id("msg"),
  claim: null,
  answer: null,
  lastFailure: null,
  expiresAt: null,
  ...fields
})

export const sender = (fields: Partial<PhoneNumber> = {}): PhoneNumber => ({
  id: id("pn"),
  workspaceId: id("ws"),
  provider: "sandbox",
  phoneNumber: "+14155550100",
  providerNumberId: "1",
  providerAccountId: "1",
  tier: null,
  messagingLimit: null,
  portfolioId: null,
  available: true,
  block: null,
  learned: unlearned,
  credentialsVersion: null,
  isDefault: true,
  ...fields
})

export const template = (fields: Partial<Template> = {}): Template => ({
  id: id("tpl"),
  workspaceId: id("ws"),
  providerAccountId: "account-1",
  providerTemplateId: "1",
  name: "order",
  language: "en_US",
  category: "utility",
  status: "approved",
  parameterFormat: "positional",
  components: [{ type: "BODY", text: "Order {{1}} is {{2}}." }],
  quality: null,
  rejectionReason: null,
  variables: ["1", "2"],
  unfillable: null,
  syncedAt: start,
  ...fields
})

export const contact = (fields: Partial<Contact> = {}): Contact => ({
  workspaceId: id("ws"),
  phoneNumberId: id("pn"),
  key: customer,
  customer: { phone: customer, userId: null },
  isUserFirst: false,
  knownSince: start,
  lastInboundAt: null,
  optedOut: false,
  preferenceAt: null,
  ...fields
})

export const event = (fields: Partial<Event> = {}): Event => ({
  id: id("evt"),
  workspaceId: id("ws"),
  type: "message.sent",
  createdAt: start,
  orderKey: id("msg"),
  sequence: 1,
  data: {},
  trace: null,
  ...fields
})

export const health = (fields: Partial<WebhookHealth> = {}): WebhookHealth => ({ ...initial, ...fields })

export const webhook = (fields: Partial<Webhook> = {}): Webhook => ({
  id: id("whk"),
  workspaceId: id("ws"),
  url: "https://receiver.example/",
  envelope: "combined",
  eventTypes: ["message.sent"],
  secrets: [],
  createdAt: start,
  updatedAt: start,
  pausedAt: null,
  resumedAt: null,
  health: initial,
  ...fields
})

export const delivery = (fields: Partial<Delivery> = {}): Delivery => ({
  id: id("dlv"),
  workspaceId: id("ws"),
  webhookId: id("whk"),
  eventId: id("evt"),
  eventType: "message.sent",
  envelope: "combined",
  orderKey: id("msg"),
  sequence: 1,
  status: "pending",
  trigger: "automatic",
  attemptCount: 0,
  roundAttempts: 0,
  firstAttemptAt: null,
  lastAttemptAt: null,
  nextAttemptAt: start,
  createdAt: start,
  completedAt: null,
  ...fields
})

/** An attempt that by default got 500 after a second. */
export const attempt = (fields: Partial<Attempt> = {}): Attempt => ({
  id: id("att"),
  number: 1,
  trigger: "automatic",
  startedAt: start,
  durationMs: 1000,
  outcome: "status",
  statusCode: 500,
  message: "answered 500; only 200 counts",
  url: "https://receiver.example/hooks",
  address: "192.0.2.1",
  timings: null,
  response: null,
  retryAfter: null,
  ...fields
})
