/**
 * What each growing list of the dashboard costs: one page of one index, whatever else is stored and whatever the
 * planner assumes about the tables. Messages, contacts, deliveries, events, requests and people have tests of their
 * own.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import {
  Alert,
  AlertStore as Alerts,
  ApiKeyStore as ApiKeys,
  AuditStore as Audit,
  CampaignStore as Campaigns,
  type Id,
  ReplayStore as Replays,
  TemplateStore as Templates
} from "@wac/core"
import { Effect, Layer } from "effect"
import * as AlertStore from "../src/alerts/AlertStore.ts"
import * as AuditStore from "../src/audit/AuditStore.ts"
import * as CampaignStore from "../src/campaigns/CampaignStore.ts"
import * as ApiKeyStore from "../src/keys/ApiKeyStore.ts"
import * as TemplateStore from "../src/templates/TemplateStore.ts"
import * as ReplayStore from "../src/webhooks/ReplayStore.ts"
import { planningDatabases } from "./servers.ts"
import { discardPlans, touchedBy } from "./touched.ts"

const id = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, "0")}`
const sqlId = (prefix: string, n: string) => `'${prefix}_' || lpad((${n})::text, 26, '0')`

/** The number of rows in each of two workspaces. */
const stored = 10_000
const now = 1_800_000_000_000

const ofBoth = `from generate_series(1, 2) w, generate_series(1, ${stored}) i`

/**
 * Every hundredth alert is open. Every hundredth key is active, except the newest. The audit is searched for one of a
 * hundred people and one of a thousand targets.
 */
const fill = [
  `insert into wac.workspaces (id, name, created_at) select ${sqlId("ws", "i")}, 'one', 0 from generate_series(1, 2) i`,
  `insert into wac.alerts (workspace_id, id, kind, subject, message, opened_at, closed_at)
  select ${sqlId("ws", "w")}, ${sqlId("alr", "i * 2 + w")}, 'webhook_failing', 'whk ' || i, 'so', i,
    case when i % 100 = 0 then null else i end ${ofBoth}`,
  `insert into wac.audit (workspace_id, id, action, target, user_id, email, at)
  select ${sqlId("ws", "w")}, ${
    sqlId("aud", "i * 2 + w")
  }, 'api_key.create', 'key ' || i % 1000, 'usr ' || i % 100, 'a', i
  ${ofBoth}`,
  `insert into wac.api_keys (id, workspace_id, name, prefix, scopes, token_hash, secret_key_id, secret_nonce,
    secret_ciphertext, require_signature, created_at, expires_at, revoked_at)
  select ${sqlId("key", "i * 2 + w")}, ${sqlId("ws", "w")}, 'one', 'p', '{messages:send}', 'hash ' || i * 2 + w, 'k',
    substr(sha256('nonce'), 1, 12), sha256('ciphertext'), false, 0, case when i % 200 = 100 then 1 end,
    case when i % 100 = 0 then null else 1 end ${ofBoth}`,
  `insert into wac.webhooks (id, workspace_id, url, envelope, event_types, created_at, updated_at)
  select ${sqlId("whk", "w")}, ${sqlId("ws", "w")}, 'https://receiver.example/', 'combined', '{}', 0, 0
  from generate_series(1, 2) w`,
  `insert into wac.replays (id, workspace_id, webhook_id, since, until, state, total, replayed, created_at, completed_at, reached_at,
    step_at)
  select ${sqlId("job", "i * 2 + w")}, ${sqlId("ws", "w")}, ${
    sqlId("whk", "w")
  }, 0, 1, 'completed', 0, 0, 0, 0, 0, 0 ${ofBoth}`,
  `insert into wac.templates (id, workspace_id, provider_account_id, provider_template_id, name, language, category, status,
    parameter_format, components, variables, synced_at)
  select ${sqlId("tpl", "i * 2 + w")}, ${sqlId("ws", "w")}, 'a', i, 'name ' || i, 'en_US', 'utility', 'approved',
    'positional', '[]', '{}', 0 ${ofBoth}`,
  `insert into wac.campaigns (id, workspace_id, state)
  select ${sqlId("cmp", "i * 2 + w")}, ${sqlId("ws", "w")}, json_build_object(
    'name', 'name ' || i, 'status', case when i % 1000 = 0 then 'paused' else 'completed' end, 'startedAt', 1
  ) ${ofBoth}`
]

const tables = ["alerts", "audit", "api_keys", "replays", "templates", "campaigns"]

const own = id("ws", 1) as Id.WorkspaceId

/** The first page, and one from the middle. */
const pagesOf = (prefix: string) => [null, id(prefix, stored)].map((after) => ({ limit: 25, after }))

