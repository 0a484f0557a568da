/**
 * Everything of ours is in one schema, whatever else the database contains and whatever the session's `search_path` is.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { StorageSuite } from "@wac/testkit"
import { Effect, Layer, Logger, Queue, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { Database } from "../src/Database.ts"
import { announce, settled } from "../src/events/EventPositions.ts"
import * as Inspection from "../src/Inspection.ts"
import * as Migrations from "../src/Migrations.ts"
import type { OpenError } from "../src/OpenError.ts"
import * as PgliteClient from "../src/PgliteClient.ts"
import * as PostgresClient from "../src/PostgresClient.ts"
import * as PostgresStorage from "../src/PostgresStorage.ts"
import * as Schema from "../src/Schema.ts"
import { wrongName } from "../src/SchemaName.ts"
import { emptyDatabase, storageIn } from "./servers.ts"

const opened = (url: Redacted.Redacted, schema?: string) =>
  Layer.fresh(PostgresClient.layer({ url, maxConnections: 2, schema }))

const migrate = (url: Redacted.Redacted, schema?: string): Effect.Effect<Migrations.Migrated, OpenError> =>
  Effect.provide(Migrations.run(), opened(url, schema))

const nameIn = (url: Redacted.Redacted, schema?: string): Effect.Effect<string, OpenError> =>
  Effect.provide(Effect.map(Schema.Schema, ({ name }) => name), opened(url, schema))

const run = (url: Redacted.Redacted, ...statements: ReadonlyArray<string>) =>
  PgClient.PgClient.use((client) => Effect.forEach(statements, (statement) => client.unsafe(statement))).pipe(
    Effect.provide(PgClient.layer({ url, maxConnections: 1 })),
    Effect.orDie
  )

/** A database whose tables an earlier version made in `public`. */
const former = Effect.tap(emptyDatabase(), (url) => Effect.orDie(migrate(url, "public")))

/** The recipe of docs/guides/postgresql.md, for another name. */
const moving = (to: string): string => {
  const guide = readFileSync(new URL("../../../docs/guides/postgresql.md", import.meta.url), "utf8")
  const [, recipe] = /## Move an earlier database to a schema\n[^]*?```sql[^\n]*\n([^]*?)```/.exec(guide)!
  assert.include(recipe, "target text := 'wac'")
  return recipe!.replace("target text := 'wac'", `target text := '${to}'`)
}

