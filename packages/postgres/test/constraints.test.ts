/**
 * Rows that the domain never creates are refused by the database too, each by its own constraint. A constraint without
 * a case here fails the test, and so does a column that allows words or numbers outside of the domain.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { type Delivery, Event, type InboundPost, Member, Message, Replay, SenderBlock, type Template } from "@wac/core"
import { Effect, Layer, Predicate } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { ciphertext, nonce, possible, type Row, write } from "./rows.ts"
import { databases } from "./servers.ts"

/** All members of a union of words. */
const words = <Word extends string>(all: { readonly [_ in Word]: true }) => Object.keys(all)

const noBlock = { block_reason: null, block_scope: null, blocked_since: null, block_told_at: null }
const inLane = { phone_number_id: "pn", workspace_id: "ws", send_until: 2 }
const noClaim = { claim_token: null, lease_until: null }
const noKey = { route: null, key: null, fingerprint: null, ...noClaim }
const ended = { next_attempt_at: null, completed_at: 2 }
const tried = { attempt_count: 1, round_attempts: 1, first_attempt_at: 1, last_attempt_at: 2 }

/** By constraint or unique index: its table, and the changes that make a possible row impossible. */
const impossible: { readonly [constraint: string]: readonly [table: string, ...changes: ReadonlyArray<Row>] } = {
  peppers_single: ["peppers", { single: false }],
  forgotten_bodies_single: ["forgotten_bodies", { single: false }],
  heartbeats_single: ["heartbeats", { single: false }],
  people_email: ["people", { email: "A@example.com" }],
  members_role: ["members", { role: "guest" }],
  invitations_role: ["invitations", { role: "guest" }],
  invitations_by: ["invitations", { by_user_id: "usr" }, { by_email: "a@example.com" }],
  invitations_by_role: ["invitations", { by_role: "guest" }],
  portals_role: ["portals", { role: "guest" }],
  sessions_ends: ["sessions", { idle_until: 6 }],
  sessions_roles: ["sessions", { roles: "owner" }],
  phone_numbers_block: [
    "phone_numbers",
    { block_scope: null },
    { blocked_since: null },
    { block_told_at: null },
    { ...noBlock, block_scope: "all" },
    { ...noBlock, blocked_since: 1 },
    { ...noBlock, blocked_until: 1 },
    { ...noBlock, block_provider: {} }
  ],
  buckets_counted_at: ["buckets", { phone_number_id: null }],
  api_keys_scopes: ["api_keys", { scopes: ["messages:send", "all"] }],
  api_keys_further_scopes: ["api_keys", { further_scopes: ["messages:read", "all"] }, {
    further_scopes: ["messages:send"]
  }],
  api_keys_phone_number_ids: ["api_keys", { phone_number_ids: [], token_hash: "bound:h" }],
  api_keys_allowed_cidrs: ["api_keys", { allowed_cidrs: [], token_hash: "bound:h" }],
  api_keys_bound: [
    "api_keys",
    { token_hash: "bound:h" },
    { phone_number_ids: ["pn"] },
    { allowed_cidrs: ["::/0"] }
  ],
  kept_answers_answer: ["kept_answers", { status: 200 }, { body: "{}" }],
  templates_parameter_format: ["templates", { parameter_format: "none" }],
  suppressions_source: ["suppressions", { source: "nobody" }],
  suppressions_name: ["suppressions", { at: null }, { source: null }],
  contacts_customer: ["contacts", { phone: null, user_id: null }],
  contacts_preference: ["contacts", { opted_out: true }],
  media_state: ["media", { id: "other", provider_media_id: "q", state: "lost" }],
  media_described: [
    "media",
    { id: "other", provider_media_id: "q", media: null },
    { id: "other", provider_media_id: "q", state: "awaited", awaited: null },
    { id: "other", provider_media_id: "q", state: "gone", awaited: null }
  ],
  media_awaited: ["media", { id: "other", provider_media_id: null }, { id: "other", phone_number_id: null }],
  media_provider: ["media", { id: "other" }],
  media_usage_used: ["media_usage", { workspace_id: "other", used: -1 }],
  media_chunks_size: ["media_chunks", { n: 1, bytes: "\\x" }],
  messages_life: [
    "messages",
    { status: "sent" },
    { status: "delivered", sent_at: 1 },
    { status: "read", sent_at: 1, delivered_at: 1 },
    { status: "failed" }
  ],
  conversations_received: ["conversations", { is_inbound: false }, { received: null }],
  messages_failure: [
    "messages",
    { failed_at: 2 },
    { delivery_unknown: true },
    { status: "sent", sent_at: 1, failed_at: 2 }
  ],
  messages_binding: [
    "messages",
    { route: null },
    { fingerprint: null },
    { ...noClaim, key: null },
    { ...noKey, route: "r" },
    { ...noKey, fingerprint: "f" },
    { ...noKey, claim_token: "t", lease_until: 2 },
    { ...noKey, answer: {} },
    { ...noKey, last_failure: {} },
    { ...noKey, expires_at: 2 }
  ],
  messages_claim: [
    "messages",
    { lease_until: null },
    { claim_token: null },
    { status: "unknown" },
    { answer: {} },
    { expires_at: 2 },
    { send_at: 1, answer: {}, expires_at: 2 }
  ],
  send_queue_lane: [
    "send_queue",
    { message_id: "other", campaign_id: null },
    { message_id: "other", ...inLane },
    { message_id: "other", workspace_id: "ws" },
    { message_id: "other", send_until: 2 },
    { message_id: "other", campaign_id: null, ...inLane, workspace_id: null },
    { message_id: "other", campaign_id: null, ...inLane, send_until: null }
  ],
  events_order: ["events", { order_key: null }, { sequence: null }],
  webhook_health_failures_since: ["webhook_health", { consecutive_failures: 1 }, { failures_since: 1 }],
  webhook_health_last_failure: ["webhook_health", { last_failure_at: 1 }, { last_failure_message: "so" }],
  webhook_health_slow_at: ["webhook_health", { slow_at: 1 }, { slow_at: 2, last_success_at: 1 }],
  webhook_secrets_newest: ["webhook_secrets", { position: -1, expires_at: 1 }, { position: 1 }, { expires_at: 1 }],
  deliveries_order: ["deliveries", { order_key: null }, { sequence: null }],
  deliveries_completed_at: [
    "deliveries",
    { completed_at: 2 },
    { status: "testing", ...ended },
    ...["delivered", "exhausted", "skipped"].map((status) => ({ ...tried, status, next_attempt_at: null }))
  ],
  deliveries_next_attempt_at: [
    "deliveries",
    { status: "testing" },
    ...["delivered", "exhausted", "skipped"].map((status) => ({ ...tried, status, completed_at: 2 }))
  ],
  deliveries_delivered: ["deliveries", { status: "delivered", ...ended }],
  deliveries_attempts: [
    "deliveries",
    { ...tried, attempt_count: 0, last_attempt_at: null },
    { ...tried, round_attempts: -1 },
    { ...tried, first_attempt_at: null },
    { ...tried, last_attempt_at: null },
    { first_attempt_at: 1 },
    { last_attempt_at: 1 }
  ],
  attempts_delivered: ["attempts", { status_code: 204 }, { status_code: null }],
  subscriptions_lease: ["subscriptions", { owner: "o" }, { lease_until: 1 }],
  subscription_entries_state: ["subscription_entries", { state: "lost" }],
  subscription_entries_next_at: ["subscription_entries", { next_at: 1 }, { state: "waiting" }],
  subscription_entries_failed: [
    "subscription_entries",
    { failed_at: 1, failure: "no" },
    { state: "failed" },
    { state: "failed", failed_at: 1 }
  ],
  outbox_key: ["outbox", { message_id: "other" }],
  outbox_key_form: ["outbox", { key: "" }, { key: "a b" }, { key: "k".repeat(256) }],
  outbox_erased: ["outbox", { message: null }, { erased: "\\x00" }],
  outbox_claim: ["outbox", { claim_token: "one", moved_at: 1 }],
  replays_status: ["replays", { status: "pending" }],
  replays_state: ["replays", { state: "paused", completed_at: 1 }],
  replays_completed_at: ["replays", { completed_at: 1 }, { state: "cancelled" }],
  replays_total: [
    "replays",
    { state: "completed", completed_at: 1 },
    { state: "completed", completed_at: 1, total: 2, replayed: 1 }
  ],
  audit_person: ["audit", { user_id: null }, { email: null }],
  requests_reason: ["requests", { code: null }],
  requests_caller: ["requests", { user_id: "usr" }, { api_key_id: "" }],
  inbound_posts_digest: ["inbound_posts", { digest: "\\x0c" }],
  inbound_posts_size: ["inbound_posts", { size: -1 }],
  inbound_posts_problem: ["inbound_posts", { problem: "boredom", tries: 1, expires_at: 2 }],
  inbound_posts_due_at: ["inbound_posts", { due_at: null }],
  inbound_posts_claim: ["inbound_posts", { token: "t", due_at: null, expires_at: 2 }],
  inbound_posts_tries: [
    "inbound_posts",
    { tries: -1 },
    { problem: "storage", expires_at: 2 },
    { problem: "storage", tries: 1 }
  ],

  alerts_open: ["alerts", { id: "other" }],
  people_email_key: ["people", { user_id: "other" }],
  identities_user_id_issuer_key: ["identities", { subject: "2" }],
  portals_id_key: ["portals", { token_hash: "other" }],
  sessions_id_key: ["sessions", { token_hash: "other" }],
  invitations_token_hash_key: ["invitations", { id: "other", email: "c@example.com" }],
  invitations_workspace_id_email_key: ["invitations", { id: "other", token_hash: "other" }],
  phone_numbers_default: ["phone_numbers", { id: "other", phone_number: "+2", provider_number_id: "q" }],
  phone_numbers_provider_number_id_key: ["phone_numbers", { id: "other", phone_number: "+2", is_default: false }],
  phone_numbers_workspace_id_phone_number_key: [
    "phone_numbers",
    { id: "other", provider_number_id: "q", is_default: false }
  ],
  api_keys_token_hash_key: ["api_keys", { id: "other" }],
  templates_workspace_id_provider_account_id_name_language_key: ["templates", { id: "other" }],
  contacts_user: ["contacts", { key: "+2", phone: "+2" }],
  messages_key: ["messages", { id: "other" }],
  events_order_key_sequence_key: ["events", { id: "other" }],
  webhooks_workspace_id_key: ["webhooks", { id: "other" }],

  suppressions_workspace_id_fkey: ["suppressions", { workspace_id: "nobody's" }],
  opt_out_words_workspace_id_fkey: ["opt_out_words", { workspace_id: "nobody's" }],
  alert_settings_workspace_id_fkey: ["alert_settings", { workspace_id: "nobody's" }],
  members_workspace_id_fkey: ["members", { workspace_id: "nobody's" }],
  members_user_id_fkey: ["members", { user_id: "nobody" }],
  identities_user_id_fkey: ["identities", { subject: "2", user_id: "nobody" }],
  sessions_user_id_fkey: ["sessions", { id: "other", token_hash: "other", user_id: "nobody" }],
  invitations_workspace_id_fkey: [
    "invitations",
    { id: "other", token_hash: "other", email: "c@example.com", workspace_id: "nobody's" }
  ],
  portals_workspace_id_fkey: ["portals", { id: "other", token_hash: "other", workspace_id: "nobody's" }],
  request_values_switches_workspace_id_fkey: ["request_values_switches", { workspace_id: "nobody's" }],
  request_values_workspace_id_fkey: ["request_values", { workspace_id: "nobody's" }],
  second_factors_user_id_fkey: ["second_factors", { user_id: "nobody" }],
  second_factors_last_step: ["second_factors", { user_id: "nobody", confirmed_at: null }],
  second_factors_app: ["second_factors", { user_id: "nobody", nonce: null }],
  passkeys_user_id_fkey: ["passkeys", { id: "other", credential_id: "d", user_id: "nobody" }],
  passkeys_credential_id_key: ["passkeys", { id: "other" }],
  passkey_challenges_user_id_fkey: ["passkey_challenges", { user_id: "nobody" }],
  passkey_challenges_purpose_check: ["passkey_challenges", { purpose: "other" }],
  recovery_codes_user_id_fkey: ["recovery_codes", { user_id: "nobody" }],
  sign_in_challenges_user_id_fkey: ["sign_in_challenges", { token_hash: "other", user_id: "nobody" }],
  sign_in_challenges_tries_left: ["sign_in_challenges", { token_hash: "other", tries_left: -1 }],
  password_resets_user_id_fkey: ["password_resets", { token_hash: "other", user_id: "nobody" }],
  phone_numbers_workspace_id_fkey: [
    "phone_numbers",
    { id: "other", provider_number_id: "q", workspace_id: "nobody's" }
  ],
  phone_number_credentials_phone_number_id_fkey: ["phone_number_credentials", { phone_number_id: "nobody's" }],
  api_keys_workspace_id_fkey: ["api_keys", { id: "other", token_hash: "other", workspace_id: "nobody's" }],
  api_key_uses_api_key_id_fkey: ["api_key_uses", { api_key_id: "nobody's" }],
  api_key_requests_workspace_id_fkey: ["api_key_requests", { workspace_id: "nobody's" }],
  kept_answers_workspace_id_fkey: ["kept_answers", { workspace_id: "nobody's" }],
  api_key_requests_api_key_id_fkey: ["api_key_requests", { idempotency_key: "other", api_key_id: "nobody's" }],
  templates_workspace_id_fkey: ["templates", { id: "other", workspace_id: "nobody's" }],
  contacts_workspace_id_fkey: ["contacts", { workspace_id: "nobody's", key: "+2", phone: "+2", user_id: null }],
  contacts_phone_number_id_fkey: ["contacts", { phone_number_id: "nobody's" }],
  contact_names_phone_number_id_key_fkey: ["contact_names", { name: "+4", key: "+5" }],
  inbound_messages_phone_number_id_fkey: ["inbound_messages", { phone_number_id: "nobody's" }],
  webhooks_workspace_id_fkey: ["webhooks", { id: "other", workspace_id: "nobody's" }],
  webhook_health_webhook_id_fkey: ["webhook_health", { webhook_id: "nobody's" }],
  webhook_secrets_webhook_id_fkey: ["webhook_secrets", { webhook_id: "nobody's" }],
  campaigns_workspace_id_fkey: ["campaigns", { id: "other", workspace_id: "nobody's" }],
  campaign_rows_campaign_id_fkey: ["campaign_rows", { campaign_id: "nobody's" }],
  campaign_queue_campaign_id_fkey: ["send_queue", { message_id: "other", campaign_id: "nobody's" }],
  campaign_tallies_campaign_id_fkey: ["campaign_tallies", { campaign_id: "nobody's" }],
  campaign_timelines_campaign_id_fkey: ["campaign_timelines", { campaign_id: "nobody's" }],
  replays_workspace_id_fkey: ["replays", { id: "other", workspace_id: "nobody's" }],
  subscriptions_workspace_id_fkey: ["subscriptions", { workspace_id: "nobody's" }],
  subscription_entries_workspace_id_name_fkey: ["subscription_entries", { name: "other" }]
}

