/**
 * What requests and usage cost on a filled database: a page, whatever else is stored.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { type Id, Page, type RequestStore } from "@wac/core"
import { Effect, Layer, Record } from "effect"
import { forgetting, page as pageOf, sumTallies } from "../src/requests/RequestStore.ts"
import type { Statement } from "../src/Statement.ts"
import { priced } from "../src/usage/PriceTally.ts"
import * as UsageStore from "../src/usage/UsageStore.ts"
import { plannedDatabases } from "./servers.ts"
import { touched } from "./touched.ts"

const id = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, "0")}`
const sqlId = (prefix: string, n: string) => `'${prefix}_' || lpad((${n})::text, 26, '0')`

/** In each of two workspaces. Every 100th is refused, every 10,000th for a rare reason. */
const requests = 20_000

const fill = [
  `insert into wac.workspaces (id, name, created_at) select ${sqlId("ws", "i")}, 'one', 0 from generate_series(1, 2) i`,
  // workspaces without requests
  `insert into wac.workspaces (id, name, created_at)
  select ${sqlId("ws", "i")}, 'one', 0 from generate_series(1001, 3500) i`,
  `insert into wac.requests (workspace_id, id, api_key_id, method, route, status, code, reason, at, duration_ms)
  select ${sqlId("ws", "w")}, ${sqlId("req", "i")}, 'key', 'POST', '/v1/messages', 200,
    case when i % 100 = 0 then 'forbidden' end,
    case when i % 10000 = 0 then 'rare' when i % 100 = 0 then 'opted_out' end, i, 1
  from generate_series(1, 2) w, generate_series(1, ${requests}) i`,
  `insert into wac.request_tallies (workspace_id, hour, api_key_id, code, reason, count, last_at)
  select ${sqlId("ws", "w")}, h, 'key' || k, '', '', 1, h
  from generate_series(1, 2) w, generate_series(1, 300) h, generate_series(1, 10) k`,
  `insert into wac.usage_counts (workspace_id, hour, activity, count)
  select ${sqlId("ws", "w")}, h, a, 1
  from generate_series(1, 2) w, generate_series(1, 2000) h, unnest('{sendsAccepted,sendsFailed}'::text[]) a`,
  `insert into wac.usage_timings (workspace_id, kind, span, at, duration_group, count)
  select ${sqlId("ws", "w")}, k, s, h, g, 1
  from generate_series(1, 2) w, unnest('{delivered,timeout,arrival}'::text[]) k, unnest('{1,2}'::integer[]) s,
    generate_series(1, 2000) h, generate_series(1, 4) g`,
  `insert into wac.usage_waiting (workspace_id, hour, queued, held)
  select ${sqlId("ws", "w")}, h, 1, 1 from generate_series(1, 2) w, generate_series(1, 2000) h`,
  `insert into wac.priced_messages (workspace_id, hour, shard, market, category, type, billable, messages)
  select ${sqlId("ws", "w")}, h, s, m, 'marketing', 'regular', true, 1
  from generate_series(1, 2) w, generate_series(1, 2000) h, generate_series(0, 1) s, unnest('{DE,FR}'::text[]) m`,
  `insert into wac.untold_prices (workspace_id, hour, shard, market, category, type, messages)
  select ${sqlId("ws", "w")}, h, s, m, 'marketing', 'unheard_of', 1
  from generate_series(1, 2) w, generate_series(1, 2000) h, generate_series(0, 1) s, unnest('{DE,FR}'::text[]) m`
]

