/**
 * Rows as the domain creates them, for tests of the tables themselves.
 */
import { PgClient } from "@effect/sql-pg"
import { Event } from "@wac/core"
import { Effect } from "effect"

/** A row, or some of its columns. Bytes are in PostgreSQL's hexadecimal form. */
export type Row = { readonly [column: string]: unknown }

export const nonce = `\\x${"0a".repeat(12)}`
export const ciphertext = `\\x${"0b".repeat(48)}`
const digest = `\\x${"0c".repeat(32)}`

/** A row of each table, in an order in which they can be written. */
export const possible: { readonly [table: string]: Row } = {
  peppers: { key_id: "k", nonce, ciphertext },
  workspaces: { id: "ws", name: "one", created_at: 0, monthly_quota: 7 },
  people: { user_id: "usr", email: "a@example.com", password_hash: "h", created_at: 0 },
  identities: { issuer: "https://issuer.example", subject: "1", user_id: "usr", created_at: 0 },
  members: { user_id: "usr", workspace_id: "ws", role: "owner", created_at: 0 },
  sessions: {
    id: "ses",
    token_hash: "h",
    user_id: "usr",
    workspace_id: "ws",
    roles: {},
    created_at: 0,
    idle_until: 5,
    absolute_until: 5
  },
  invitations: {
    id: "inv",
    workspace_id: "ws",
    email: "b@example.com",
    role: "member",
    by_role: "owner",
    token_hash: "h",
    created_at: 0,
    expires_at: 1
  },
  portals: {
    id: "ses",
    token_hash: "h",
    workspace_id: "ws",
    role: "member",
    visitor: "portal",
    is_open: false,
    created_at: 0,
    expires_at: 1
  },
  second_factors: {
    user_id: "usr",
    key_id: "k",
    nonce,
    ciphertext,
    created_at: 0,
    confirmed_at: 1,
    last_step: 1
  },
  recovery_codes: { user_id: "usr", fingerprint: "f" },
  sign_in_challenges: {
    token_hash: "h",
    user_id: "usr",
    password_hash: "p",
    tries_left: 5,
    created_at: 0,
    expires_at: 1
  },
  passkeys: {
    id: "psk",
    user_id: "usr",
    name: "laptop",
    credential_id: "c",
    public_key: nonce,
    counter: 0,
    transports: [],
    created_at: 0
  },
  passkey_challenges: { user_id: "usr", purpose: "add", token_hash: "h", created_at: 0, expires_at: 1 },
  password_resets: { token_hash: "h", user_id: "usr", created_at: 0, expires_at: 1 },
  phone_numbers: {
    id: "pn",
    workspace_id: "ws",
    provider: "sandbox",
    phone_number: "+14155550000",
    provider_number_id: "p",
    provider_account_id: "a",
    is_default: true,
    block_reason: "quality",
    block_scope: "all",
    blocked_since: 1,
    block_told_at: 1
  },
  phone_number_credentials: { phone_number_id: "pn", key_id: "k", nonce, ciphertext },
  buckets: { key: "pair:pn:+1", full_at: 1, phone_number_id: "pn", counted_at: 1 },
  api_keys: {
    id: "key",
    workspace_id: "ws",
    name: "one",
    prefix: "wac_live_abcd",
    scopes: ["messages:send"],
    further_scopes: ["messages:read"],
    phone_number_ids: null,
    allowed_cidrs: null,
    token_hash: "h",
    secret_key_id: "k",
    secret_nonce: nonce,
    secret_ciphertext: ciphertext,
    require_signature: false,
    created_at: 0
  },
  api_key_uses: { api_key_id: "key", last_used_at: 1 },
  api_key_requests: { workspace_id: "ws", idempotency_key: "i", fingerprint: "f", api_key_id: "key", expires_at: 1 },
  kept_answers: {
    workspace_id: "ws",
    caller: "usr",
    route: "r",
    key: "k",
    fingerprint: "f",
    token: "t",
    lease_until: 1,
    expires_at: 1
  },
  templates: {
    id: "tpl",
    workspace_id: "ws",
    provider_account_id: "a",
    name: "order",
    language: "en",
    category: "utility",
    status: "approved",
    parameter_format: "positional",
    components: [],
    variables: [],
    provider_template_id: "p",
    synced_at: 0,
    told: {}
  },
  contacts: { workspace_id: "ws", phone_number_id: "pn", key: "+1", phone: "+1", user_id: "u" },
  suppressions: {
    workspace_id: "ws",
    hash: "h",
    phone_number_id: "",
    opted_out: true,
    name: "+1",
    source: "api",
    at: 1
  },
  opt_out_words: { workspace_id: "ws", stop_words: [], start_words: [], removed: [] },
  contact_names: { phone_number_id: "pn", name: "+3", key: "+1" },
  inbound_messages: {
    workspace_id: "ws",
    phone_number_id: "pn",
    provider_message_id: "p",
    message_id: "m",
    expires_at: 1
  },
  conversations: {
    message_id: "msg",
    workspace_id: "ws",
    phone_number_id: "pn",
    customer: "+1",
    is_inbound: true,
    received: {}
  },
  quota_usage: { workspace_id: "ws", month: "2026-01", used: 0 },
  messages: {
    id: "msg",
    workspace_id: "ws",
    api_key_id: "key",
    phone_number_id: "pn",
    from_number: "+14155550000",
    content: {},
    status: "sending",
    status_at: 1,
    created_at: 1,
    route: "r",
    key: "k",
    fingerprint: "f",
    claim_token: "t",
    lease_until: 2
  },
  message_deadlines: { due_at: 1, workspace_id: "ws", message_ids: ["msg"] },
  media: {
    id: "med",
    workspace_id: "ws",
    state: "stored",
    due_at: 1,
    media: {},
    awaited: {},
    phone_number_id: "pn",
    provider_media_id: "p"
  },
  media_usage: { workspace_id: "ws", used: 0 },
  media_keys: { workspace_id: "ws", key: "k", fingerprint: "f", media: {}, expires_at: 1 },
  media_uploads: { media_id: "med", phone_number_id: "pn", provider_media_id: "p", expires_at: 1 },
  media_chunks: { media_id: "med", n: 0, bytes: "\\x00" },
  forgotten_bodies: { reached: "" },
  waiting_bodies: { message_id: "msg", due_at: 1 },
  message_names: { provider_message_id: "p", message_id: "msg" },
  events: {
    id: "evt",
    workspace_id: "ws",
    type: "message.sent",
    created_at: 1,
    order_key: "msg",
    sequence: 1,
    data: {},
    position: 1
  },
  webhooks: {
    id: "whk",
    workspace_id: "ws",
    url: "https://receiver.example/",
    envelope: "combined",
    event_types: Event.EventType.literals,
    created_at: 0,
    updated_at: 0
  },
  webhook_health: { webhook_id: "whk", doubtful: true, slots: 1 },
  webhook_drains: { webhook_id: "whk", next_at: 1 },
  webhook_skips: { webhook_id: "whk", until: 1, skipped_at: 1, created_before: 1 },
  webhook_secrets: { webhook_id: "whk", position: 0, key_id: "k", nonce, ciphertext },
  deliveries: {
    id: "dlv",
    workspace_id: "ws",
    webhook_id: "whk",
    event_id: "evt",
    event_type: "message.sent",
    envelope: "combined",
    order_key: "msg",
    sequence: 1,
    status: "pending",
    trigger: "automatic",
    next_attempt_at: 1,
    created_at: 1,
    position: 1
  },
  delivery_claims: { webhook_id: "whk", delivery_id: "dlv", workspace_id: "ws", token: "t", lease_until: 2 },
  attempts: {
    delivery_id: "dlv",
    number: 1,
    id: "att",
    workspace_id: "ws",
    trigger: "automatic",
    started_at: 1,
    duration_ms: 1,
    outcome: "delivered",
    status_code: 200,
    message: "answered 200",
    url: "https://receiver.example/"
  },
  replays: {
    id: "job",
    workspace_id: "ws",
    webhook_id: "whk",
    since: 0,
    until: 1,
    status: "exhausted",
    created_at: 1,
    reached_at: 0,
    step_at: 1
  },
  subscriptions: { workspace_id: "ws", name: "one", event_types: ["message.sent"], place: 1, created_at: 1 },
  subscription_entries: {
    workspace_id: "ws",
    name: "one",
    event_id: "evt",
    place: 1,
    recorded_at: 1,
    state: "held",
    attempts: 0,
    round_attempts: 0
  },
  outbox: { message_id: "msg", workspace_id: "ws", key: "one", message: {} },
  campaigns: { id: "cmp", workspace_id: "ws", state: {}, work_at: 1 },
  campaign_rows: { campaign_id: "cmp", place: 1, content: {} },
  send_queue: { message_id: "msg", campaign_id: "cmp", due_at: 1, tries: 0 },
  send_lanes: { phone_number_id: "pn", workspace_id: "ws", work_at: 1, next_slot: 0 },
  queue_sizes: { workspace_id: "ws", shard: 0, queued: 1 },
  heartbeats: { beat_at: 1, server: "one" },
  campaign_timelines: { campaign_id: "cmp", at: 1, shard: 0, sent: 1, delivered: 0, read: 0 },
  campaign_tallies: { campaign_id: "cmp", shard: 0, outcome: "queued", recipients: 1 },
  alerts: {
    workspace_id: "ws",
    id: "alr",
    kind: "webhook_failing",
    subject: "whk",
    message: "It fails.",
    opened_at: 1
  },
  alert_notifications: { workspace_id: "ws", alert_id: "alr", change: "opened", due_at: 1 },
  alert_settings: { workspace_id: "ws", emails: ["a@example.com"] },
  audit: {
    workspace_id: "ws",
    id: "aud",
    action: "api_key.create",
    target: "key",
    user_id: "usr",
    email: "a@example.com",
    at: 1,
    detail: { name: "one" }
  },
  requests: {
    workspace_id: "ws",
    id: "req",
    api_key_id: "key",
    method: "POST",
    route: "/v1/messages",
    status: 403,
    code: "forbidden",
    reason: "opted_out",
    at: 1,
    duration_ms: 1.5,
    fields: JSON.stringify([]),
    subject: "msg"
  },
  request_values_switches: { workspace_id: "ws", until: 1, epoch: 0 },
  request_values: { workspace_id: "ws", epoch: 0, request_id: "req", key_id: "k", nonce, ciphertext: nonce },
  request_tallies: { workspace_id: "ws", hour: 0, api_key_id: "key", code: "", reason: "", count: 1, last_at: 1 },
  priced_messages: {
    workspace_id: "ws",
    hour: 0,
    shard: 0,
    market: "US",
    category: "utility",
    type: "regular",
    billable: true,
    messages: 1
  },
  untold_prices: {
    workspace_id: "ws",
    hour: 0,
    shard: 0,
    market: "US",
    category: "utility",
    type: "unheard_of",
    messages: 1
  },
  usage_counts: { workspace_id: "ws", hour: 0, activity: "sendsAccepted", count: 1 },
  usage_waiting: { workspace_id: "ws", hour: 0, queued: 1, held: 1 },
  usage_timings: { workspace_id: "ws", kind: "delivered", span: 300_000, at: 0, duration_group: 1, count: 1 },
  inbound_posts: { provider: "whatsapp", digest, size: 1, received_at: 1, due_at: 1 },
  inbound_post_bodies: { provider: "whatsapp", digest, body: "\\x00" }
}

/** Writes a row. */
export const write = (table: string, row: Row) =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const columns = Object.keys(row).join(", ")
    yield* client.unsafe(
      `insert into wac.${table} (${columns}) select ${columns} from json_populate_record(null::wac.${table}, $1::text::json)`,
      [JSON.stringify(row)]
    )
  })
