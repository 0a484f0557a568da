/**
 * Examples for the OpenAPI document: a request and an answer of every operation, by its id.
 */
import { Predicate, type Schema } from "effect"
import type { OperationId } from "./Endpoints.ts"
import * as MessageExamples from "./messages/MessageExamples.ts"
import * as SnakeCase from "./SnakeCase.ts"

/** What one operation is shown with: nothing of what has no body. */
export interface Example {
  readonly request?: Schema.Json
  /** Several requests, by name, in place of one. */
  readonly requests?: { readonly [name: string]: Schema.Json }
  readonly response?: Schema.Json
}

/** A request's own id. */
export const requestId = "req_01K8ZQ4V5S8WV1K2M4N6P7Q9AB"

const message = {
  status: "delivered",
  message_id: "msg_01K8ZQ4V6T9XW2M3N5P7R8S0AB",
  provider_message_id: "wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI5QTNDQTVC",
  tenant_id: "ws_01K8ZPZ0M4C6D8F2G3H5J7K9QR",
  api_key_id: "key_01K8ZQ1B3C5D7E9F0G2H4J6K8M"
}

const page = { has_more: false, next_cursor: null }
const internalPage = { hasMore: false, nextCursor: null }

const times = { createdAt: "2026-01-02T03:04:05.678Z", completedAt: "2026-01-02T03:04:06.120Z" }

const event = {
  id: "evt_01K8ZQ50S2T4V6W8X0Y1Z3A5BC",
  object: "event",
  type: "message.delivered",
  created_at: "2026-01-02T03:04:05.678Z",
  tenant_id: message.tenant_id,
  data: {
    message_id: message.message_id,
    provider_message_id: message.provider_message_id,
    to: "+15551234567",
    status: "delivered",
    delivered_at: "2026-01-02T03:04:05.600Z",
    sequence: 2,
    client_reference: "order-1042"
  }
}

const shownMessage = {
  id: message.message_id,
  status: message.status,
  providerMessageId: message.provider_message_id,
  apiKeyId: message.api_key_id,
  to: "+15551234567",
  from: "+15550001111",
  type: "template",
  createdAt: "2026-01-02T03:04:05.000Z"
}

const contact = {
  id: "pn_01K8ZPZ0Q7F9G1H5J6K8M0N2VW:+15551234567",
  phoneNumberId: "pn_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
  phone: "+15551234567",
  userId: null,
  lastInboundAt: "2026-01-02T03:00:00.000Z",
  windowOpenUntil: "2026-01-03T03:00:00.000Z",
  optedOut: false,
  preferenceAt: null
}

const optOutWords = {
  stopWords: ["genug"],
  startWords: [],
  removed: ["end"],
  defaults: [{ language: "en", stopWords: ["stop", "unsubscribe"], startWords: ["start"] }]
}

const template = {
  id: "tpl_01K8ZPZ1P6E8F0G4H5J7K9M1TV",
  name: "order_update",
  language: "en_US",
  category: "utility",
  status: "approved",
  components: [{ type: "BODY", text: "Hi {{1}}, your order {{2}} is on its way." }],
  variables: ["1", "2"],
  quality: "green"
}

const shownTemplate = {
  ...template,
  parameterFormat: "positional",
  unfillable: null,
  rejectionReason: null,
  providerTemplateId: "1407680676729941",
  syncedAt: "2026-01-02T03:00:00.000Z"
}

const unreviewed = {
  status: "pending",
  components: [{ type: "BODY", text: "Your order is on its way." }],
  variables: [],
  quality: null
}

const listedKey = {
  id: message.api_key_id,
  name: "order service",
  scopes: ["messages:send", "messages:read", "media:write"],
  lastUsedAt: "2026-01-02T03:04:00.000Z"
}

const session = {
  userId: "usr_01K8ZPZ0N5D7E9G3H4J6K8M0ST",
  email: "ana@example.com",
  role: "owner",
  workspaceId: message.tenant_id,
  workspaceName: "Ana's flowers"
}

const configuration = {
  id: "whk_01K8ZQ2C4D6E8F0G1H3J5K7M9N",
  url: "https://example.com/webhooks",
  status: "active",
  envelope: "combined",
  eventTypes: ["message.sent", "message.delivered", "message.read", "message.failed", "message.received"],
  createdAt: "2026-01-02T03:00:00.000Z",
  updatedAt: "2026-01-02T03:00:00.000Z"
}

