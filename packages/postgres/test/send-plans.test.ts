/**
 * A send's cost does not depend on earlier sends, nor on what the tables held when the plans were made: each hot
 * statement is planned while everything is empty, and then reads only its own rows.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import {
  Capabilities,
  Errors,
  type Id,
  type Idempotency,
  Limits,
  type MessageStore,
  type SendBinding,
  type TokenStep
} from "@wac/core"
import { MessageFixture } from "@wac/testkit"
import { Effect } from "effect"
import type { DirectOptions } from "../src/Database.ts"
import * as Tokens from "../src/limits/Tokens.ts"
import * as Abandon from "../src/messages/Abandon.ts"
import * as Accept from "../src/messages/Accept.ts"
import * as ApplyReport from "../src/messages/ApplyReport.ts"
import * as LookUp from "../src/messages/LookUp.ts"
import * as Settle from "../src/messages/Settle.ts"
import * as Sweep from "../src/messages/Sweep.ts"
import { carryOut, carryOutAll } from "./carryOut.ts"
import { plannedDatabases } from "./servers.ts"
import { discardPlans } from "./touched.ts"

const now = 1_800_000_000_000
const stored = 20_000
const batch = 64

const limits: Limits.Limits = {
  ...Limits.standard,
  workspaceTiers: { standard: 1000 },
  phoneNumberTiers: { standard: 1000 },
  defaults: { ...Limits.standard.defaults, monthlyQuota: 1_000_000 }
}

const customer = (n: number) => `+1202${String(n).padStart(7, "0")}` as const

const sends = (first: number, count: number): ReadonlyArray<MessageStore.AcceptSend> =>
  Array.from({ length: count }, (_, i) => ({
    now,
    request: {
      workspaceId: "ws" as Id.WorkspaceId,
      route: "r",
      key: `key ${first + i}` as Idempotency.IdempotencyKey,
      fingerprint: "f"
    },
    apiKeyId: "key" as Id.ApiKeyId,
    queue: null,
    later: null,
    message: { type: "template", to: customer(first + i), template: { name: "t", language: "en" } },
    hash: `hash ${first + i}`,
    messageId: `msg ${first + i}` as Id.MessageId,
    claimToken: "mine",
    leaseUntil: now + 1000,
    limits,
    provider: "sandbox",
    capabilities: Capabilities.all
  }))

const tokens: ReadonlyArray<TokenStep.Tokens> = ["workspace:ws", "phone_number:pn"]
  .concat(Array.from({ length: batch }, (_, i) => `login:account:${i}`))
  .map((key) => ({ now, buckets: [{ key, policy: { name: "pair", interval: 1, capacity: 1000 } }] }))

const lookUps = (first: number, count: number) => sends(first, count).map(({ request }) => ({ now, request }))

/** Sends to the user ids of contacts whose numbers are known, and to people who have none. */
const sendsToUsers = (first: number, count: number): ReadonlyArray<MessageStore.AcceptSend> =>
  sends(first, count).map((command, i) => ({ ...command, message: { ...command.message, to: `US.${first + i}` } }))

/** Sends of campaigns, to customers whose messages do not exist. */
const sendsOfCampaigns = (first: number, count: number): ReadonlyArray<MessageStore.AcceptSend> =>
  [...sendsToUsers(first, count / 2), ...sends(first + count / 2, count / 2)].map((command) => ({
    ...command,
    apiKeyId: null,
    queue: { campaignId: "cmp" as Id.CampaignId }
  }))

/** Messages as their sends claimed them. */
const claimedOf = (first: number, count: number) => sends(first, count).map(MessageFixture.asClaimed)

const ids = (n: number | string, what = "") => ({
  events: [`evt ${n}${what}` as Id.EventId],
  deliveries: [`dlv ${n}${what}` as Id.DeliveryId]
})

const settlements = (
  first: number,
  count: number,
  endOf: (i: number) => MessageStore.SendEnd = (i) => ({ _tag: "Accepted", providerMessageId: `wamid ${first + i}` })
): ReadonlyArray<MessageStore.SettleSend> =>
  claimedOf(first, count).map((message, i) => ({
    now,
    message,
    claimToken: "mine",
    end: endOf(i),
    ids: ids(first + i)
  }))