describe("the schema", () => {
  it.live("the schema of an empty database is wac, and nothing is made elsewhere", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabase()
      yield* migrate(url)
      const [places] = yield* run(
        url,
        `select distinct n.nspname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'`
      )
      assert.deepStrictEqual(places!.map((row) => ({ ...row as object })), [{ name: "wac" }])
    }).pipe(Effect.scoped))

  it.live("stays public where an earlier version made the tables there, and one log line reports it", () =>
    Effect.gen(function*() {
      const url = yield* former
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      assert.deepStrictEqual(
        yield* Effect.provide(migrate(url), Logger.layer([logger])),
        { before: Migrations.all.length, after: Migrations.all.length }
      )
      assert.lengthOf(lines.filter((line) => line.includes("stay in the schema \"public\"")), 1)
      assert.strictEqual(yield* nameIn(url, "public"), "public")

      // also if migrations have a way of their own
      lines.length = 0
      yield* Effect.provide(
        Layer.build(PostgresStorage.layerServer({ url, listenUrl: url, maxConnections: 2 })),
        Logger.layer([logger])
      )
      assert.lengthOf(lines.filter((line) => line.includes("stay in the schema \"public\"")), 1)
    }).pipe(Effect.scoped))

  it.live("if another one is asked for than the tables are in, opening fails and reports how to move them; the move keeps everything", () =>
    Effect.gen(function*() {
      const url = yield* former
      yield* run(url, "insert into public.workspaces (id, name, created_at) values ('ws_1', 'One', 0)")
      for (const schema of ["wac", "Odd name"]) {
        assert.include(
          (yield* Effect.flip(nameIn(url, schema))).message,
          `the schema "${schema}" was asked for, but this database has the tables of wac in the schema "public"`
        )
      }
      yield* run(url, moving("Odd name"))
      assert.deepStrictEqual(yield* migrate(url, "Odd name"), {
        before: Migrations.all.length,
        after: Migrations.all.length
      })
      const [left, kept] = yield* run(
        url,
        "select from pg_class where relnamespace = 'public'::regnamespace",
        `select name from "Odd name".workspaces`
      )
      assert.deepStrictEqual([left!.length, kept!.length], [0, 1])
      // the door of the outbox still leads to it
      const [functions, , entries] = yield* run(
        url,
        "select from pg_proc where pronamespace = 'public'::regnamespace",
        `select "Odd name".enqueue('ws_1', 'one', '{"to":"+4","type":"text"}')`,
        `select from "Odd name".outbox`
      )
      assert.deepStrictEqual([functions!.length, entries!.length], [0, 1])
    }).pipe(Effect.scoped))

  it.live("tables of a different program are not taken for an earlier version's by their names", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabase()
      yield* run(
        url,
        "create table schema_versions (version integer, name text, checksum text, applied_at timestamptz)",
        "insert into schema_versions values (1, 'tables', 'of another program', now())",
        "create table messages ()"
      )
      assert.strictEqual(yield* nameIn(url), "wac")
      assert.strictEqual((yield* migrate(url)).before, 0)
      assert.strictEqual(yield* nameIn(url, "other"), "other")
    }).pipe(Effect.scoped))

  it.live("a schema that the search_path named for an earlier version is found, and must be named", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabase()
      yield* migrate(url, "theirs")
      assert.strictEqual(yield* nameIn(url), "wac")
      const name = yield* run(url, "select current_database() as name")
      yield* run(url, `alter database ${(name[0]![0] as { name: string }).name} set search_path = theirs`)
      assert.include((yield* Effect.flip(nameIn(url))).message, `tables of wac in the schema "theirs"`)
      assert.strictEqual(yield* nameIn(url, "theirs"), "theirs")
    }).pipe(Effect.scoped))

  it.live("a role that may not create schemas can use one that exists", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabase()
      yield* run(url, "create schema wac")
      yield* migrate(url)
      assert.deepStrictEqual((yield* migrate(url)).before, Migrations.all.length)
    }).pipe(Effect.scoped))

  it.live("without the right to create the schema, opening fails and reports what to run", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabase()
      const role = `wac_role_${randomBytes(6).toString("hex")}`
      yield* Effect.acquireRelease(
        run(url, `create role ${role} login password 'secret'`),
        () => run(url, `drop owned by ${role}`, `drop role ${role}`)
      )
      const own = new URL(Redacted.value(url))
      own.username = role
      own.password = "secret"
      const limited = Redacted.make(own.href)
      assert.include(
        (yield* Effect.flip(migrate(limited))).message,
        `cannot create the schema "wac": permission denied`
      )
      assert.include(
        (yield* Effect.flip(migrate(limited))).message,
        `create schema "wac" authorization "${role}"`
      )
      yield* run(url, `create schema "wac" authorization "${role}"`)
      assert.strictEqual((yield* migrate(limited)).before, 0)
    }).pipe(Effect.scoped))

  it.live("two instances share a database without notice of each other: neither rows, nor locks, nor notifications", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabase()
      yield* migrate(url, "one")
      yield* migrate(url, "two")
      const database = (schema: string) =>
        Effect.map(
          Layer.build(Layer.provide(Database.layer, opened(url, schema))),
          (context) => Effect.provide(Database, context)
        )
      const one = yield* yield* database("one")
      const two = yield* yield* database("two")
      yield* one.query("Test.write", {
        text: "insert into wac.workspaces (id, name, created_at) values ('ws_1', 'One', 0)"
      })
      assert.deepStrictEqual(yield* two.query("Test.read", { text: "select from wac.workspaces" }), [])

      // an announcement of one holds back what is settled in it, and nothing in the other
      yield* run(url, `select setval('one.positions', 7), setval('two.positions', 7)`)
      yield* Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        yield* client`begin`
        yield* client.unsafe(Schema.make("one").named(announce))
        yield* one.query("Test.draw", { text: "select nextval('wac.positions')" })
        yield* two.query("Test.draw", { text: "select nextval('wac.positions')" })
        const at = (database: Database["Service"]) =>
          Effect.map(
            database.query("Test.settled", { text: `select ${settled}::integer as at` }),
            ([row]) => row!["at"]
          )
        assert.deepStrictEqual([yield* at(one), yield* at(two)], [7, 8])
        yield* client`rollback`
      }).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1 })))

      const [heard, unheard] = [yield* one.listen("wac:wac_test"), yield* two.listen("wac:wac_test")]
      assert.deepStrictEqual([yield* Queue.take(heard), yield* Queue.take(unheard)], ["", ""])
      yield* one.query("Test.notify", { text: "select pg_notify('wac:wac_test', 'one')" })
      yield* two.query("Test.notify", { text: "select pg_notify('wac:wac_test', 'two')" })
      assert.deepStrictEqual([yield* Queue.take(heard), yield* Queue.take(unheard)], ["one", "two"])
    }).pipe(Effect.scoped))

  it.effect("an embedded database has a schema of its name as well", () =>
    Effect.gen(function*() {
      yield* Migrations.run()
      const client = yield* PgClient.PgClient
      assert.lengthOf(yield* client`select from "other one".workspaces`, 0)
    }).pipe(Effect.provide(PgliteClient.layer({ schema: "other one" }))))

  it("its name is one that PostgreSQL can hold, without quotes", () => {
    for (const name of ["wac", "Odd name", "x".repeat(63), "ünïcode"]) assert.isUndefined(wrongName(name))
    for (const name of ["", "x".repeat(64), "a\"b", "a'b", "a\\b", "a\nb", "pg_wac", "information_schema"]) {
      assert.isDefined(wrongName(name), name)
    }
  })

  it("no setting of a transaction has a name that would be renamed with the schema", () => {
    const src = new URL("../src/", import.meta.url)
    const settings = readdirSync(src, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.startsWith("migrations/"))
      .flatMap((file) => [
        ...readFileSync(new URL(file, src), "utf8").matchAll(/(?:set_config|current_setting)\('(\w+\.\w+)/g)
      ])
      .map(([, name]) => name!)
    assert.isAbove(settings.length, 10)
    for (const name of settings) assert.strictEqual(Schema.make("b").named(name), name)
  })

  it("in public, locks and channels are those of versions that know no schema", () => {
    const text = "select pg_advisory_xact_lock(hashtext('wac:workspaces'), 0), pg_notify('wac:wac_changes', '')"
    assert.strictEqual(Schema.make("public").named(text), text.replaceAll("wac:", ""))
    assert.strictEqual(Schema.make("wac").named(text), text)
    assert.strictEqual(Schema.make("b").named(text), text.replaceAll("wac:", "b:"))
  })
})

