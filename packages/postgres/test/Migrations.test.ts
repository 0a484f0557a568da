import { PgClient } from "@effect/sql-pg"
import { assert, it, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import * as Migrations from "../src/Migrations.ts"
import * as PostgresClient from "../src/PostgresClient.ts"
import { clients, freshDatabase } from "./servers.ts"

const first: Migrations.Migration = {
  name: "first",
  sql:
    "create table one (x integer); comment on table one is 'semicolons; and $$dollars$$'; insert into one values (1);"
}
const second: Migrations.Migration = { name: "second", sql: "alter table one add column y integer default 7" }

/** The client of an empty database. */
const emptied = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  yield* client`drop schema public cascade`
  yield* client`create schema public`
  return client
})

for (const { layer: clientLayer, name } of clients) {
  layer(clientLayer, { excludeTestServices: true })(name, (it) => {
    it.effect("an empty database is migrated to the newest version, once", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        const newest = Migrations.all.length
        assert.deepStrictEqual(yield* Migrations.run(), { before: 0, after: newest })
        assert.deepStrictEqual(yield* Migrations.run(), { before: newest, after: newest })
        yield* Migrations.check()
        assert.deepStrictEqual(
          (yield* client`select version, name from schema_versions order by version`).map((row) => ({ ...row })),
          Migrations.all.map(({ name }, i) => ({ version: i + 1, name }))
        )
      }))

    it.effect("every table of the schema has a comment", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        yield* Migrations.run()
        const tables = yield* client`
          select c.relname as name, obj_description(c.oid, 'pg_class') as words from pg_class c
          where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`
        assert.isAbove(tables.length, 20)
        assert.deepStrictEqual(tables.filter(({ words }) => words === null).map(({ name }) => name), [])
      }))

    it.effect("an older schema is migrated by the missing steps only", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        assert.deepStrictEqual(yield* Migrations.run([first]), { before: 0, after: 1 })
        const behind = yield* Effect.flip(Migrations.check([first, second]))
        assert.include(behind.message, "has schema version 1, but this wac needs 2")
        assert.deepStrictEqual(yield* Migrations.run([first, second]), { before: 1, after: 2 })
        assert.deepStrictEqual({ ...(yield* client`select x, y from one`)[0] }, { x: 1, y: 7 })
      }))

    it.effect("an invitation of before gets its maker from the audit, and stays without one if the audit knows none", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        const before = Migrations.all.findIndex(({ name }) => name === "invitation makers")
        yield* Migrations.run(Migrations.all.slice(0, before))
        yield* client`insert into workspaces (id, name, created_at) values ('ws', 'one', 0)`
        yield* client`insert into people (user_id, email, created_at) values ('usr', 'a@example.com', 0)`
        yield* client`insert into invitations (id, workspace_id, email, role, token_hash, created_at, expires_at)
          select id, 'ws', id || '@example.com', 'owner', id, 0, 1
          from unnest(array['member', 'operator', 'host', 'unknown']) id`
        yield* client`insert into audit (workspace_id, id, action, target, user_id, email, at) values
          ('ws', '1', 'member.invite', 'member', 'usr', 'a@example.com', 0),
          ('ws', '2', 'member.invite', 'operator', null, null, 0),
          ('ws', '3', 'member.invite', 'host', 'somebody', 'host@example.com', 0),
          ('ws', '4', 'member.remove', 'unknown', 'usr', 'a@example.com', 0)`
        yield* Migrations.run(Migrations.all.slice(0, before + 1))
        const rows = yield* client`select id, by_user_id, by_email, by_role from invitations order by id`
        assert.deepStrictEqual(rows.map((row) => Object.values(row)), [
          ["host", null, null, null],
          ["member", "usr", "a@example.com", null],
          ["operator", null, null, "owner"],
          ["unknown", null, null, null]
        ])
      }))

    it.effect("a newer schema is refused", () =>
      Effect.gen(function*() {
        yield* emptied
        yield* Migrations.run([first, second])
        const refused = yield* Effect.flip(Migrations.run([first]))
        assert.strictEqual(
          refused.message,
          "the database has schema version 2 (second), newer than this wac, which knows 1: start a newer wac"
        )
        assert.strictEqual((yield* Effect.flip(Migrations.check([first]))).message, refused.message)
      }))

    it.effect("a newer schema is accepted if all that is newer is additive, and is left as it is", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        const third = { ...second, name: "third", sql: "create table three ()" }
        yield* Migrations.run([first])
        yield* client`alter table schema_versions drop column additive`
        yield* Migrations.run([first, { ...second, additive: true }])
        assert.deepStrictEqual(yield* Migrations.run([first]), { before: 1, after: 1 })
        yield* Migrations.check([first])
        yield* Migrations.run([first, { ...second, additive: true }, third])
        const refused = yield* Effect.flip(Migrations.run([first]))
        assert.include(refused.message, "the database has schema version 3 (third), newer than this wac")
      }))

    it.effect("a schema of a different build is refused", () =>
      Effect.gen(function*() {
        yield* emptied
        yield* Migrations.run([first])
        const refused = yield* Effect.flip(Migrations.run([{ ...first, sql: `${first.sql} select 1` }]))
        assert.include(refused.message, "was made by another build")
      }))

    it.effect("a schema of a different build is refused as such, even if that build knew more versions", () =>
      Effect.gen(function*() {
        yield* emptied
        yield* Migrations.run([{ ...first, sql: `${first.sql} select 1` }, second])
        const refused = yield* Effect.flip(Migrations.run([first]))
        assert.include(refused.message, "was made by another build")
      }))

    it.effect("a failed migration leaves nothing behind, and earlier ones stay", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        const broken = { name: "broken", sql: "create table two (); select 1 / 0" }
        const failed = yield* Effect.flip(Migrations.run([first, broken]))
        assert.include(failed.message, "cannot migrate to version 2 (broken)")
        assert.deepStrictEqual(
          {
            ...(yield* client`select to_regclass('two') is null as gone, count(*)::int as steps from schema_versions`)[
              0
            ]
          },
          { gone: true, steps: 1 }
        )
        assert.deepStrictEqual(yield* Migrations.run([first, second]), { before: 1, after: 2 })
      }))
  })
}