const webhookStatus = { ...configuration, failingSince: null, pausedAt: null, lastFailure: null }

const webhook = {
  ...webhookStatus,
  pausesAt: null,
  heldCount: 0,
  oldestHeldAt: null
}

const attempt = {
  id: "att_01K8ZQ51T3V5W7X9Y0Z2A4B6CD",
  number: 1,
  trigger: "automatic",
  startedAt: "2026-01-02T03:04:05.700Z",
  durationMs: 84,
  outcome: "delivered",
  statusCode: 200,
  message: "answered 200",
  timings: { lookupMs: 4, connectMs: 18, tlsMs: 22, firstByteMs: 38, bodyMs: 2 },
  request: {
    url: configuration.url,
    address: "203.0.113.10",
    headers: { "content-type": "application/json", "webhook-id": event.id },
    body: JSON.stringify(event)
  },
  response: { headers: { "content-type": "text/plain" }, body: "ok" }
}

const test = {
  ...attempt,
  trigger: "test",
  request: {
    ...attempt.request,
    body: JSON.stringify({
      ...event,
      type: "webhook.test",
      data: { webhook_id: configuration.id, tested_at: event.created_at }
    })
  }
}

const delivery = {
  id: "dlv_01K8ZQ50V4W6X8Y0Z1A3B5C7DE",
  eventId: event.id,
  eventType: event.type,
  status: "delivered",
  attemptCount: 1,
  nextAttemptAt: null,
  ...times
}

const replay = {
  id: "job_01K8ZQ6D7E9F1G2H4J5K7M8N0P",
  state: "running",
  since: "2026-01-01T00:00:00.000Z",
  until: "2026-01-02T00:00:00.000Z",
  status: "exhausted",
  total: 1200,
  replayed: 300,
  createdAt: "2026-01-02T03:04:05.678Z",
  completedAt: null
}

const newCampaign = {
  name: "Spring offer",
  template: { name: "spring_offer", language: "en_US", bodyParams: ["{{first_name}}"] },
  templateB: { name: "spring_offer_short", language: "en_US" },
  startAt: "2026-01-03T08:00:00.000Z",
  quietHours: { from: "21:00", to: "08:00" },
  share: 0.5
}

const campaign = {
  ...newCampaign,
  id: "cmp_01K8ZQ8F6G0H2J4K6M8N0P2Q4R",
  status: "running",
  pausedReason: null,
  from: null,
  notAfter: null,
  maxFailureRate: 0.2,
  holdout: 0,
  createdAt: "2026-01-02T03:04:05.678Z",
  startedAt: "2026-01-03T08:00:00.012Z",
  completedAt: null,
  rows: 1205,
  checked: 1205,
  problems: 5,
  forecast: {
    messages: 1200,
    limitedCustomers: 1100,
    messagingLimit: 2000,
    days: 1,
    seconds: 30,
    lines: [{
      market: "DE",
      category: "marketing",
      type: "regular",
      billable: true,
      messages: 1200,
      cost: { currency: "USD", amount: "163.80", ratesFrom: "2026-01-01" }
    }],
    costs: [{ currency: "USD", amount: "163.80" }]
  },
  counts: { total: 1200, queued: 700, sent: 100, delivered: 320, read: 75, failed: 4, held: 0, unknown: 1, skipped: 0 },
  reasons: [{ outcome: "failed", reason: "undeliverable", recipients: 4 }],
  comparison: {
    counts: {
      a: { total: 602, queued: 350, sent: 52, delivered: 158, read: 39, failed: 2, held: 0, unknown: 1, skipped: 0 },
      b: { total: 598, queued: 350, sent: 48, delivered: 162, read: 36, failed: 2, held: 0, unknown: 0, skipped: 0 }
    },
    delivered: { a: 0.782, b: 0.798, difference: 0.017, low: -0.055, high: 0.088, isDistinguishable: false },
    read: { a: 0.155, b: 0.145, difference: -0.01, low: -0.073, high: 0.053, isDistinguishable: false }
  }
}

const noRecipients = {
  total: 0,
  queued: 0,
  sent: 0,
  delivered: 0,
  read: 0,
  failed: 0,
  held: 0,
  unknown: 0,
  skipped: 0
}

const draft = {
  ...campaign,
  status: "draft",
  startedAt: null,
  rows: 0,
  checked: 0,
  problems: 0,
  forecast: null,
  counts: noRecipients,
  reasons: [],
  comparison: { counts: { a: noRecipients, b: noRecipients }, delivered: null, read: null }
}

