import { PgClient } from "@effect/sql-pg"
import { assert, it, layer } from "@effect/vitest"
import { Cause, Context, Effect, Fiber, Layer } from "effect"
import * as Migrations from "../src/Migrations.ts"
import { OpenError } from "../src/OpenError.ts"
import * as PostgresClient from "../src/PostgresClient.ts"
import { first, indexed } from "./indexed.ts"
import { clients, emptyDatabase, withSettings } from "./servers.ts"

const second: Migrations.Migration = { name: "second", sql: "alter table one add column y integer default 7" }

/** Whether the index is there, and can be used. */
const isBuilt = PgClient.PgClient.use((client) =>
  Effect.map(
    client<{ valid: boolean }>`select indisvalid as valid from pg_index where indexrelid = to_regclass('wac.one_x')`,
    ([found]) => found?.valid
  )
)

/** The client of an empty database. */
const emptied = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  yield* client`drop schema if exists wac cascade`
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
          (yield* client`select version, name from wac.schema_versions order by version`).map((row) => ({ ...row })),
          Migrations.all.map(({ name }, i) => ({ version: i + 1, name }))
        )
      }))

    it.effect("every table of the schema has a comment", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        yield* Migrations.run()
        const tables = yield* client`
          select c.relname as name, obj_description(c.oid, 'pg_class') as words from pg_class c
          where c.relnamespace = 'wac'::regnamespace and c.relkind = 'r'`
        assert.isAbove(tables.length, 20)
        assert.deepStrictEqual(tables.filter(({ words }) => words === null).map(({ name }) => name), [])
      }))

    it.effect("contacts of numbers with a national prefix are merged into those of the numbers", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        yield* Migrations.run(Migrations.all.slice(0, 18))
        yield* client`insert into wac.workspaces (id, name, created_at) values ('ws_1', 'One', 0)`
        yield* client`
          insert into wac.phone_numbers (id, workspace_id, phone_number, provider, provider_number_id, provider_account_id)
          values ('pn_1', 'ws_1', '+12025550100', 'sandbox', 'n', 'a')`
        yield* client.unsafe(`
          insert into wac.contacts (workspace_id, phone_number_id, key, phone, user_id, last_inbound_at, opted_out,
            preference_at, known_since) values
            ('ws_1', 'pn_1', '+447123456789', '+447123456789', null, 5, false, 3, 3),
            ('ws_1', 'pn_1', '+4407123456789', '+4407123456789', 'GB.1', 7, true, 2, 2),
            ('ws_1', 'pn_1', '+5501187654321', '+5501187654321', null, 1, false, null, 1),
            ('ws_1', 'pn_1', '+390612345678', '+390612345678', null, null, true, 4, 4),
            ('ws_1', 'pn_1', 'US.1', null, 'US.1', null, true, 4, 4)`)
        yield* Migrations.run()
        const rows = yield* client.unsafe(`select key, user_id, last_inbound_at::integer, opted_out,
          preference_at::integer, known_since::integer from wac.contacts order by key`)
        assert.deepStrictEqual(rows.map((row) => Object.values(row as object)), [
          ["+390612345678", null, null, true, 4, 4],
          ["+447123456789", "GB.1", 7, true, 3, 2],
          ["+5511987654321", null, 1, false, null, 1],
          ["US.1", "US.1", null, true, 4, 4]
        ])
      }))

    it.effect("an older schema is migrated by the missing steps only", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        assert.deepStrictEqual(yield* Migrations.run([first]), { before: 0, after: 1 })
        const behind = yield* Effect.flip(Migrations.check([first, second]))
        assert.include(behind.message, "has schema version 1, but this wac needs 2")
        assert.deepStrictEqual(yield* Migrations.run([first, second]), { before: 1, after: 2 })
        assert.deepStrictEqual({ ...(yield* client`select x, y from wac.one`)[0] }, { x: 1, y: 7 })
      }))

    it.effect("an invitation of before gets its maker from the audit, and stays without one if the audit knows none", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        const before = Migrations.all.findIndex(({ name }) => name === "invitation makers")
        yield* Migrations.run(Migrations.all.slice(0, before))
        yield* client`insert into wac.workspaces (id, name, created_at) values ('ws', 'one', 0)`
        yield* client`insert into wac.people (user_id, email, created_at) values ('usr', 'a@example.com', 0)`
        yield* client`insert into wac.invitations (id, workspace_id, email, role, token_hash, created_at, expires_at)
          select id, 'ws', id || '@example.com', 'owner', id, 0, 1
          from unnest(array['member', 'operator', 'host', 'unknown']) id`
        yield* client`insert into wac.audit (workspace_id, id, action, target, user_id, email, at) values
          ('ws', '1', 'member.invite', 'member', 'usr', 'a@example.com', 0),
          ('ws', '2', 'member.invite', 'operator', null, null, 0),
          ('ws', '3', 'member.invite', 'host', 'somebody', 'host@example.com', 0),
          ('ws', '4', 'member.remove', 'unknown', 'usr', 'a@example.com', 0)`
        yield* Migrations.run(Migrations.all.slice(0, before + 1))
        const rows = yield* client`select id, by_user_id, by_email, by_role from wac.invitations order by id`
        assert.deepStrictEqual(rows.map((row) => Object.values(row)), [
          ["host", null, null, null],
          ["member", "usr", "a@example.com", null],
          ["operator", null, null, "owner"],
          ["unknown", null, null, null]
        ])
      }))

    it.effect("entries whose events were erased are removed, and what they held is released", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        const before = Migrations.all.findIndex(({ name }) => name === "erased entries")
        yield* Migrations.run(Migrations.all.slice(0, before))
        yield* client`insert into wac.workspaces (id, name, created_at) values ('ws', 'one', 0)`
        yield* client`insert into wac.subscriptions (workspace_id, name, event_types, place, created_at)
          values ('ws', 'orders', '{message.sent}', 9, 0)`
        yield* client`insert into wac.events (id, workspace_id, type, created_at, order_key, sequence, data, position)
          select 'kept ' || n, 'ws', 'message.sent', n, 'msg', n, '{}', n from generate_series(3, 5) n`
        yield* client.unsafe(`
          insert into wac.subscription_entries (workspace_id, name, event_id, place, order_key, recorded_at, state,
            attempts, round_attempts, round_started_at, started_at, next_at, failed_at, failure) values
            ('ws', 'orders', 'erased 1', 1, 'msg', 1, 'failed', 2, 2, 1, 1, null, 1, 'no'),
            ('ws', 'orders', 'erased 2', 2, 'msg', 2, 'waiting', 1, 1, 2, 2, 7, null, 'no'),
            ('ws', 'orders', 'kept 3', 3, 'msg', 3, 'failed', 2, 2, 3, 3, null, 3, 'no'),
            ('ws', 'orders', 'kept 4', 4, 'msg', 4, 'held', 0, 0, null, null, null, null, null),
            ('ws', 'orders', 'kept 5', 5, 'msg', 5, 'held', 0, 0, null, null, null, null, null)`)
        yield* Migrations.run(Migrations.all.slice(0, before + 1))
        const rows = yield* client.unsafe(`
          select event_id, state, next_at::integer from wac.subscription_entries order by place`)
        assert.deepStrictEqual(rows.map((row) => Object.values(row as object)), [
          ["kept 3", "failed", null],
          ["kept 4", "waiting", 4],
          ["kept 5", "held", null]
        ])
      }))

    it.effect("a restriction that was stored with an end keeps it, and no other block has one", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        const before = Migrations.all.findIndex(({ name }) => name === "block basis")
        yield* Migrations.run(Migrations.all.slice(0, before))
        const hour = 3_600_000
        const numbers = [
          ["with an end", "restricted", 7 * hour],
          ["without", "restricted", hour],
          ["of a send", "quality", hour],
          ["without a trial", "restricted", null]
        ] as const
        yield* client`insert into wac.workspaces (id, name, created_at) values ('ws', 'Acme', 1)`
        for (const [id, reason, until] of numbers) {
          yield* client`
            insert into wac.phone_numbers (id, workspace_id, provider, phone_number, provider_number_id,
              provider_account_id, block_reason, block_scope, blocked_since, blocked_until, block_told_at)
            values (${id}, 'ws', 'sandbox', ${id}, ${id}, 'a', ${reason}, 'all', 0, ${until}, 0)`
        }
        yield* Migrations.run(Migrations.all.slice(0, before + 1))
        const found = yield* client`
          select id, block_basis_until::integer as until from wac.phone_numbers where block_basis is not null`
        assert.deepStrictEqual(found, [{ id: "with an end", until: 7 * hour }])
      }))

    it.effect("the version before finds its queue of campaigns under the former name, without callers' messages", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        const before = Migrations.all.findIndex(({ name }) => name === "queue")
        yield* Migrations.run(Migrations.all.slice(0, before))
        yield* client`insert into wac.workspaces (id, name, created_at) values ('ws', 'one', 0)`
        yield* client`insert into wac.campaigns (id, workspace_id, state) values ('cmp', 'ws', '{}'), ('other', 'ws', '{}')`
        const enqueue = (...ids: ReadonlyArray<string>) =>
          client`insert into wac.campaign_queue (message_id, campaign_id, due_at, time_zone)
            select g.* from json_to_recordset(${JSON.stringify(ids.map((id) => ({ id })))}::text::json) j (id text),
            lateral (select j.id, 'cmp', 1::bigint, null) g`
        yield* enqueue("one", "two")
        yield* Migrations.run(Migrations.all.slice(0, before + 1))
        yield* client`insert into wac.send_queue (message_id, phone_number_id, workspace_id, due_at, send_until)
          values ('a caller''s', 'pn', 'ws', 1, 2)`
        yield* enqueue("three", "four")
        const take = client`
          with due as materialized (
            select q.message_id, q.due_at, q.tries, q.time_zone from wac.campaign_queue q
            where q.campaign_id = 'cmp' and q.due_at <= 1
            order by q.due_at, q.message_id limit 3
            for update skip locked
          )
          select d.message_id, d.tries::integer from due d order by d.message_id`
        assert.deepStrictEqual((yield* take).map((row) => Object.values(row as object)), [
          ["four", 0],
          ["one", 0],
          ["three", 0]
        ])
        yield* client`select q.message_id from wac.campaign_queue q where q.message_id = any (array['two', 'one'])
          order by q.message_id for update`
        yield* client`update wac.campaign_queue q set due_at = d.due_at, tries = q.tries + d.tries
          from (values ('one', 5, 1), ('a caller''s', 5, 1)) d (message_id, due_at, tries)
          where q.message_id = d.message_id`
        yield* client`delete from wac.campaign_queue q where q.message_id = any (array['three', 'a caller''s'])`
        const isDone = client`
          select not exists (select from wac.campaign_queue q where q.campaign_id = c.id) as is_done
          from wac.campaigns c order by c.id`
        assert.deepStrictEqual((yield* isDone).map((row) => Object.values(row as object)), [[false], [true]])
        const left = client`
          select message_id, campaign_id, due_at::integer, tries::integer from wac.send_queue order by message_id`
        assert.deepStrictEqual((yield* left).map((row) => Object.values(row as object)), [
          ["a caller's", null, 1, 0],
          ["four", "cmp", 1, 0],
          ["one", "cmp", 5, 1],
          ["two", "cmp", 1, 0]
        ])
        yield* client`delete from wac.campaign_queue q where q.campaign_id = any (array['cmp'])`
        yield* enqueue("five")
        yield* client`delete from wac.campaigns where id = 'cmp'`
        assert.deepStrictEqual((yield* left).map((row) => Object.values(row as object)[0]), ["a caller's"])
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
        yield* client`alter table wac.schema_versions drop column additive`
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

    it.effect("an index of an earlier table is built, in a new schema and in one of before", () =>
      Effect.gen(function*() {
        yield* emptied
        assert.deepStrictEqual(yield* Migrations.run([first, indexed]), { before: 0, after: 2 })
        assert.isTrue(yield* isBuilt)
        yield* emptied
        yield* Migrations.run([first])
        assert.isUndefined(yield* isBuilt)
        assert.deepStrictEqual(yield* Migrations.run([first, indexed]), { before: 1, after: 2 })
        assert.isTrue(yield* isBuilt)
      }))

    it.effect("what a process left of an index that it could not build is built anew", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        yield* Migrations.run([first])
        yield* client`create index one_x on wac.one (x)`
        yield* client`update pg_index set indisvalid = false where indexrelid = 'wac.one_x'::regclass`
        assert.deepStrictEqual(yield* Migrations.run([first, indexed]), { before: 1, after: 2 })
        assert.isTrue(yield* isBuilt)
      }))

    it.effect("a failed migration leaves nothing behind, and earlier ones stay", () =>
      Effect.gen(function*() {
        const client = yield* emptied
        const broken = { name: "broken", sql: "create table two (); select 1 / 0" }
        const failed = yield* Effect.flip(Migrations.run([first, broken]))
        assert.include(failed.message, "cannot migrate to version 2 (broken)")
        assert.deepStrictEqual(
          {
            ...(yield* client`select to_regclass('wac.two') is null as gone, count(*)::int as steps from wac.schema_versions`)[
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
    const url = yield* emptyDatabase(undefined, "LATIN1")
    const refused = yield* Effect.flip(Effect.provide(Migrations.run(), PostgresClient.layer({ url })))
    assert.strictEqual(refused.message, "the database's encoding is LATIN1, and wac needs UTF8: create another")
  }).pipe(Effect.scoped))

it.live("processes that migrate concurrently run each migration once", () =>
  Effect.gen(function*() {
    const url = yield* emptyDatabase()
    const process = Effect.provide(
      Effect.andThen(Migrations.run(), Migrations.check()),
      Layer.fresh(PostgresClient.layer({ url })),
      { local: true }
    )
    yield* Effect.forEach([1, 2, 3, 4], () => process, { concurrency: "unbounded", discard: true })
  }).pipe(Effect.scoped))

it.live("a migration gives way while its table is locked, so that statements behind it do not wait, and is tried again", () =>
  Effect.gen(function*() {
    const url = yield* emptyDatabase()
    const session = Effect.map(
      Layer.build(Layer.fresh(PgClient.layer({ url, maxConnections: 1 }))),
      (context) => Context.get(context, PgClient.PgClient)
    )
    const [backup, caller] = [yield* session, yield* session]
    const migrate = (...migrations: ReadonlyArray<Migrations.Migration>) =>
      Effect.provide(Migrations.run(migrations), Layer.fresh(PostgresClient.layer({ url })), { local: true })
    yield* migrate(first)
    yield* backup`begin`
    yield* backup`lock table wac.one in access share mode`
    const migrating = yield* Effect.forkChild(migrate(first, second), { startImmediately: true })
    yield* Effect.repeat(
      caller`select 1 from pg_locks where relation = 'wac.one'::regclass and not granted`,
      { until: ({ length }) => length > 0 }
    )
    // behind the migration's request for the lock, while the backup goes on
    assert.lengthOf(yield* caller`select x from wac.one`, 1)
    yield* backup`commit`
    assert.deepStrictEqual(yield* Fiber.join(migrating), { before: 1, after: 2 })
  }).pipe(Effect.scoped))

it.live("others write to a table while its index is built, by one of the processes that migrate", () =>
  Effect.gen(function*() {
    const url = yield* withSettings(yield* emptyDatabase(), { statement_timeout: "100ms" })
    const session = Effect.map(
      Layer.build(Layer.fresh(PgClient.layer({ url, maxConnections: 1 }))),
      (context) => Context.get(context, PgClient.PgClient)
    )
    const [earlier, caller] = [yield* session, yield* session]
    const migrate = (...migrations: ReadonlyArray<Migrations.Migration>) =>
      Effect.provide(Migrations.run(migrations), Layer.fresh(PostgresClient.layer({ url })), { local: true })
    yield* migrate(first)
    yield* earlier`begin`
    yield* earlier`insert into wac.one values (2)`
    const migrating = yield* Effect.forkChild(
      Effect.all([migrate(first, indexed), migrate(first, indexed)], { concurrency: "unbounded" }),
      { startImmediately: true }
    )
    yield* Effect.repeat(
      caller`select 1 from pg_stat_progress_create_index where relid = 'wac.one'::regclass`,
      { until: ({ length }) => length > 0 }
    )
    yield* caller`insert into wac.one values (3)`
    yield* earlier`commit`
    for (const { after } of yield* Fiber.join(migrating)) assert.strictEqual(after, 2)
    assert.isTrue(yield* Effect.provideService(isBuilt, PgClient.PgClient, caller))
  }).pipe(Effect.scoped))

it.live("a migration that meets a deadlock is tried again", () =>
  Effect.gen(function*() {
    const url = yield* emptyDatabase()
    const migrate = (...migrations: ReadonlyArray<Migrations.Migration>) =>
      Effect.provide(Migrations.run(migrations), Layer.fresh(PostgresClient.layer({ url })), { local: true })
    yield* migrate(first)
    // as PostgreSQL reports it once; a sequence keeps its value when the transaction is rolled back
    const deadlocked: Migrations.Migration = {
      name: "deadlocked",
      sql: `do $$ begin
        if nextval('public.tries') = 1 then raise exception using errcode = 'deadlock_detected', message = 'deadlock'; end if;
      end $$`
    }
    yield* Effect.provide(
      PgClient.PgClient.use((client) => client`create sequence public.tries`),
      PgClient.layer({ url, maxConnections: 1 })
    )
    assert.deepStrictEqual(yield* migrate(first, deadlocked), { before: 1, after: 2 })
  }).pipe(Effect.scoped))

/** A migration that takes a while. */
const long: Migrations.Migration = { name: "long", sql: "do $$ begin perform pg_sleep(0.3); end $$" }

for (
  const limit of ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"]
) {
  it.live(`a migration is not ended by the database's ${limit}`, () =>
    Effect.gen(function*() {
      const url = yield* withSettings(yield* emptyDatabase(), { [limit]: "100ms" })
      const migrate = Effect.provide(
        Migrations.run([first, long]),
        Layer.fresh(PostgresClient.layer({ url })),
        { local: true }
      )
      // one of them also waits for the other
      const ends = yield* Effect.all([migrate, migrate], { concurrency: 2 })
      assert.deepStrictEqual(ends.map(({ after }) => after), [2, 2])
    }).pipe(Effect.scoped))
}

for (const level of ["read committed", "repeatable read", "serializable"]) {
  it.live(`processes that start first at the same time both succeed if the database's isolation level is ${level}`, () =>
    Effect.gen(function*() {
      const url = yield* withSettings(yield* emptyDatabase(), { default_transaction_isolation: level })
      const migrate = (migrations?: ReadonlyArray<Migrations.Migration>) =>
        Effect.provide(Migrations.run(migrations), Layer.fresh(PostgresClient.layer({ url })), { local: true })
      // long enough for the other to begin its wait before the first version exists
      const slow = yield* Effect.forkChild(migrate([{ ...long, name: "first" }]), { startImmediately: true })
      const other = yield* Effect.forkChild(migrate([{ ...long, name: "first" }]), { startImmediately: true })
      assert.strictEqual((yield* Fiber.join(slow)).after, 1)
      assert.strictEqual((yield* Fiber.join(other)).after, 1)
    }).pipe(Effect.scoped))
}

it.live("a migration whose connection the server ends reports the server's reason", () =>
  Effect.gen(function*() {
    const url = yield* emptyDatabase()
    const ended: Migrations.Migration = {
      name: "ended",
      sql: "do $$ begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(5); end $$"
    }
    const failed = yield* Effect.provide(Migrations.run([ended]), PostgresClient.layer({ url })).pipe(
      // beside the failure is that of the rollback
      Effect.catchCause((cause) => Effect.succeed(Cause.squash(cause)))
    )
    assert.instanceOf(failed, OpenError)
    assert.strictEqual(
      failed.message,
      "cannot migrate to version 1 (ended): terminating connection due to administrator command, 57P01"
    )
  }).pipe(Effect.scoped))