/** By domain: the values that it allows, and one that it refuses. */
const domains: { readonly [domain: string]: { readonly has: ReadonlyArray<unknown>; readonly refuses: unknown } } = {
  message_status: { has: Message.MessageStatus.literals, refuses: "held" },
  event_type: { has: Event.EventType.literals, refuses: "message.lost" },
  envelope: { has: Event.Envelope.literals, refuses: "c" },
  delivery_status: {
    has: [
      "testing",
      ...words<Delivery.Delivery["status"]>({ pending: true, delivered: true, exhausted: true, skipped: true })
    ],
    refuses: "held"
  },
  attempt_trigger: {
    has: words<Delivery.AttemptTrigger>({ automatic: true, manual: true, replay: true, test: true, probe: true }),
    refuses: "resume"
  },
  attempt_outcome: {
    has: words<Delivery.AttemptOutcome>({
      delivered: true,
      dns: true,
      connect: true,
      tls: true,
      timeout: true,
      status: true,
      redirect: true,
      blocked_address: true
    }),
    refuses: "unknown"
  },
  block_reason: { has: SenderBlock.SenderBlockReason.literals, refuses: "mood" },
  block_basis: { has: SenderBlock.SenderBlockBasis.literals, refuses: "mood" },
  block_scope: { has: SenderBlock.SenderBlockScope.literals, refuses: "none" },
  amount: { has: [0, 1], refuses: -1 },
  tally: { has: [0, 1], refuses: -1 },
  ordinal: { has: [1], refuses: 0 },
  seal_nonce: { has: [nonce], refuses: "\\x0a" },
  seal_ciphertext: { has: [ciphertext], refuses: "\\x0b" }
}