for (const { layer: database, name } of plannedDatabases) {
  const filled = Layer.effectDiscard(Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    yield* client.withTransaction(Effect.gen(function*() {
      yield* client`set local statement_timeout = 0`
      for (const statement of fill) yield* client.unsafe(statement)
    }))
    for (
      const table of [
        "workspaces",
        "requests",
        "request_tallies",
        "usage_counts",
        "usage_timings",
        "usage_waiting",
        "priced_messages",
        "untold_prices"
      ]
    ) {
      yield* client`vacuum (analyze) wac.${client(table)}`
    }
  }))

  layer(Layer.provideMerge(filled, database), { excludeTestServices: true })(name, (it) => {
    const reads = (table: string, statement: Statement) =>
      Effect.map(touched(statement), (tables) => {
        assert.strictEqual(tables(table).scans, 0, `${table} was read from end to end`)
        return tables(table).read
      })

    it.effect("a page of requests costs a page, with every filter", () =>
      Effect.gen(function*() {
        const list = (filter: RequestStore.RequestFilter, after: string | null) =>
          reads("requests", pageOf(id("ws", 1), filter, { limit: 25, after }))
        assert.isAtMost(yield* list({}, null), 26)
        assert.isAtMost(yield* list({}, id("req", requests / 2)), 26)
        assert.isAtMost(yield* list({ refused: true }, null), 26)
        assert.isAtMost(yield* list({ refused: true }, id("req", requests / 2)), 26)
        assert.isAtMost(yield* list({ word: "opted_out" }, id("req", requests / 2)), 26)
        assert.isAtMost(yield* list({ word: "rare" }, null), 2)
        assert.isAtMost(yield* list({ word: "none" }, null), 0)
        assert.isAtMost(yield* list({ id: id("req", requests / 2) as Id.RequestId }, null), 1)
      }))

    it.effect("a filter without an index reads a bounded number of requests, and says where it stopped", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const page = (filter: RequestStore.RequestFilter, after: string | null = null) =>
          pageOf(id("ws", 1), filter, { limit: 25, after })
        for (
          const filter of [
            { apiKeyId: "none" as Id.ApiKeyId },
            { route: "/none" },
            { status: 500 },
            { status: 500, route: "/none", apiKeyId: "none" as Id.ApiKeyId }
          ]
        ) {
          const statement = page(filter)
          // looked at, and once more for where it stopped
          assert.isAtMost(yield* reads("requests", statement), 2 * Page.maxScanned)
          const rows = yield* client.unsafe(statement.text, statement.params)
          assert.deepStrictEqual(rows, [{ request: null, reached: id("req", requests - Page.maxScanned + 1) }])
          const rest = page(filter, id("req", Page.maxScanned))
          assert.deepStrictEqual(yield* client.unsafe(rest.text, rest.params), [{ request: null, reached: null }])
        }
        assert.isAtMost(yield* reads("requests", page({ status: 200 })), 26)
      }))

    it.effect("sums read only rows of the requested times", () =>
      Effect.gen(function*() {
        const workspaceId = id("ws", 1) as Id.WorkspaceId
        const hours = { workspaceId, since: 991, until: 1001 }
        assert.isAtMost(yield* reads("request_tallies", sumTallies({ workspaceId, since: 291 })), 100)
        assert.isAtMost(yield* reads("usage_counts", UsageStore.counts(hours)), 20)
        const timings = UsageStore.sumTimings({ ...hours, kinds: ["delivered", "timeout"], span: 2, step: 10 })
        assert.isAtMost(yield* reads("usage_timings", timings), 80)
        assert.isAtMost(yield* reads("usage_waiting", UsageStore.waited(hours)), 10)
        for (const table of ["priced_messages", "untold_prices"]) {
          assert.isAtMost(yield* reads(table, priced(hours)), 40)
        }
      }))

    it.effect("deleting old rows reads only those rows", () =>
      Effect.gen(function*() {
        const steps = { from: "", limit: 1000 }
        const old = { before: 11, ...steps }
        // selected and deleted, in each workspace
        const requests = forgetting.requests({ lowest: id("req", 11), ...steps })
        assert.isAtMost(yield* reads("requests", requests), 2 * 2 * 10)
        assert.isAtMost(
          yield* reads("request_tallies", forgetting.request_tallies({ hour: 11, ...steps })),
          2 * 2 * 100
        )
        // the second workspace alone, and of this one a part
        const part = { from: id("ws", 2), limit: 5 }
        for (
          const [table, statement] of [
            ["requests", forgetting.requests({ lowest: id("req", 11), ...part })],
            ["request_tallies", forgetting.request_tallies({ hour: 11, ...part })],
            ["usage_counts", UsageStore.forgetting.usage_counts({ before: 11, ...part })],
            [
              "usage_timings",
              UsageStore.forgetTimings({ before: 11, ...part, span: 2, kinds: ["delivered", "timeout", "arrival"] })
            ]
          ] as const
        ) {
          assert.isAtMost(yield* reads(table, statement), 2 * 5, table)
        }
        const most = { usage_counts: 20, usage_waiting: 10, priced_messages: 40, untold_prices: 40 }
        for (const [table, rows] of Record.toEntries(most)) {
          assert.isAtMost(yield* reads(table, UsageStore.forgetting[table](old)), 2 * 2 * rows)
        }
        const timings = UsageStore.forgetTimings({ ...old, span: 2, kinds: ["delivered", "timeout", "arrival"] })
        assert.isAtMost(yield* reads("usage_timings", timings), 2 * 2 * 120)
      }))

    it.effect("a deletion reads a thousand workspaces, and goes on with the next one also if they have no old rows", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        for (
          const [from, reached] of [
            [id("ws", 1001), id("ws", 2001)],
            [id("ws", 2001), id("ws", 3001)],
            [id("ws", 3001), null]
          ] as const
        ) {
          const statement = forgetting.requests({ lowest: id("req", 11), from, limit: 1000 })
          // and once more for where it stopped
          assert.isAtMost(yield* reads("workspaces", statement), 2 * 1000 + 1)
          assert.deepStrictEqual(yield* client.unsafe(statement.text, statement.params), [{ removed: 0, reached }])
        }
      }))
  })
}