StorageSuite.suite(
  "PostgreSQL in a schema of another name",
  Layer.unwrap(Effect.map(emptyDatabase(), (url) => storageIn(url, { schema: "Odd name" }))),
  { ports: ["WorkspaceStore", "EventStore", "SubscriptionStore", "WebhookStore", "TemplateStore"], runs: "few" }
)

it.live("an inspection lists the rights that a role lacks, by name", () =>
  Effect.gen(function*() {
    const url = yield* emptyDatabase()
    yield* migrate(url)
    const role = `wac_role_${randomBytes(6).toString("hex")}`
    yield* Effect.acquireRelease(
      run(url, `create role ${role} login password 'secret'`),
      () => run(url, `drop owned by ${role}`, `drop role ${role}`)
    )
    const own = new URL(Redacted.value(url))
    own.username = role
    own.password = "secret"
    const inspected = Inspection.ofServer({ url: Redacted.make(own.href), maxConnections: 2 })
    assert.strictEqual((yield* Effect.flip(inspected)).message, `the role ${role} lacks a right: usage on schema wac`)
    yield* run(
      url,
      `grant usage on schema wac to ${role}`,
      `grant select, insert, update, delete on all tables in schema wac to ${role}`,
      `grant usage, select on all sequences in schema wac to ${role}`
    )
    const { missingRights, role: found } = yield* inspected
    assert.deepStrictEqual([found, missingRights], [role, []])
    yield* run(url, `revoke update on wac.messages from ${role}`, `revoke usage on sequence wac.positions from ${role}`)
    assert.deepStrictEqual((yield* inspected).missingRights, ["update on wac.messages", "usage on wac.positions"])
  }).pipe(Effect.scoped))