const campaignRows = [
  {
    row: 1,
    problem: null,
    messageId: message.message_id,
    to: "+15551234567",
    variant: "a",
    status: "delivered",
    outcome: "delivered",
    error: null
  },
  {
    row: 2,
    problem: {
      reason: "duplicate",
      message: "an earlier row has the same customer",
      line: 3,
      value: "+1 (555) 123-4567"
    },
    messageId: null,
    to: null,
    variant: null,
    status: null,
    outcome: null,
    error: null
  }
]

const changedCampaign = { share: 0.3, notAfter: null }

/** Under `/v1`: the names of fields in snake_case, except in templates, which have the same names everywhere. */
const onWire = (value: Schema.Json): Schema.Json =>
  Array.isArray(value)
    ? value.map(onWire)
    : Predicate.isObject(value)
    ? Object.fromEntries(
      Object.entries(value as Schema.JsonObject).map((
        [name, part]
      ) => [SnakeCase.nameOf(name), name.startsWith("template") ? part : onWire(part)])
    )
    : value

const secret = "whsec_8Kq2vN5xT1bR7mJ4wY0zC3dF6gH9sL2pQ5eA8uX1"

const storedMessage = {
  direction: "outbound",
  ...message,
  to: "+15551234567",
  from: "+15550001111",
  type: "template",
  created_at: "2026-01-02T03:04:05.000Z",
  sent_at: "2026-01-02T03:04:05.300Z",
  delivered_at: "2026-01-02T03:04:05.600Z",
  read_at: null,
  failed_at: null,
  error: null,
  client_reference: "order-1042",
  pricing: null,
  played_at: null
}

const inboundMessage = {
  direction: "inbound",
  status: "received",
  message_id: "msg_01K8ZQ6W7X8Y9Z0A1B2C3D4E5F",
  provider_message_id: "wamid.HBgLMTU1NTEyMzQ1NjcVAgASGBQzQTlGQ0Y",
  tenant_id: message.tenant_id,
  from: "+15551234567",
  from_user_id: null,
  to: "+15550001111",
  type: "text",
  text: { body: "Thank you!" },
  context: { message_id: message.message_id, provider_message_id: message.provider_message_id },
  received_at: "2026-01-02T03:05:07.000Z"
}

