/**
 * What deleting old records costs on a filled database: the rows that go, whatever else is stored.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Campaign, CustomerRecords, type Id, type Idempotency, Message } from "@wac/core"
import { Effect, Layer } from "effect"
import { deliveries as oldDeliveries, events as oldEvents, horizons } from "../src/events/ForgetEvents.ts"
import { forgetReceived, forgetSent, takeReceived } from "../src/messages/ForgetMessages.ts"
import * as KeptAnswerStore from "../src/requests/KeptAnswerStore.ts"
import type { Statement } from "../src/Statement.ts"
import { forgetAttempts } from "../src/webhooks/DeliveryStore.ts"
import { possible, write } from "./rows.ts"
import { plannedDatabases } from "./servers.ts"
import { touched } from "./touched.ts"

const id = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, "0")}`
const sqlId = (prefix: string, n: string) => `'${prefix}_' || lpad((${n})::text, 26, '0')`

/** Each is recorded an hour after the one before. */
const count = 20_000
const hour = 3_600_000

/** From here on, deliveries are held. */
const held = 12_000

const fill = [
  `insert into wac.events (id, workspace_id, type, created_at, data)
  select ${sqlId("evt", "i")}, 'ws', 'message.received', i * ${hour}::bigint, '{}' from generate_series(1, ${count}) i`,
  `insert into wac.deliveries (id, workspace_id, webhook_id, event_id, event_type, envelope, status, attempt_count,
    round_attempts, first_attempt_at, last_attempt_at, next_attempt_at, created_at, completed_at)
  select ${sqlId("dlv", "i")}, 'ws', 'whk', ${sqlId("evt", "i")}, 'message.received', 'combined',
    case when i < ${held} then 'delivered' else 'pending' end, 1, 1, 1, 1, case when i < ${held} then null else 1 end,
    i * ${hour}::bigint, case when i < ${held} then 1 end
  from generate_series(1, ${count}) i`,
  `insert into wac.attempts (delivery_id, number, id, workspace_id, trigger, started_at, duration_ms, outcome, status_code,
    message, url)
  select ${sqlId("dlv", "i")}, 1, ${sqlId("att", "i")}, 'ws', 'automatic', i * ${hour}::bigint, 1, 'delivered', 200,
    'answered 200', 'https://receiver.example/'
  from generate_series(1, ${count}) i`,
  `insert into wac.messages (id, workspace_id, phone_number_id, from_number, content, status, status_at, created_at, sent_at,
    provider_message_id)
  select ${sqlId("msg", "i")}, 'ws', 'pn', '+14155550100', '{"to":"+14155550123","type":"text"}', 'sent', 1, 1, 1,
    'wamid.' || i
  from generate_series(1, ${count}) i`,
  // every tenth is a customer's
  `insert into wac.conversations (message_id, workspace_id, phone_number_id, customer, is_inbound, received, said)
  select ${sqlId("msg", "i")}, 'ws', 'pn', '+1' || i, i % 10 = 0, case when i % 10 = 0 then '{}'::json end,
    case when i % 10 = 0 then '{}'::json end
  from generate_series(1, ${count}) i`,
  `insert into wac.kept_answers (workspace_id, caller, route, key, fingerprint, token, lease_until, status, body, expires_at)
  select 'ws', 'usr', 'POST /r', lpad(i::text, 5, '0'), 'f', 't', 1, 200, '{"customer":"+1' || i || '"}', i * ${hour}::bigint
  from generate_series(1, ${count}) i`,
  `insert into wac.message_names (provider_message_id, message_id)
  select 'wamid.' || i, ${sqlId("msg", "i")} from generate_series(1, ${count}) i`
]