/** Settlements of a campaign's messages, whose claims `fill` writes. */
const settlementsOfCampaigns = (count: number): ReadonlyArray<MessageStore.SettleSend> =>
  settlements(0, count).map((command, i) => ({
    ...command,
    message: { ...command.message, id: `msg of cmp ${i}` as Id.MessageId, campaignId: "cmp" as Id.CampaignId },
    end: { _tag: "Accepted", providerMessageId: `wamid of cmp ${i}` },
    ids: ids(i, " of cmp")
  }))

const reports = (first: number, count: number): ReadonlyArray<MessageStore.ApplyReport> =>
  claimedOf(first, count).map((message, i) => ({
    now,
    providerNumberId: "p",
    reference: i % 2 === 0 ? message.id : null,
    report: { status: "delivered", at: now, providerMessageId: `wamid ${first + i}`, error: null },
    ids: ids(first + i, " delivered")
  }))

/** Every other kind of outcome. */
const ends = (first: number, count: number) =>
  settlements(first, count, (i) => {
    const kinds: ReadonlyArray<MessageStore.SendEnd> = [
      { _tag: "NotSent", answer },
      { _tag: "Unknown" },
      { _tag: "Refused", answer, report: { status: "failed", at: now, providerMessageId: null, error: refused } }
    ]
    return kinds[i % kinds.length]!
  })

const refused = MessageFixture.refusedError
const answer: SendBinding.Answer = {
  _tag: "Failed",
  error: new Errors.ServerError({ reason: "provider_unavailable", message: "…" }),
  requestId: `req_${"0".repeat(26)}` as Id.RequestId
}

const sweep = (at: number): Command<typeof Sweep.sweep> => ({
  now: at,
  at,
  ids: {
    events: Array.from({ length: batch }, (_, i) => `evt swept ${i}` as Id.EventId),
    deliveries: Array.from({ length: batch }, (_, i) => `dlv swept ${i}` as Id.DeliveryId)
  }
})

type Command<Step> = Step extends { readonly load: (commands: ReadonlyArray<infer A>) => unknown } ? A : never

const found = [
  "insert into wac.workspaces (id, name, created_at) values ('ws', 'one', 0)",
  `insert into wac.phone_numbers (id, workspace_id, provider, phone_number, provider_number_id, provider_account_id, is_default)
  values ('pn', 'ws', 'sandbox', '+14155550000', 'p', 'a', true)`,
  `insert into wac.api_keys (id, workspace_id, name, prefix, scopes, token_hash, secret_key_id, secret_nonce,
    secret_ciphertext, require_signature, created_at)
  values ('key', 'ws', 'k', 'p', '{}', 'h', 'one', substr(sha256('nonce'), 1, 12), sha256('ciphertext'), false, 0)`,
  `insert into wac.templates (id, workspace_id, provider_account_id, name, language, category, status, parameter_format,
    components, variables, provider_template_id, synced_at)
  values ('tpl', 'ws', 'a', 't', 'en', 'utility', 'approved', 'positional', '[]', '{}', 'p', 0)`,
  `insert into wac.webhooks (id, workspace_id, url, envelope, event_types, created_at, updated_at)
  values ('whk', 'ws', 'https://receiver.example/', 'combined', '{message.sent,message.delivered}', 0, 0)`,
  "insert into wac.webhook_health (webhook_id, doubtful, slots) values ('whk', true, 1)",
  "insert into wac.campaigns (id, workspace_id, state) values ('cmp', 'ws', '{}')"
]

