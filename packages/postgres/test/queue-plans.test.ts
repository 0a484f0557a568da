/**
 * What queued messages cost does not depend on how many wait, nor on what the tables held when the plans were made:
 * each statement is planned while everything is empty, and then reads only its own rows.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it, layer } from "@effect/vitest"
import { Capabilities, type Id, type Idempotency, Limits, type MessageStore, type QueueEndStep } from "@wac/core"
import { MessageFixture } from "@wac/testkit"
import { Duration, Effect } from "effect"
import { loadQueue } from "../src/campaigns/WorkOnCampaign.ts"
import * as Accept from "../src/messages/Accept.ts"
import { cancel } from "../src/messages/Cancel.ts"
import * as Settle from "../src/messages/Settle.ts"
import { beat } from "../src/queue/BeatHeart.ts"
import { end } from "../src/queue/EndQueued.ts"
import { backlogOf, heldSinceOf, nextText, releaseAllText } from "../src/queue/QueueStore.ts"
import { work } from "../src/queue/WorkOnLane.ts"
import { carryOut, carryOutAll } from "./carryOut.ts"
import { plannedDatabases } from "./servers.ts"
import { discardPlans } from "./touched.ts"

const now = 1_800_000_000_000
const stored = 20_000
const batch = 64
const few = 6 * batch

const limits: Limits.Limits = {
  ...Limits.standard,
  workspaceTiers: { standard: 1000 },
  phoneNumberTiers: { standard: 1000 },
  defaults: { ...Limits.standard.defaults, monthlyQuota: 1_000_000, queuedMessages: 1_000_000 }
}

/** Identifiers as stored answers must hold them. */
const idOf = (prefix: string, n = 0) => `${prefix}_${String(n).padStart(26, "0")}`
const workspace = idOf("ws") as Id.WorkspaceId
const key = idOf("key") as Id.ApiKeyId

/** Messages to customers, by default to be sent at once. */
const sends = (
  first: number,
  count: number,
  given: Partial<MessageStore.AcceptSend> = {}
): ReadonlyArray<MessageStore.AcceptSend> =>
  Array.from({ length: count }, (_, i) => ({
    now,
    request: {
      workspaceId: workspace,
      route: "r",
      key: `key ${first + i}` as Idempotency.IdempotencyKey,
      fingerprint: "f"
    },
    apiKeyId: key,
    queue: null,
    later: null,
    message: {
      type: "template",
      to: `+1202${String(first + i).padStart(7, "0")}`,
      template: { name: "t", language: "en" }
    },
    hash: `hash ${first + i}`,
    messageId: idOf("msg", first + i) as Id.MessageId,
    claimToken: "mine",
    leaseUntil: now + 1000,
    limits,
    provider: "sandbox",
    capabilities: Capabilities.all,
    ...given
  }))

const later = { isInBatch: true }
const queue = { campaignId: null }

const ids = (n: number) => ({ events: [idOf("evt", n) as Id.EventId], deliveries: [idOf("dlv", n) as Id.DeliveryId] })

const settlements = (first: number, count: number): ReadonlyArray<MessageStore.SettleSend> =>
  sends(first, count).map((command, i) => ({
    now,
    message: { ...MessageFixture.asClaimed(command), sendAt: now },
    claimToken: "mine",
    end: { _tag: "Accepted", providerMessageId: `wamid ${first + i}` },
    ids: ids(first + i)
  }))

const ends = (first: number, count: number, end: QueueEndStep.QueueEnd): ReadonlyArray<QueueEndStep.EndQueued> =>
  Array.from({ length: count }, (_, i) => ({
    now,
    messageId: idOf("msg", first + i) as Id.MessageId,
    phoneNumberId: "pn" as Id.PhoneNumberId,
    end,
    ids: ids(first + i)
  }))

const again = { _tag: "Again", after: Duration.seconds(1) } as const
const failed = { _tag: "Failed", error: MessageFixture.refusedError } as const

const cancels = (first: number, count: number): ReadonlyArray<MessageStore.CancelSend> =>
  Array.from({ length: count }, (_, i) => ({
    now,
    workspaceId: workspace,
    messageId: idOf("msg", first + i) as Id.MessageId,
    boundTo: null,
    enqueued: MessageFixture.enqueued
  }))

const accept = (commands: ReadonlyArray<MessageStore.AcceptSend>) => carryOut(Accept.accept, commands)

const settle = (first: number, count: number) => {
  const commands = settlements(first, count)
  const { read, write } = Settle.settleDirectly
  return Effect.map(carryOutAll(write(commands, () => now)), (rows) => commands.map(read(rows, commands)))
}

const working = carryOut(work, [{ now, asked: now, limit: batch, limits }])

const beating = carryOut(beat, [{ now, last: now, isRestored: false }], now)