for (const { layer: database, name } of plannedDatabases) {
  const filled = Layer.effectDiscard(Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    for (const table of ["workspaces", "webhooks"]) yield* write(table, possible[table]!)
    yield* client.withTransaction(Effect.gen(function*() {
      yield* client`set local statement_timeout = 0`
      for (const statement of fill) yield* client.unsafe(statement)
    }))
    for (
      const table of ["events", "deliveries", "attempts", "messages", "message_names", "conversations", "kept_answers"]
    ) {
      yield* client`vacuum (analyze) wac.${client(table)}`
    }
  }))

  layer(Layer.provideMerge(filled, database), { excludeTestServices: true })(name, (it) => {
    /** What the planner may read of the ends of indexes. */
    const planner = 10

    const cost = (statement: Statement, ...tables: ReadonlyArray<string>) =>
      Effect.map(touched(statement), (of) =>
        tables.map((table) => {
          assert.strictEqual(of(table).scans, 0, `${table} was read from end to end`)
          return [of(table).read, of(table).written] as const
        }))

    /** As for events recorded before the `n`th. */
    const until = (n: number, below = n) => ({
      horizons: [{ workspaceId: "ws" as Id.WorkspaceId, until: n * hour, below: id("dlv", below) }]
    })

    it.effect("a workspace's horizon costs one delivery, however many are held", () =>
      Effect.gen(function*() {
        const statement = horizons({ before: count * hour, unhandledBefore: 0, from: "", limit: 101 })
        const [deliveries] = yield* cost(statement, "deliveries")
        assert.isAtMost(deliveries![0], 1 + planner)
        const client = yield* PgClient.PgClient
        const [row] = yield* client.unsafe<{ readonly until: string }>(statement.text, statement.params)
        assert.strictEqual(Number(row!.until), held * hour)
      }))

    it.effect("a step deletes 500 deliveries with their attempts, and reads no others", () =>
      Effect.gen(function*() {
        const [deliveries, attempts] = yield* cost(oldDeliveries(until(held)), "deliveries", "attempts")
        assert.strictEqual(deliveries![1], 500)
        assert.isAtMost(deliveries![0], 2 * 500 + planner)
        assert.strictEqual(attempts![1], 500)
        assert.isAtMost(attempts![0], 2 * 500 + planner)
      }))

    it.effect("a step deletes 500 events once their deliveries are gone, and none before", () =>
      Effect.gen(function*() {
        const before = yield* cost(oldEvents(until(held)), "events")
        assert.deepStrictEqual(before, [[0, 0]])
        const [events, deliveries] = yield* cost(oldEvents(until(held, 0)), "events", "deliveries")
        assert.strictEqual(events![1], 500)
        assert.isAtMost(events![0], 2 * 500 + planner)
        assert.isAtMost(deliveries![0], 1 + planner)
      }))

    it.effect("a step deletes attempts by a range of their key", () =>
      Effect.gen(function*() {
        const [attempts] = yield* cost(
          forgetAttempts({ below: id("dlv", held), before: held * hour, limit: 1000 }),
          "attempts"
        )
        assert.strictEqual(attempts![1], 1000)
        assert.isAtMost(attempts![0], 2 * 1000 + planner)
      }))

    it.effect("a step deletes 1000 answers that have expired, and reads no others", () =>
      Effect.gen(function*() {
        const [answers] = yield* cost(KeptAnswerStore.forget({ before: held * hour }), "kept_answers")
        assert.strictEqual(answers![1], 1000)
        assert.isAtMost(answers![0], 2 * 1000 + planner)
      }))

    it.effect("a step of an erasure reads 200 answers, and writes those that name the customer", () =>
      Effect.gen(function*() {
        const [answers] = yield* cost(
          KeptAnswerStore.unname({
            workspaceId: "ws" as Id.WorkspaceId,
            names: CustomerRecords.written({ texts: ["+112345"], keys: [] }),
            after: { caller: "usr", route: "POST /r", key: "12300" as Idempotency.IdempotencyKey }
          }),
          "kept_answers"
        )
        assert.strictEqual(answers![1], 1)
        assert.isAtMost(answers![0], 200 + 1 + planner)
      }))

    it.effect("a step deletes 500 messages with their names, and reads no others", () =>
      Effect.gen(function*() {
        const statement = forgetSent({
          after: "",
          below: id("msg", held),
          before: held * hour,
          over: Message.over,
          endings: Campaign.endings
        })
        const [messages, names, said] = yield* cost(statement, "messages", "message_names", "conversations")
        assert.deepStrictEqual([messages![1], names![1], said![1]], [500, 500, 500])
        assert.isAtMost(said![0], 500 + planner)
        assert.isAtMost(messages![0], 2 * 500 + planner)
        assert.isAtMost(names![0], 500 + planner)
      }))

    it.effect("a round of deletions reads the messages of a campaign that goes on once, and then those that go", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const kept = 5000
        const undone = yield* Effect.flip(client.withTransaction(Effect.gen(function*() {
          yield* client`insert into wac.campaigns (id, workspace_id, state) values ('cmp', 'ws', '{"status":"paused"}')`
          yield* client`update wac.messages set campaign_id = 'cmp', route = 'campaign cmp', key = id, fingerprint = 'f'
            where id <= ${id("msg", kept)}`
          let after = ""
          for (let written = 0; written === 0;) {
            const of = yield* touched(
              forgetSent({
                after,
                below: id("msg", held),
                before: held * hour,
                over: Message.over,
                endings: Campaign.endings
              })
            )
            assert.isAtMost(of("messages").read, 2 * 500 + planner)
            assert.isAtMost(of("campaigns").read, 1 + planner)
            written = of("messages").written
            if (written === 0) after = id("msg", Number(after.slice(4)) + 500)
          }
          assert.strictEqual(after, id("msg", kept))
          return yield* Effect.fail("undone" as const)
        })))
        assert.strictEqual(undone, "undone")
      }))

    it.effect("a step deletes 500 of what customers wrote, or what they said, however much was sent meanwhile", () =>
      Effect.gen(function*() {
        const [said] = yield* cost(forgetReceived({ below: id("msg", held) }), "conversations")
        assert.strictEqual(said![1], 500)
        assert.isAtMost(said![0], 2 * 500 + planner)
        const client = yield* PgClient.PgClient
        yield* client`insert into wac.forgotten_bodies (reached) values ('') on conflict do nothing`
        const [bodies] = yield* cost(takeReceived({ below: id("msg", held) }), "conversations")
        assert.isAtMost(bodies![0], 500 + planner)
      }))
  })
}