/** A list, and the maximum number of rows that it may read of its table. */
type List = readonly [Effect.Effect<unknown, unknown>, table: string, most: number]

const lists = Effect.gen(function*() {
  const alerts = yield* Alerts.AlertStore
  const audit = yield* Audit.AuditStore
  const campaigns = yield* Campaigns.CampaignStore
  const keys = yield* ApiKeys.ApiKeyStore
  const replays = yield* Replays.ReplayStore
  const templates = yield* Templates.TemplateStore
  const page = 26
  const all: ReadonlyArray<readonly [string, ReadonlyArray<List>]> = [
    ["alerts about a subject", [[alerts.during(own, "none", { since: 0, until: 1 }), "alerts", Alerts.maxScanned]]],
    ["alerts", pagesOf("alr").map((at) => [alerts.list(own, {}, at), "alerts", page])],
    // all open alerts are read; there is one for each problem
    ["open alerts", pagesOf("alr").map((at) => [alerts.list(own, { open: true }, at), "alerts", stored / 100])],
    ["audit", pagesOf("aud").map((at) => [audit.list(own, {}, at), "audit", page])],
    ["audit by person", pagesOf("aud").map((at) => [audit.list(own, { userId: "usr 7" }, at), "audit", page])],
    ["audit by thing", pagesOf("aud").map((at) => [audit.list(own, { target: "key 77" }, at), "audit", page])],
    // expired keys that are not revoked are read too
    ["API keys", pagesOf("key").map((at) => [keys.list(own, at, now), "api_keys", 2 * page])],
    // expired keys are not read
    ["keys about to expire", [[keys.expiring(own, Alert.expiringAt(now)), "api_keys", 0]]],
    ["replays", pagesOf("job").map((at) => [replays.list(own, at), "replays", page])],
    ["templates", pagesOf("tpl").map((at) => [templates.list(own, {}, at), "templates", page])],
    ["templates by name", pagesOf("tpl").map((at) => [templates.list(own, { name: "name 7" }, at), "templates", 1])],
    // all of the workspace are read, of which the provider allows a few thousand
    [
      "templates by a part of their name",
      pagesOf("tpl").map((at) => [templates.list(own, { nameContains: "e 77" }, at), "templates", stored])
    ],
    ["campaigns", pagesOf("cmp").map((at) => [campaigns.list(own, {}, at), "campaigns", page])],
    // all of the workspace are read
    [
      "campaigns by status",
      pagesOf("cmp").map((at) => [campaigns.list(own, { status: "paused" }, at), "campaigns", stored])
    ],
    [
      "campaigns by a part of their name",
      pagesOf("cmp").map((at) => [campaigns.list(own, { nameContains: "E 77" }, at), "campaigns", stored])
    ]
  ]
  return all
})

/** The planner's basis: guesses about empty tables, or statistics of their content. */
const beliefs = ["guessed", "seen"] as const

const stores = Layer.mergeAll(
  AlertStore.layer,
  ApiKeyStore.layer,
  AuditStore.layer,
  CampaignStore.layer,
  ReplayStore.layer,
  TemplateStore.layer
)

for (
  const { belief, database, name } of planningDatabases.flatMap(({ layer, name }) =>
    beliefs.map((belief) => ({ belief, database: layer, name: `${name}, tables ${belief}` }))
  )
) {
  layer(stores.pipe(Layer.provideMerge(database)), { excludeTestServices: true })(name, (it) => {
    it.effect("each list of the dashboard reads one page of one index", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const all = (yield* lists).flatMap(([what, each]) =>
          each.map(([list, table, most], i) => ({ what: `${what}, page ${i}`, list, table, most }))
        )
        // one connection, so that its plans stay
        yield* client.withTransaction(Effect.gen(function*() {
          yield* client`set local statement_timeout = 0`
          for (const { list } of all) for (let i = 0; i < 8; i++) yield* touchedBy(list)
          for (const statement of fill) yield* client.unsafe(statement)
          if (belief === "seen") yield* client.unsafe(`analyze ${tables.map((table) => `wac.${table}`).join(", ")}`)
          const measure = Effect.gen(function*() {
            const over: Array<string> = []
            for (const { list, most, table, what } of all) {
              // when it plans again, the planner reads the ends of indexes
              yield* touchedBy(list)
              const { read, scans } = (yield* touchedBy(list))(table)
              if (read > most || scans > 0) over.push(`${what} reads ${read} rows and ends ${scans} times`)
            }
            assert.deepStrictEqual(over, [])
          })
          yield* measure
          if (belief === "guessed") yield* Effect.andThen(discardPlans, measure)
        }))
      }))
  })
}