/** Word columns that have a check of their own instead of a domain. */
const listed: ReadonlyArray<readonly [table: string, column: string, has: ReadonlyArray<string>, Row]> = [
  ["members", "role", Member.Role.literals, {}],
  ["invitations", "role", Member.Role.literals, {}],
  ["invitations", "by_role", Member.Role.literals, {}],
  ["portals", "role", Member.Role.literals, {}],
  ["templates", "parameter_format", words<Template.Template["parameterFormat"]>({ positional: true, named: true }), {}],
  ["replays", "status", Replay.statuses, {}],
  ["inbound_posts", "problem", words<InboundPost.Problem>({ unreadable: true, storage: true, defect: true }), {
    tries: 1,
    expires_at: 2
  }]
]

/** The result of a step, which is rolled back. */
const outcome = <R>(step: Effect.Effect<unknown, SqlError, R>) =>
  PgClient.PgClient.use((client) =>
    Effect.flip(client.withTransaction(Effect.andThen(step, Effect.fail("written" as const))))
  )

/** The result of writing a possible row with these changes. */
const tries = (table: string, change: Row) => outcome(write(table, { ...possible[table]!, ...change }))

const constraintOf = (error: "written" | SqlError) =>
  error !== "written" && Predicate.hasProperty(error.reason.cause, "constraint") ? error.reason.cause.constraint : error