const found = [
  `insert into wac.workspaces (id, name, created_at) values ('${workspace}', 'one', 0)`,
  `insert into wac.phone_numbers (id, workspace_id, provider, phone_number, provider_number_id, provider_account_id, is_default)
  values ('pn', '${workspace}', 'sandbox', '+14155550000', 'p', 'a', true)`,
  `insert into wac.api_keys (id, workspace_id, name, prefix, scopes, token_hash, secret_key_id, secret_nonce,
    secret_ciphertext, require_signature, created_at)
  values ('${key}', '${workspace}', 'k', 'p', '{}', 'h', 'one', substr(sha256('nonce'), 1, 12), sha256('ciphertext'), false, 0)`,
  `insert into wac.templates (id, workspace_id, provider_account_id, name, language, category, status, parameter_format,
    components, variables, provider_template_id, synced_at)
  values ('tpl', '${workspace}', 'a', 't', 'en', 'utility', 'approved', 'positional', '[]', '{}', 'p', 0)`
]

/** Many wait: of this number until later, of others, and of a campaign. Their numbers have something to do later. */
const fill = [
  `insert into wac.messages (id, workspace_id, phone_number_id, from_number, content, status, status_at, created_at, send_at,
    route, key, fingerprint, answer)
  select 'msg of old ' || i, '${workspace}', 'pn', '+14155550000', '{}', 'queued', 1, 1, ${
    now + 1000
  }, 'r', 'key of old ' || i, 'f',
    '{}'
  from generate_series(1, ${stored}) i`,
  `insert into wac.send_queue (message_id, phone_number_id, workspace_id, due_at, send_until)
  select 'msg of old ' || i, 'pn', '${workspace}', ${now + 1000}, ${now + 2000} from generate_series(1, ${stored}) i`,
  `insert into wac.send_queue (message_id, phone_number_id, workspace_id, due_at, send_until)
  select 'msg of other ' || i, 'pn ' || i, 'ws ' || i, 1, ${now + 2000} from generate_series(1, ${stored}) i`,
  `insert into wac.campaigns (id, workspace_id, state) values ('cmp', '${workspace}', '{}')`,
  `insert into wac.send_queue (message_id, campaign_id, due_at)
  select 'msg of cmp ' || i, 'cmp', 1 from generate_series(1, ${stored}) i`,
  `insert into wac.send_lanes (phone_number_id, workspace_id, work_at)
  select 'pn ' || i, 'ws ' || i, case when i <= 20 then ${now} + i end from generate_series(1, ${stored}) i`,
  `insert into wac.queue_sizes (workspace_id, shard, queued) select 'ws ' || i, 0, 1 from generate_series(1, ${stored}) i`
]

const tables =
  "wac.messages, wac.send_queue, wac.send_lanes, wac.queue_sizes, wac.heartbeats, wac.message_deadlines, wac.message_names, wac.buckets"

/** How many rows of each table this transaction has read so far. */
const reads = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  const rows = yield* client<{ readonly name: string; readonly read: number }>`
    select relname as name, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables`
  return new Map(rows.map(({ name, read }) => [name, read]))
})

/** Asserts that a step reads at most that many rows of any table but some. */
const reading = <A, E, R>(name: string, step: Effect.Effect<A, E, R>, most: number, ...but: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const before = yield* reads
    const answers = yield* step
    for (const [table, read] of yield* reads) {
      if (!but.includes(table)) {
        assert.isAtMost(read - (before.get(table) ?? 0), most, `rows of ${table} that ${name} read`)
      }
    }
    return answers
  })

/** What the planner knows when it plans: guesses of empty or of full tables, or statistics of empty ones. */
const beliefs = ["empty tables guessed", "empty tables seen", "full tables guessed"] as const