/** Of every operation, by its id. */
export const byOperation: { readonly [id in OperationId]: Example } = {
  "messages.send": {
    requests: MessageExamples.requests,
    response: { ...message, status: "sent" }
  },
  "messages.list": { response: { data: [inboundMessage, storedMessage], ...page } },
  "messages.read": { request: { typing: true }, response: { message_id: message.message_id, status: "read" } },
  "messages.get": { response: storedMessage },
  "media.upload": {
    response: {
      media_id: "med_01K8ZQ4V6T9XW2M3N5P7R8S0AB",
      mime_type: "image/png",
      size: 48_213,
      sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      filename: "receipt.png",
      expires_at: "2026-02-01T03:04:05.678Z"
    }
  },
  "media.open": {},
  "media.remove": {},
  "messagesDashboard.send": {
    request: {
      to: "+15551234567",
      type: "template",
      template: { name: "order_update", language: "en_US", bodyParams: ["Ana", "1042"] }
    },
    response: {
      status: "sent",
      messageId: message.message_id,
      providerMessageId: message.provider_message_id,
      tenantId: message.tenant_id,
      apiKeyId: null
    }
  },
  "messagesDashboard.list": { response: { data: [shownMessage], ...internalPage } },
  "messagesDashboard.get": {
    response: {
      ...shownMessage,
      sentAt: "2026-01-02T03:04:05.300Z",
      deliveredAt: "2026-01-02T03:04:05.600Z",
      readAt: null,
      failedAt: null,
      error: null,
      clientReference: "order-1042"
    }
  },
  "contacts.list": { response: { data: [contact], ...internalPage } },
  "contacts.get": { response: contact },
  "contacts.messages": {
    response: {
      data: [
        {
          id: inboundMessage.message_id,
          direction: "inbound",
          status: "received",
          from: inboundMessage.from,
          to: inboundMessage.to,
          type: "text",
          content: inboundMessage.text,
          context: inboundMessage.context,
          at: inboundMessage.received_at
        },
        {
          id: message.message_id,
          direction: "outbound",
          status: "delivered",
          from: storedMessage.from,
          to: storedMessage.to,
          type: "template",
          content: { name: "order_update", language: "en_US", bodyParams: ["Ana", "1042"] },
          context: null,
          at: storedMessage.created_at
        }
      ],
      ...internalPage
    }
  },
  "contacts.optOut": { response: { ...contact, optedOut: true, preferenceAt: "2026-01-02T03:04:05.000Z" } },
  "contacts.optIn": { response: contact },
  "optOuts.set": {
    request: {},
    response: {
      contact: "+15551234567",
      opted_out: true,
      opted_out_at: "2026-01-02T03:04:05.000Z",
      source: "api"
    }
  },
  "optOuts.end": {
    request: {},
    response: { contact: "+15551234567", opted_out: false, opted_out_at: null, source: null }
  },
  "suppressions.words": { response: optOutWords },
  "suppressions.setWords": {
    request: { stopWords: ["genug"], startWords: [], removed: ["end"] },
    response: optOutWords
  },
  "suppressions.export": {
    response: {
      others: 2,
      names: [{
        name: "+15551234567",
        phoneNumberId: null,
        optedOutAt: "2026-01-02T03:04:05.000Z",
        source: "import"
      }]
    }
  },
  "suppressions.import": {
    response: { added: 1204, already: 1, refused: [{ line: 7, value: "12", reason: "name must be a phone number" }] }
  },
  "templates.list": {
    response: {
      data: [{
        ...template,
        parameter_format: "positional",
        rejection_reason: null,
        provider_template_id: "1407680676729941",
        synced_at: "2026-01-02T03:00:00.000Z"
      }],
      ...page
    }
  },
  "templatesDashboard.list": { response: { data: [shownTemplate], ...internalPage } },
  "templatesDashboard.create": {
    request: {
      name: "order_update",
      language: "en_US",
      category: "utility",
      components: [
        { type: "BODY", text: "Your order is on its way." },
        { type: "BUTTONS", buttons: [{ type: "QUICK_REPLY", text: "Thanks" }] }
      ]
    },
    response: { ...shownTemplate, ...unreviewed }
  },
  "templatesDashboard.edit": {
    request: { components: [{ type: "BODY", text: "Your order is on its way." }] },
    response: { ...shownTemplate, ...unreviewed }
  },
  "templatesDashboard.remove": {},
  "templatesDashboard.sync": { response: { count: 12, syncedAt: "2026-01-02T03:04:05.678Z" } },
  "apiKeys.list": { response: { data: [listedKey], ...internalPage } },
  "apiKeys.get": {
    response: {
      ...listedKey,
      prefix: "wac_live_7Gx2",
      createdAt: "2026-01-02T03:00:00.000Z",
      expiresAt: null,
      revokedAt: null,
      requireSignature: false,
      phoneNumberIds: null,
      allowedCidrs: ["203.0.113.0/24"]
    }
  },
  "apiKeys.create": {
    request: { name: "order service" },
    response: {
      id: listedKey.id,
      name: listedKey.name,
      prefix: "wac_live_7Gx2",
      apiKey: "wac_live_…",
      signingSecret: secret,
      scopes: listedKey.scopes,
      createdAt: "2026-01-02T03:00:00.000Z"
    }
  },
  "apiKeys.revoke": {},
  "signIn.signIn": { request: { email: session.email, password: "correct horse battery" }, response: session },
  "signIn.setUp": {
    request: {
      token: "…",
      email: session.email,
      password: "correct horse battery",
      workspaceName: session.workspaceName
    },
    response: session
  },
  "signInMethod.get": { response: { method: "password" } },
  "session.get": { response: session },
  "session.signOut": {},
  "account.workspaces": {
    response: {
      data: [{ id: session.workspaceId, name: session.workspaceName, role: session.role, isCurrent: true }],
      hasMore: false,
      nextCursor: null
    }
  },
  "account.switchWorkspace": { request: { workspaceId: session.workspaceId }, response: session },
  "account.confirmSession": { request: { password: "correct horse battery" } },
  "account.sessions": {
    response: {
      data: [{
        id: "ses_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
        createdAt: "2026-01-02T03:00:00.000Z",
        expiresAt: "2026-01-09T03:00:00.000Z",
        address: "203.0.113.7",
        agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
        isCurrent: true
      }],
      hasMore: false,
      nextCursor: null
    }
  },
  "account.endSession": {},
  "account.endOtherSessions": {},
  "account.changePassword": { request: { current: "correct horse battery", new: "another horse battery" } },
  "passwordReset.request": { request: { email: session.email } },
  "passwordReset.reset": { request: { token: "…", password: "another horse battery" } },
  "members.list": {
    response: {
      data: [
        {
          id: session.userId,
          email: session.email,
          role: session.role,
          status: "active",
          createdAt: "2026-01-02T03:00:00.000Z",
          expiresAt: null,
          invitedBy: null
        },
        {
          id: "inv_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
          email: "ben@example.com",
          role: "developer",
          status: "invited",
          createdAt: "2026-01-02T03:04:05.678Z",
          expiresAt: "2026-01-09T03:04:05.678Z",
          invitedBy: { userId: session.userId, email: session.email }
        }
      ],
      hasMore: false,
      nextCursor: null
    }
  },
  "members.invite": {
    request: { email: "ben@example.com", role: "developer" },
    response: {
      id: "inv_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
      inviteUrl: "https://wac.example.com/dashboard/invitation#token=…",
      expiresAt: "2026-01-09T03:04:05.678Z"
    }
  },
  "members.change": {
    request: { role: "admin" },
    response: {
      id: session.userId,
      email: session.email,
      role: "admin",
      status: "active",
      createdAt: "2026-01-02T03:00:00.000Z",
      expiresAt: null,
      invitedBy: null
    }
  },
  "members.remove": {},
  "members.endSessions": {},
  "invitations.accept": { request: { token: "…", password: "correct horse battery" }, response: session },
  "portal.open": { request: { token: "…" }, response: session },
  "phoneNumbers.list": {
    response: {
      data: [{
        id: "pn_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
        phoneNumber: "+15550001111",
        isDefault: true,
        provider: "whatsapp",
        providerNumberId: "106540352242922",
        providerAccountId: "102290129340398",
        portfolioId: "2729063490586005",
        status: "available",
        block: null,
        tier: "standard",
        messagesPerSecond: 80,
        messagingLimit: null,
        quality: "green"
      }],
      ...internalPage
    }
  },
  "webhook.get": { response: webhook },
  "webhook.put": {
    request: { url: configuration.url, eventTypes: configuration.eventTypes },
    response: { ...configuration, signingSecret: secret }
  },
  "webhook.remove": {},
  "webhook.rotateSecret": {
    request: { overlapSeconds: 86_400 },
    response: { signingSecret: secret, previousExpiresAt: "2026-01-03T03:04:05.678Z" }
  },
  "webhook.test": { response: test },
  "webhook.pause": { response: { ...webhookStatus, status: "paused", pausedAt: "2026-01-02T03:04:05.678Z" } },
  "webhook.resume": {
    request: { replay: { since: "2026-01-01T00:00:00.000Z" } },
    response: { ...webhookStatus, probe: { ...test, trigger: "probe" } }
  },
  "webhook.verify": {
    request: { header: "t=1767323045,v1=5257a869e7…", body: attempt.request.body },
    response: {
      ok: false,
      scheme: "service",
      checks: [
        { part: "header", ok: true, reason: null, message: "the header is well formed" },
        {
          part: "timestamp",
          ok: true,
          reason: null,
          message: "the timestamp is within 300 seconds of the current time"
        },
        {
          part: "signature",
          ok: false,
          reason: "secret_with_line_end",
          message: "the secret was used with a line end after it"
        }
      ]
    }
  },
  "deliveries.list": { response: { data: [delivery], ...internalPage } },
  "deliveries.get": { response: { ...delivery, attempts: [attempt], curl: null } },
  "deliveries.retry": {
    response: { ...delivery, status: "pending", nextAttemptAt: times.completedAt, completedAt: null }
  },
  "campaigns.create": { request: onWire(newCampaign), response: onWire(draft) },
  "campaigns.list": { response: { data: [onWire(campaign)], ...page } },
  "campaigns.get": { response: onWire(campaign) },
  "campaigns.edit": { request: onWire(changedCampaign), response: onWire({ ...campaign, share: 0.3 }) },
  "campaigns.remove": {},
  "campaigns.upload": { response: onWire({ ...draft, rows: 1205 }) },
  "campaigns.check": { response: onWire({ ...draft, status: "checking", rows: 1205 }) },
  "campaigns.start": { response: onWire(campaign) },
  "campaigns.pause": { response: onWire({ ...campaign, status: "paused", pausedReason: "person" }) },
  "campaigns.resume": { response: onWire(campaign) },
  "campaigns.cancel": { response: onWire({ ...campaign, status: "cancelled" }) },
  "campaigns.recipients": { response: { data: onWire(campaignRows), ...page } },
  "campaignsDashboard.create": { request: newCampaign, response: draft },
  "campaignsDashboard.list": { response: { data: [campaign], ...internalPage } },
  "campaignsDashboard.get": { response: campaign },
  "campaignsDashboard.edit": { request: changedCampaign, response: { ...campaign, share: 0.3 } },
  "campaignsDashboard.remove": {},
  "campaignsDashboard.upload": { response: { ...draft, rows: 1205 } },
  "campaignsDashboard.check": { response: { ...draft, status: "checking", rows: 1205 } },
  "campaignsDashboard.start": { response: campaign },
  "campaignsDashboard.pause": { response: { ...campaign, status: "paused", pausedReason: "person" } },
  "campaignsDashboard.resume": { response: campaign },
  "campaignsDashboard.cancel": { response: { ...campaign, status: "cancelled" } },
  "campaignsDashboard.recipients": { response: { data: campaignRows, ...internalPage } },
  "replays.create": {
    request: { since: replay.since, until: replay.until, status: "exhausted" },
    response: { ...replay, total: null, replayed: 0 }
  },
  "replays.list": { response: { data: [replay], ...internalPage } },
  "replays.get": { response: replay },
  "replays.cancel": {},
  "events.list": {
    response: { data: [event], has_more: false, next_cursor: "MTpldnRfMDFLREFOU0MwUTNWMEs1Rlk0V0RKNlo0NVQ" }
  },
  "eventsDashboard.list": { response: { data: [event], ...page } },
  "eventsDashboard.get": { response: event },
  "stream.open": { response: "event: change\ndata: {\"topics\":[\"messages\"]}\n\n" },
  "alerts.list": {
    response: {
      data: [{
        id: "alr_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
        kind: "quota_high",
        subject: "2026-01",
        message: "8000 of 10000 messages of this month are used.",
        openedAt: "2026-01-22T03:04:05.678Z",
        closedAt: null
      }],
      ...internalPage
    }
  },
  "alerts.settings": { response: { emails: [session.email], url: null } },
  "alerts.configure": {
    request: { emails: [session.email], url: "https://alerts.example.com/wac" },
    response: { emails: [session.email], url: "https://alerts.example.com/wac" }
  },
  "audit.list": {
    response: {
      data: [{
        id: "aud_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
        at: "2026-01-02T03:04:05.678Z",
        action: "member.invite",
        target: "inv_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
        by: { userId: session.userId, email: session.email },
        address: "203.0.113.7",
        requestId,
        detail: { email: "ben@example.com", role: "developer" }
      }],
      ...internalPage,
      since: "2025-01-02T03:04:05.678Z"
    }
  },
  "requests.list": {
    response: {
      data: [{
        id: requestId,
        apiKeyId: listedKey.id,
        method: "POST",
        route: "/v1/messages",
        status: 403,
        code: "forbidden",
        reason: "opted_out",
        at: "2026-01-02T03:04:05.678Z",
        durationMs: 3.2
      }],
      ...internalPage,
      since: "2025-12-26T03:00:00.000Z",
      total: 1042,
      groups: [{
        code: "forbidden",
        reason: "opted_out",
        count: 3,
        lastAt: "2026-01-02T03:04:05.678Z",
        keys: [{ apiKeyId: listedKey.id, count: 3 }]
      }]
    }
  },
  "usage.get": {
    response: {
      month: "2026-01",
      used: 1042,
      quota: 10_000,
      requestsPerSecond: 100,
      months: [{ month: "2026-01", used: 1042 }, { month: "2025-12", used: 9310 }],
      lines: [{
        market: "DE",
        category: "marketing",
        type: "regular",
        billable: true,
        messages: 310,
        cost: { currency: "USD", amount: "42.315", ratesFrom: "2025-10-01" }
      }],
      costs: [{ currency: "USD", amount: "42.315" }],
      since: "2025-12-26T04:00:00.000Z",
      stepSeconds: 3600,
      steps: [{
        at: "2025-12-26T04:00:00.000Z",
        sendsAccepted: 12,
        sendsFailed: 1,
        sendsUnknown: 0,
        sendsRefused: 2,
        attemptsDelivered: 36,
        attemptsFailed: 0
      }]
    }
  },
  "health.alive": { response: { status: "ok" } },
  "health.ready": { response: { status: "ok" } }
}
