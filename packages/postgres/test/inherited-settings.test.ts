/**
 * The settings that a session inherits from its database or role belong to the operator. They are pinned, or no
 * statement depends on them: what is stored, read and claimed is the same under each.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { StorageSuite } from "@wac/testkit"
import { Effect, Layer, type Redacted } from "effect"
import * as Migrations from "../src/Migrations.ts"
import * as PostgresClient from "../src/PostgresClient.ts"
import * as PostgresStorage from "../src/PostgresStorage.ts"
import { Sessions } from "../src/Sessions.ts"
import { emptyDatabase, pooled, storageIn, withSettings } from "./servers.ts"

const unusual: Readonly<Record<string, string>> = {
  bytea_output: "escape",
  default_transaction_isolation: "repeatable read",
  default_transaction_deferrable: "on",
  DateStyle: "SQL, DMY",
  IntervalStyle: "sql_standard",
  TimeZone: "Pacific/Chatham",
  client_encoding: "LATIN1",
  extra_float_digits: "-15",
  standard_conforming_strings: "off",
  backslash_quote: "off",
  array_nulls: "off",
  transform_null_equals: "on",
  quote_all_identifiers: "on",
  xmloption: "document",
  row_security: "off",
  synchronous_commit: "off",
  search_path: "trap, public, pg_catalog",
  // of PostgreSQL 17 and later; a connection that they end is replaced
  transaction_timeout: "20s",
  idle_session_timeout: "20s"
}

/** Tables of the names of ours, and of the catalogs that statements read, first in the `search_path`. */
const trapped = (url: Redacted.Redacted) =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    yield* client`create schema trap`
    const names = [
      ...Migrations.all.map(({ sql }) => sql).join(";").matchAll(/create (?:table|view|sequence) ([a-z_]+)/g)
    ]
    assert.isAbove(names.length, 50)
    for (const name of new Set([...names.map(([, name]) => name!), "schema_versions", "pg_class", "pg_locks"])) {
      yield* client.unsafe(`create table trap.${name} ()`)
    }
  }).pipe(
    Effect.provide(PgClient.layer({ url, maxConnections: 1 })),
    Effect.orDie,
    Effect.as(url)
  )

const hostile = Effect.flatMap(Effect.flatMap(emptyDatabase(), trapped), (url) => withSettings(url, unusual))

/**
 * The ports that read bytes, times and amounts; those of webhooks claim deliveries as well. Every port has its statements
 * tried without a `search_path` to our tables by each other test.
 */
const ports = [
  "ApiKeyStore",
  "WebhookStore",
  "PhoneNumberStore",
  "PepperStore",
  "SealedSecretStore",
  "CampaignStore",
  "MediaStore",
  "InboundPostStore",
  "EventStore"
] as const

StorageSuite.suite(
  "PostgreSQL with unusual settings",
  Layer.unwrap(Effect.map(hostile, (url) => storageIn(url))),
  { ports, runs: "few" }
)

StorageSuite.suite(
  "PostgreSQL with unusual settings behind PgBouncer",
  Layer.unwrap(Effect.map(
    Effect.flatMap(hostile, (url) => pooled(url)),
    (to) => PostgresStorage.layerServer(to)
  )),
  {
    ports: ["ApiKeyStore", "WebhookStore", "PepperStore", "SealedSecretStore", "MediaStore", "InboundPostStore"],
    runs: "few"
  }
)

it.live("two first starts at the same time both succeed with unusual settings", () =>
  Effect.gen(function*() {
    const url = yield* hostile
    const started = Effect.scoped(Layer.build(Layer.fresh(PostgresStorage.layerServer({ url }))))
    yield* Effect.all([started, started], { concurrency: 2 })
  }).pipe(Effect.scoped))

describe("a transaction", () => {
  it.live("each statement sees what was committed before it, whatever the database's default isolation is", () =>
    Effect.gen(function*() {
      const url = yield* hostile
      yield* Effect.gen(function*() {
        const sessions = yield* Sessions
        const isolation = { text: "show transaction_isolation" }
        const expected = [{ transaction_isolation: "read committed" }]
        const next = (rows: ReadonlyArray<unknown>) => ({ writes: [], result: rows[0] })
        assert.deepStrictEqual(yield* sessions.transaction([isolation], next), expected)
        assert.deepStrictEqual((yield* sessions.pipelined([isolation, isolation]))[1], expected)
      }).pipe(Effect.provide(PostgresClient.layer({ url })))
    }).pipe(Effect.scoped))
})
