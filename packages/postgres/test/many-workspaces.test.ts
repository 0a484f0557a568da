/**
 * Old records of many workspaces are deleted in statements of a bounded number of rows: one that takes too long is
 * undone, and would fail at each repetition.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import {
  AuditStore,
  EventStore,
  KeptAnswerStore,
  RequestStore,
  RequestValuesStore,
  type Retention,
  type StoreError,
  Timing,
  UsageStore
} from "@wac/core"
import { Effect, Layer } from "effect"
import { bound } from "./bound.ts"
import { storageAndClient } from "./servers.ts"

/** More than one step of the retention of events looks at. */
const workspaces = 110

/** Old records of each kind in each workspace. Together they are more than a statement may delete. */
const old = 40

/** The maximum number of rows that one statement may delete. */
const atOnce = 1000

const hour = 3_600_000
const before = 1_500_000 * hour
const sqlId = (prefix: string, n: string) => `'${prefix}_' || lpad((${n})::text, 26, '0')`
const ofEach = (records: string) => `generate_series(1, ${workspaces}) w, ${records} i`
const each = ofEach(`generate_series(1, ${old + 1})`)
/** The last record of a workspace is not old. */
const at = `((case when i <= ${old} then i else ${before / hour} + 1 end) * ${hour}::bigint)`
const aged = (prefix: string) =>
  `'${prefix}_' || case when i <= ${old} then '0' else '7' end || lpad((w * 1000 + i)::text, 25, '0')`

/** Writes events that were delivered. */
const recorded = (each: string) => [
  `insert into wac.events (id, workspace_id, type, created_at, data)
  select ${aged("evt")}, ${sqlId("ws", "w")}, 'message.received', ${at}, '{}' from ${each}`,
  `insert into wac.deliveries (id, workspace_id, webhook_id, event_id, event_type, envelope, status, attempt_count,
    round_attempts, first_attempt_at, last_attempt_at, created_at, completed_at)
  select ${aged("dlv")}, ${sqlId("ws", "w")}, ${sqlId("whk", "w")}, ${aged("evt")}, 'message.received', 'combined',
    'delivered', 1, 1, 1, 1, ${at}, 1
  from ${each}`
]

/** Writes records of every kind. */
const records = (each: string) => [
  ...recorded(each),
  `insert into wac.requests (workspace_id, id, api_key_id, method, route, status, at, duration_ms)
  select ${sqlId("ws", "w")}, ${aged("req")}, 'key', 'POST', '/v1/messages', 200, ${at}, 1 from ${each}`,
  `insert into wac.request_tallies (workspace_id, hour, api_key_id, code, reason, count, last_at)
  select ${sqlId("ws", "w")}, ${at}, 'key', '', '', 1, 1 from ${each}`,
  // some of an earlier epoch
  `insert into wac.request_values (workspace_id, epoch, request_id, key_id, nonce, ciphertext)
  select ${sqlId("ws", "w")}, case when i % 2 = 0 then 0 else 1 end, ${aged("req")}, 'key',
    substr(sha256('nonce'), 1, 12), sha256('ciphertext')
  from ${each}`,
  `insert into wac.audit (workspace_id, id, action, at) select ${sqlId("ws", "w")}, ${
    aged("aud")
  }, 'a', ${at} from ${each}`,
  `insert into wac.usage_counts (workspace_id, hour, activity, count)
  select ${sqlId("ws", "w")}, ${at}, 'sendsAccepted', 1 from ${each}`,
  `insert into wac.usage_timings (workspace_id, kind, span, at, duration_group, count)
  select ${sqlId("ws", "w")}, case when i % 2 = 0 then 'arrival' else 'delivered' end, span, ${at}, 1, 1
  from ${each}, unnest('{${Object.values(Timing.spans).join()}}'::integer[]) span`,
  `insert into wac.usage_waiting (workspace_id, hour, queued, held) select ${
    sqlId("ws", "w")
  }, ${at}, 1, 1 from ${each}`,
  `insert into wac.priced_messages (workspace_id, hour, shard, market, category, type, billable, messages)
  select ${sqlId("ws", "w")}, ${at}, 0, 'DE', 'marketing', 'regular', true, 1 from ${each}`,
  `insert into wac.untold_prices (workspace_id, hour, shard, market, category, type, messages)
  select ${sqlId("ws", "w")}, ${at}, 0, 'DE', 'marketing', 'unheard_of', 1 from ${each}`
]

const fill = [
  `insert into wac.workspaces (id, name, created_at)
  select ${sqlId("ws", "w")}, 'one', 0 from generate_series(1, ${workspaces}) w`,
  `insert into wac.webhooks (id, workspace_id, url, envelope, event_types, created_at, updated_at)
  select ${sqlId("whk", "w")}, ${sqlId("ws", "w")}, 'https://receiver.example/', 'combined', '{}', 0, 0
  from generate_series(1, ${workspaces}) w`,
  `insert into wac.request_values_switches (workspace_id, until, epoch)
  select ${sqlId("ws", "w")}, 1, 1 from generate_series(1, ${workspaces}) w`,
  ...records(each)
]