for (
  const { belief, database, name } of plannedDatabases.flatMap(({ layer, name }) =>
    beliefs.map((belief) => ({ belief, database: layer, name: `${name}, ${belief}` }))
  )
) {
  layer(database, { excludeTestServices: true })(name, (it) => {
    it.effect("what queues, sends, delays, ends and cancels messages reads a few rows of each table per message", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const counted = (of: Id.WorkspaceId | null) => {
          const { params, text } = backlogOf(of, now)
          return client.unsafe(text, params)
        }
        const ofCampaign = (limit: number, given: Parameters<typeof loadQueue>[1]) => {
          const { params, text } = loadQueue({ campaignId: "cmp" as Id.CampaignId, limit }, given)
          return client.unsafe(text, params)
        }
        const dueOf = (limit: number) => ofCampaign(limit, { dueBy: now, waitingAfter: undefined })
        const waitingOf = (limit: number) => ofCampaign(limit, { dueBy: undefined, waitingAfter: now })
        const backlog = counted(null)
        const backlogOfOne = counted(workspace)
        const heldSince = (of: string) => {
          const { params, text } = heldSinceOf({ workspaceId: of as Id.WorkspaceId })
          return client.unsafe(text, params)
        }
        // one connection, so that its plans stay
        yield* client.withTransaction(Effect.gen(function*() {
          yield* client`set local statement_timeout = 0`
          for (const statement of found) yield* client.unsafe(statement)
          if (belief === "empty tables seen") yield* client.unsafe(`analyze ${tables}`)
          yield* accept(sends(0, 4, { later }))
          yield* working
          yield* accept(sends(0, 1, { queue }))
          yield* settle(0, 1)
          yield* carryOut(end, ends(1, 1, again))
          yield* carryOut(end, ends(1, 1, failed))
          yield* carryOut(end, ends(1, 1, { _tag: "Done" }))
          yield* carryOut(cancel, cancels(2, 1))
          yield* beating
          yield* dueOf(batch)
          yield* waitingOf(batch)
          yield* backlog
          yield* backlogOfOne
          yield* heldSince(workspace)
          for (const text of [nextText, releaseAllText]) yield* client.unsafe(text)
          yield* client`update wac.send_lanes set work_at = null`
          yield* client`delete from wac.send_queue`
          yield* client`delete from wac.queue_sizes`
          for (const statement of fill) yield* client.unsafe(statement)
          if (belief === "full tables guessed") yield* discardPlans
          // a hold from which a person has released this workspace, and others were created after it
          yield* client`update wac.heartbeats set held_since = 1`
          yield* client`insert into wac.queue_releases (workspace_id, held_since) values (${workspace}, 1)`
          yield* client`insert into wac.workspaces (id, name, created_at)
            select 'ws ' || i, 'another', 2 from generate_series(1, ${stored}) i`

          // all but a few of the campaign are due
          yield* client`update wac.send_queue set due_at = ${now + 1000} where message_id like 'msg of cmp _'`
          yield* reading("those that wait for a campaign", waitingOf(batch), few)
          yield* reading("those of a campaign that are due", dueOf(batch), few)
          yield* client`update wac.send_queue set due_at = ${now + 500}, tries = 1
            where campaign_id = 'cmp' and due_at < ${now}`
          yield* reading("those that wait beside many that were tried", waitingOf(5), few)

          const all = Array(batch).fill(true)
          const queued = yield* reading("queueing", accept(sends(100, batch, { later })), few)
          assert.deepStrictEqual(queued.map(({ _tag }) => _tag), Array(batch).fill("Queued"))
          // the first lane that is due is this one
          const [worked] = yield* reading("work", working, few)
          assert.strictEqual(worked?.claimed.length, batch)
          const claimed = yield* reading("claims", accept(sends(100, batch, { queue })), few)
          assert.deepStrictEqual(claimed.map(({ _tag }) => _tag), Array(batch).fill("Claimed"))
          // how this statement finds messages, send-plans tests
          assert.deepStrictEqual(yield* reading("settle", settle(100, batch), few, "messages"), all)
          yield* accept(sends(200, 3 * batch, { later }))
          yield* reading("delays", carryOut(end, ends(200, batch, again)), few)
          yield* reading("failures", carryOut(end, ends(200, batch, failed)), few)
          yield* reading("ends", carryOut(end, ends(200, batch, { _tag: "Done" })), few)
          const cancelled = yield* reading("cancels", carryOut(cancel, cancels(200 + batch, batch)), few)
          assert.deepStrictEqual(cancelled.map((one) => one?._tag), Array(batch).fill("Success"))
          yield* reading("a heartbeat", beating, 3)
          yield* reading("nextAt", client.unsafe(nextText), 2)
          // a workspace that was released, and another that is held
          yield* client`update wac.workspaces set created_at = 0 where id = 'ws 7'`
          assert.lengthOf(yield* reading("a released workspace's hold", heldSince(workspace), 2), 0)
          const [hold] = yield* reading("a held workspace's hold", heldSince("ws 7"), 2)
          assert.deepInclude({ ...hold as object }, { held_since: 1n })
          yield* reading("release", client.unsafe(releaseAllText), 2, "workspaces")
          // a count for each workspace, which of them are held, and the lanes with messages
          const [told] = yield* reading("the backlog", backlog, 50, "queue_sizes", "workspaces")
          assert.deepInclude({ ...told as object }, { queued: stored + batch })
          const [toldOne] = yield* reading("a workspace's backlog", backlogOfOne, 50)
          assert.deepInclude({ ...toldOne as object }, { queued: batch })
          const left = yield* client`select 1 from wac.send_queue where phone_number_id = 'pn' and message_id !~ 'old'`
          assert.lengthOf(left, batch)
        }))
      }))
  })
}

it("a batch of sends has no statement, and no column, for messages to be sent later", () => {
  const texts = Accept.accept.load(sends(0, batch)).map(({ text }) => text)
  assert.lengthOf(texts, 3)
  assert.lengthOf(Accept.accept.load([...sends(0, batch), ...sends(batch, 1, { later })]), 4)
  const [settled] = Settle.settleDirectly.write(
    settlements(0, batch).map((command) => ({ ...command, message: { ...command.message, sendAt: null } })),
    () => now
  )
  for (const text of [...texts, settled!.text]) assert.notMatch(text, /send_queue|send_lanes|queue_sizes|send_at/)
})