it.live("a database whose encoding cannot hold every text is refused", () =>
  Effect.gen(function*() {
    const url = yield* freshDatabase(undefined, "LATIN1")
    const refused = yield* Effect.flip(Effect.provide(Migrations.run(), PostgresClient.layer({ url })))
    assert.strictEqual(refused.message, "the database's encoding is LATIN1, and wac needs UTF8: create another")
  }).pipe(Effect.scoped))

it.live("processes that migrate concurrently run each migration once", () =>
  Effect.gen(function*() {
    const url = yield* freshDatabase()
    const process = Effect.provide(
      Effect.andThen(Migrations.run(), Migrations.check()),
      Layer.fresh(PostgresClient.layer({ url })),
      { local: true }
    )
    yield* Effect.forEach([1, 2, 3, 4], () => process, { concurrency: "unbounded", discard: true })
  }).pipe(Effect.scoped))

it.live("a migration gives way while its table is locked, so that statements behind it do not wait, and is tried again", () =>
  Effect.gen(function*() {
    const url = yield* freshDatabase()
    const session = Effect.map(
      Layer.build(Layer.fresh(PgClient.layer({ url, maxConnections: 1 }))),
      (context) => Context.get(context, PgClient.PgClient)
    )
    const [backup, caller] = [yield* session, yield* session]
    const migrate = (...migrations: ReadonlyArray<Migrations.Migration>) =>
      Effect.provide(Migrations.run(migrations), Layer.fresh(PostgresClient.layer({ url })), { local: true })
    yield* migrate(first)
    yield* backup`begin`
    yield* backup`lock table one in access share mode`
    const migrating = yield* Effect.forkChild(migrate(first, second), { startImmediately: true })
    yield* Effect.repeat(
      caller`select 1 from pg_locks where relation = 'one'::regclass and not granted`,
      { until: ({ length }) => length > 0 }
    )
    // behind the migration's request for the lock, while the backup goes on
    assert.lengthOf(yield* caller`select x from one`, 1)
    yield* backup`commit`
    assert.deepStrictEqual(yield* Fiber.join(migrating), { before: 1, after: 2 })
  }).pipe(Effect.scoped))

it.live("a migration that meets a deadlock is tried again", () =>
  Effect.gen(function*() {
    const url = yield* freshDatabase()
    const migrate = (...migrations: ReadonlyArray<Migrations.Migration>) =>
      Effect.provide(Migrations.run(migrations), Layer.fresh(PostgresClient.layer({ url })), { local: true })
    yield* migrate(first)
    // as PostgreSQL reports it once; a sequence keeps its value when the transaction is rolled back
    const deadlocked: Migrations.Migration = {
      name: "deadlocked",
      sql: `do $$ begin
        if nextval('tries') = 1 then raise exception using errcode = 'deadlock_detected', message = 'deadlock'; end if;
      end $$`
    }
    yield* Effect.provide(
      PgClient.PgClient.use((client) => client`create sequence tries`),
      PgClient.layer({ url, maxConnections: 1 })
    )
    assert.deepStrictEqual(yield* migrate(first, deadlocked), { before: 1, after: 2 })
  }).pipe(Effect.scoped))