for (const { layer: database, name } of databases) {
  const filled = Layer.effectDiscard(
    Effect.forEach(Object.entries(possible), ([table, row]) => write(table, row), { discard: true })
  )

  layer(filled.pipe(Layer.provideMerge(database)), { excludeTestServices: true })(name, (it) => {
    it.effect("each constraint refuses its impossible row", () =>
      Effect.gen(function*() {
        for (const [constraint, [table, ...changes]] of Object.entries(impossible)) {
          for (const change of changes) {
            assert.strictEqual(constraintOf(yield* tries(table, change)), constraint, JSON.stringify([table, change]))
          }
        }
      }))

    it.effect("every constraint has a case", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const rows = yield* client<{ readonly name: string }>`
          select c.conname as name from pg_constraint c join pg_class t on t.oid = c.conrelid
          where c.connamespace = 'wac'::regnamespace and c.contype in ('c', 'u', 'f')
          union
          select (select relname::text from pg_class where oid = i.indexrelid) from pg_index i join pg_class t on t.oid = i.indrelid
          where t.relnamespace = 'wac'::regnamespace and i.indisunique and not i.indisprimary`
        assert.sameMembers(rows.map(({ name }) => name), Object.keys(impossible))
      }))

    it.effect("every column of a domain allows exactly its values", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const columns = yield* client<
          { readonly table: string; readonly column: string; readonly domain: string; readonly isList: boolean }
        >`
          select c.relname as table, a.attname as column, d.typname as domain, d.oid <> t.oid as "isList"
          from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
            join pg_type d on d.oid = case when t.typcategory = 'A' then t.typelem else t.oid end
          where c.relnamespace = 'wac'::regnamespace and c.relkind = 'r' and d.typtype = 'd'`
        assert.sameMembers([...new Set(columns.map(({ domain }) => domain))], Object.keys(domains))
        const lists = columns.filter(({ isList }) => isList).map(({ column }) => column)
        assert.deepStrictEqual([...new Set(lists)], ["event_types"])
        for (const { column, domain, isList, table } of columns) {
          const { has, refuses } = domains[domain]!
          for (const value of isList ? [[has[0], refuses], [null]] : [refuses]) {
            assert.strictEqual(constraintOf(yield* tries(table, { [column]: value })), domain, `${table}.${column}`)
          }
        }
        for (const [domain, { has }] of Object.entries(domains)) {
          for (const value of has) yield* client.unsafe(`select $1::text::wac.${domain}`, [String(value)])
        }
      }))

    it.effect("every word list is complete", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        for (const [table, column, has, change] of listed) {
          for (const word of has) {
            const row = { ...possible[table]!, ...change, [column]: word }
            const written = yield* outcome(Effect.andThen(client.unsafe(`delete from wac.${table}`), write(table, row)))
            assert.strictEqual(written, "written", `${table}.${column} ${word}`)
          }
        }
      }))
  })
}