/** The tables after many sends, half of which wait for their deliveries. */
const fill = [
  `insert into wac.messages (id, workspace_id, api_key_id, phone_number_id, from_number, content, status, status_at, created_at,
    sent_at, provider_message_id, route, key, fingerprint, expires_at)
  select 'msg of old ' || i, 'ws', 'key', 'pn', '+14155550000', '{}', 'sent', 1, 1, 1, 'wamid of old ' || i, 'r',
    'key of old ' || i, 'f', ${now + 1000} + i
  from generate_series(1, ${stored}) i`,
  `insert into wac.messages (id, workspace_id, campaign_id, phone_number_id, from_number, content, status, status_at,
    created_at, route, key, fingerprint, claim_token, lease_until)
  select 'msg of cmp ' || i, 'ws', 'cmp', 'pn', '+14155550000', '{}', 'sending', 1, 1, 'campaign cmp', 'key ' || i, 'f',
    'mine', ${now + 60_000}
  from generate_series(0, ${batch - 1}) i`,
  `insert into wac.send_queue (message_id, campaign_id, due_at)
  select 'msg of cmp ' || i, 'cmp', 1 from generate_series(0, ${stored}) i`,
  `insert into wac.campaign_timelines (campaign_id, at, shard, sent, delivered, read)
  select 'cmp', i, 0, 1, 1, 1 from generate_series(0, ${stored}) i`,
  `insert into wac.campaign_tallies (campaign_id, shard, outcome, recipients)
  select 'cmp', i, 'queued', 1 from generate_series(0, ${stored}) i`,
  `insert into wac.message_deadlines (workspace_id, due_at, message_ids)
  select 'ws', ${now + 1000} + min(i), array_agg('msg of old ' || i)
  from generate_series(1, ${stored}) i group by i / ${batch}`,
  `insert into wac.message_names (provider_message_id, message_id)
  select 'wamid of old ' || i, 'msg of old ' || i from generate_series(1, ${stored}) i`,
  `insert into wac.contacts (workspace_id, phone_number_id, key, phone, user_id, last_inbound_at)
  select 'ws', 'pn', '+1303' || i, '+1303' || i, 'US.' || i, 1 from generate_series(1, ${stored}) i`,
  `insert into wac.buckets (key, full_at, phone_number_id, counted_at)
  select 'pair:pn:+1303' || i, ${now}, 'pn', case when i % 2 = 0 then ${
    now - 1000
  } end from generate_series(1, ${stored}) i`,
  // ten years of one workspace, and many others: within a workspace, the planner may sort instead of using the index
  `insert into wac.quota_usage (workspace_id, month, used)
  select case when i <= 120 then 'ws' else 'ws ' || i end, (1000 + i)::text || '-01', 1
  from generate_series(1, ${stored}) i`,
  `insert into wac.events (id, workspace_id, type, created_at, order_key, sequence, data)
  select 'evt of old ' || i, 'ws', 'message.sent', 1, 'msg of old ' || i, 1, '{}' from generate_series(1, ${stored}) i`,
  `insert into wac.deliveries (id, workspace_id, webhook_id, event_id, event_type, envelope, order_key, sequence, status,
    next_attempt_at, created_at, completed_at)
  select 'dlv of old ' || i, 'ws', 'whk', 'evt of old ' || i, 'message.sent', 'combined', 'msg of old ' || i, 1,
    case when i % 2 = 0 then 'pending' else 'skipped' end, case when i % 2 = 0 then 1 end, 1, case when i % 2 = 1 then 1 end
  from generate_series(1, ${stored}) i`
]

/** How many rows of each table this transaction has read so far. */
const reads = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  const rows = yield* client<{ readonly name: string; readonly read: number }>`
    select relname as name, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables`
  return new Map(rows.map(({ name, read }) => [name, read]))
})

const accept = (commands: ReadonlyArray<MessageStore.AcceptSend>) => carryOut(Accept.accept, commands)

/** Asserts that a step reads at most that many rows of any table. */
const reading = <A, E, R>(name: string, step: Effect.Effect<A, E, R>, most: number) =>
  Effect.gen(function*() {
    const before = yield* reads
    const answers = yield* step
    for (const [table, read] of yield* reads) {
      assert.isAtMost(read - (before.get(table) ?? 0), most, `rows of ${table} that ${name} read`)
    }
    return answers
  })

/** Carries out commands in one round trip. */
const directly = <Command, Answer>(
  { read, write }: DirectOptions<Command, Answer>,
  commands: ReadonlyArray<Command>
) => Effect.map(carryOutAll(write(commands, () => now)), (rows) => commands.map(read(rows, commands)))

/** The filled tables. */
const tables =
  "wac.messages, wac.message_deadlines, wac.message_names, wac.contacts, wac.buckets, wac.quota_usage, wac.events, wac.deliveries, " +
  "wac.send_queue, wac.campaign_tallies, wac.campaign_timelines"

/** What the planner knows when it plans: guesses of empty or of full tables, or statistics of empty ones. */
const beliefs = ["empty tables guessed", "empty tables seen", "full tables guessed"] as const