const tables = [
  "events",
  "deliveries",
  "requests",
  "request_tallies",
  "request_values",
  "audit",
  "usage_counts",
  "usage_timings",
  "usage_waiting",
  "priced_messages",
  "untold_prices"
]

const filled = Layer.effectDiscard(PgClient.PgClient.use((client) =>
  client.withTransaction(Effect.gen(function*() {
    yield* client`set local statement_timeout = 0`
    for (const statement of fill) yield* client.unsafe(statement)
  }))
))

layer(filled.pipe(Layer.provideMerge(bound(atOnce, tables)), Layer.provideMerge(storageAndClient)), {
  excludeTestServices: true,
  timeout: "2 minutes"
})("retention with many workspaces", (it) => {
  const deletions = Effect.gen(function*() {
    const events = yield* EventStore.EventStore
    const requests = yield* RequestStore.RequestStore
    const values = yield* RequestValuesStore.RequestValuesStore
    const audit = yield* AuditStore.AuditStore
    const usage = yield* UsageStore.UsageStore
    return [
      ["events", events.forget(before, before), old],
      ["requests", requests.forget(before), old],
      ["values", values.forget(before), old],
      ["audit", audit.forget(before), old],
      // four tables, and the timings of hours
      ["usage", usage.forget(before), 5 * old],
      ["short usage", usage.forgetShort(before), old]
    ] as const
  })

  /** Carries out a step until nothing is left, and returns what each repetition deleted. */
  const round = (step: Effect.Effect<Retention.Forgotten, StoreError.StoreError>) =>
    Effect.gen(function*() {
      const removed: Array<number> = []
      for (let isMore = true; isMore;) {
        const forgotten = yield* step
        removed.push(forgotten.removed)
        isMore = forgotten.isMore
      }
      return removed
    })

  it.effect("a round deletes every workspace's old records, and each statement a bounded number of rows", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      for (const [what, step, each] of yield* deletions) {
        const removed = (yield* round(step)).reduce((sum, one) => sum + one, 0)
        assert.strictEqual(removed, workspaces * each, what)
      }
      for (const table of tables) {
        const [left] = yield* client.unsafe<{ readonly count: number }>(
          `select count(*)::int as count from wac.${table}`
        )
        assert.strictEqual(left?.count, workspaces * (table === "usage_timings" ? 2 : 1), table)
      }
    }))

  it.effect("a round without anything to delete is one step for up to a hundred workspaces", () =>
    Effect.gen(function*() {
      for (const [what, step] of yield* deletions) {
        yield* round(step)
        const none: Retention.Forgotten = { removed: 0, isMore: what === "events" }
        assert.deepStrictEqual(yield* step, none, what)
        yield* round(step)
      }
    }))

  it.effect("a step that deletes few events of a hundred workspaces goes on to the next ones", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const events = yield* EventStore.EventStore
      yield* round(events.forget(before, before))
      for (const statement of recorded(ofEach("generate_series(0, 0)"))) yield* client.unsafe(statement)
      assert.deepStrictEqual(yield* round(events.forget(before, before)), [100, workspaces - 100])
    }))

  it.effect("old records that another process has locked are left to it, and delay no others", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const keptAnswers = yield* KeptAnswerStore.KeptAnswerStore
      const all = [
        ...yield* deletions,
        ["kept answers", keptAnswers.forget(before), 0] as const
      ]
      for (const [, step] of all) yield* round(step)
      for (const statement of records(ofEach("generate_series(0, 0)"))) yield* client.unsafe(statement)
      yield* client.unsafe(`insert into wac.kept_answers
        (workspace_id, caller, route, key, fingerprint, token, lease_until, status, body, expires_at)
        select ${sqlId("ws", "w")}, 'usr', 'POST /r', 'key', 'f', 't', 1, 200, '{}', 1
        from generate_series(1, ${workspaces}) w`)
      const removed = Effect.forEach(
        all,
        ([what, step]) => Effect.map(round(step), (steps) => [what, steps.reduce((sum, one) => sum + one, 0)] as const)
      )
      const each = (n: number) => all.map(([what]) => [what, what === "usage" ? 5 * n : n] as const)
      yield* client.withTransaction(Effect.gen(function*() {
        // of events whose deliveries are locked, a round waits for these
        for (const table of [...tables.filter((table) => table !== "deliveries"), "kept_answers"]) {
          yield* client.unsafe(`select from wac.${table} where workspace_id = ${sqlId("ws", "1")} for update`)
        }
        assert.deepStrictEqual(yield* removed, each(workspaces - 1))
      }))
      assert.deepStrictEqual(yield* removed, each(1))
    }))
})