for (
  const { belief, database, name } of plannedDatabases.flatMap(({ layer, name }) =>
    beliefs.map((belief) => ({ belief, database: layer, name: `${name}, ${belief}` }))
  )
) {
  layer(database, { excludeTestServices: true })(name, (it) => {
    it.effect("a batch of sends, settlements and reports, and a sweep, read a few rows of each table per command", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        // one connection, so that its plans stay
        yield* client.withTransaction(Effect.gen(function*() {
          yield* client`set local statement_timeout = 0`
          for (const statement of found) yield* client.unsafe(statement)
          if (belief === "empty tables seen") yield* client.unsafe(`analyze ${tables}`)
          yield* accept(sends(0, 1))
          yield* carryOut(Tokens.spend, tokens.slice(0, 3))
          yield* carryOut(Tokens.giveBack, tokens.slice(0, 3))
          yield* directly(Settle.settleDirectly, settlements(0, 1))
          yield* directly(Settle.settleDirectly, settlementsOfCampaigns(1))
          yield* carryOut(ApplyReport.applyReport, reports(0, 1))
          yield* accept(sends(200, 4))
          yield* carryOut(Settle.settle, ends(200, 3))
          yield* carryOut(Abandon.abandon, sends(203, 1))
          yield* carryOut(Sweep.sweep, [sweep(now)])
          yield* accept(sendsToUsers(50_000, 1))
          yield* carryOut(Abandon.abandon, sendsToUsers(50_000, 1))
          yield* accept(sendsOfCampaigns(50_010, 2))
          for (const statement of fill) yield* client.unsafe(statement)
          if (belief === "full tables guessed") yield* discardPlans

          const few = 6 * batch
          const accepted = yield* reading("accept", accept(sends(1, batch)), few)
          assert.deepStrictEqual(accepted.map(({ _tag }) => _tag), Array(batch).fill("Claimed"))
          const toUsers = yield* reading("accept to user ids", accept(sendsToUsers(stored - 10, batch)), few)
          assert.deepStrictEqual(toUsers.map(({ _tag }) => _tag), Array(batch).fill("Claimed"))
          const contacts = toUsers.filter((accepted) => accepted._tag === "Claimed" && accepted.contact !== undefined)
          assert.strictEqual(contacts.length, 11)
          yield* reading("abandon to user ids", carryOut(Abandon.abandon, sendsToUsers(stored - 10, batch)), few)
          yield* reading("accept of campaigns", accept(sendsOfCampaigns(10_000, batch)), few)
          yield* reading("spending tokens", carryOut(Tokens.spend, tokens), few)
          yield* reading("giving tokens back", carryOut(Tokens.giveBack, tokens), few)
          const all = Array(batch).fill(true)
          const settled = yield* reading("settle", directly(Settle.settleDirectly, settlements(1, batch)), few)
          assert.deepStrictEqual(settled, all)
          const ofCampaigns = settlementsOfCampaigns(batch)
          assert.deepStrictEqual(
            yield* reading("settle of campaigns", directly(Settle.settleDirectly, ofCampaigns), few),
            all
          )
          assert.lengthOf(
            yield* client`select 1 from wac.send_queue where message_id like 'msg of cmp %'`,
            stored + 1 - batch
          )
          const reported = yield* reading("reports", carryOut(ApplyReport.applyReport, reports(1, batch)), few)
          assert.deepStrictEqual(reported.map((one) => one !== undefined), all)
          yield* reading("looking up", directly(LookUp.lookUp, lookUps(1, batch)), few)

          yield* accept(sends(300, 2 * batch))
          const ended = yield* reading("other ends", carryOut(Settle.settle, ends(300, batch)), few)
          assert.deepStrictEqual(ended, all)
          yield* reading("abandon", carryOut(Abandon.abandon, sends(300 + batch, batch)), few)
          const left = yield* client`select 1 from wac.messages where key is not null and claim_token is not null`
          assert.lengthOf(left, 0)
          // at the end of the sends' leases, the sweep reads them and postpones them
          const none = { unknown: 0, failed: 0, forgotten: 0 }
          const swept = (at: number, most: number) => reading("a sweep", carryOut(Sweep.sweep, [sweep(at)]), most)
          assert.deepStrictEqual(yield* swept(now + 1000, few), [{ ...none, more: true }])
          assert.deepStrictEqual(yield* swept(now + 1000, 0), [{ ...none, more: false }])
          // and this many keys of old sends have expired
          assert.deepStrictEqual(
            yield* swept(now + 1000 + batch - 1, few),
            [{ ...none, forgotten: batch - 1, more: true }]
          )
        }))
      }))
  })
}
