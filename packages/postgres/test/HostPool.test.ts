/**
 * A host's own pool: used side by side with the host, and left as it was found.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Queue, type Redacted } from "effect"
import type pg from "pg"
import { Database } from "../src/Database.ts"
import * as Migrations from "../src/Migrations.ts"
import * as PostgresClient from "../src/PostgresClient.ts"
import { Sessions } from "../src/Sessions.ts"
import { StatementTimeout } from "../src/StatementTimeout.ts"
import { calling } from "./calling.ts"
import { first, indexed } from "./indexed.ts"
import { emptyDatabase, freshDatabase, hostPool, withSettings } from "./servers.ts"

const ours = (options: PostgresClient.PoolOptions) =>
  Database.layer.pipe(Layer.provideMerge(PostgresClient.layerPool(options)), Layer.fresh)

const pooled = (options: pg.PoolConfig = {}) =>
  Effect.flatMap(freshDatabase(), (url: Redacted.Redacted) => hostPool(url, options))

/** The host's own query. */
const ask = <Row extends pg.QueryResultRow>(pool: pg.Pool, text: string) =>
  Effect.map(Effect.promise(() => pool.query<Row>(text)), ({ rows }) => rows)

const given = (pool: pg.Pool) => pool.totalCount - pool.idleCount

const returned = (pool: pg.Pool) =>
  Effect.repeat(Effect.delay(Effect.sync(() => given(pool)), "20 millis"), { until: (count) => count === 0 })

describe("a host's pool", () => {
  it.live("both work over the same connections, which go back as they were found and stay open", () =>
    Effect.gen(function*() {
      const pool = yield* pooled({ max: 3 })
      yield* ask(pool, "set statement_timeout = '1min'")
      yield* ask(pool, "select 1")
      const state = `select current_setting('statement_timeout') as timeout, current_setting('jit') as jit,
        current_setting('enable_seqscan') as seqscan, (select count(*)::int from pg_prepared_statements) as named,
        pg_backend_pid() as pid`
      const before = yield* ask(pool, state)
      yield* Effect.gen(function*() {
        yield* Migrations.run()
        const { direct } = yield* Database
        yield* ask(pool, "create function told(c json) returns json as 'select c' language sql")
        const told = yield* direct("Test.told", calling<number, number>("told"))
        const numbers = Array.from({ length: 200 }, (_, i) => i)
        const [answers] = yield* Effect.all([
          Effect.forEach(numbers, told, { concurrency: "unbounded" }),
          Effect.forEach(numbers, () => ask(pool, "select 1"), { concurrency: 20 })
        ], { concurrency: 2 })
        assert.deepStrictEqual(answers, numbers)
        // no connection is kept while there is nothing to do
        yield* returned(pool)
      }).pipe(Effect.scoped, Effect.provide(ours({ pool })))
      yield* returned(pool)
      assert.isAtMost(pool.totalCount, 3)
      const clients = yield* Effect.promise(() =>
        Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))
      )
      const after = yield* Effect.promise(() => Promise.all(clients.map((client) => client.query(state))))
      for (const client of clients) client.release()
      assert.deepInclude(after.flatMap(({ rows }) => rows as Array<unknown>), before[0])
      for (const { rows: [row] } of after) assert.deepInclude(row, { jit: "on", seqscan: "on", named: 0 })
      assert.isFalse(pool.ended)
    }).pipe(Effect.scoped))

  it.live("what an upgrade sets to build an index is not set in the host's sessions", () =>
    Effect.gen(function*() {
      const pool = yield* Effect.flatMap(emptyDatabase(), (url) => hostPool(url, { max: 3 }))
      const migrate = (...migrations: ReadonlyArray<Migrations.Migration>) =>
        Effect.provide(Migrations.run(migrations), ours({ pool }), { local: true })
      yield* migrate(first)
      yield* returned(pool)
      const all = <Row extends pg.QueryResultRow>(text: string) =>
        Effect.promise(async () => {
          const clients = await Promise.all(Array.from({ length: 3 }, () => pool.connect()))
          const answers = await Promise.all(clients.map((client) => client.query<Row>(text)))
          for (const client of clients) client.release()
          return answers.flatMap(({ rows }) => rows)
        })
      yield* all("set statement_timeout = '1min'")
      yield* migrate(first, indexed)
      yield* returned(pool)
      const timeouts = yield* all<{ timeout: string }>("select current_setting('statement_timeout') as timeout")
      assert.deepStrictEqual(timeouts.map(({ timeout }) => timeout), ["1min", "1min", "1min"])
    }).pipe(Effect.scoped))

  it.live("values are read in the same way, whatever the host's parsers and settings are", () =>
    Effect.gen(function*() {
      const url = yield* withSettings(yield* freshDatabase(), {
        bytea_output: "escape",
        DateStyle: "SQL, DMY",
        TimeZone: "Pacific/Chatham",
        default_transaction_isolation: "serializable"
      })
      const pool = yield* hostPool(url, {
        types: { getTypeParser: () => () => "the host's own" }
      })
      const values = `select '\\x00ff'::bytea as bytes, array['a', null, 'b,c'] as texts, '{"a": [1]}'::jsonb as json,
        9007199254740993::bigint as large, 1.5::float8 as number, true as yes, null::text as nothing,
        '2026-01-02T03:04:05.678Z'::timestamptz as at`
      const read = PgClient.PgClient.use((client) => client.unsafe<Record<string, unknown>>(values))
      const [expected] = yield* Effect.provide(read, PostgresClient.layer({ url }))
      yield* Effect.gen(function*() {
        const [row] = yield* read
        assert.deepStrictEqual({ ...row }, { ...expected })
        const isolation = { text: "show transaction_isolation" }
        const { pipelined } = yield* Sessions
        assert.deepStrictEqual(
          (yield* pipelined([isolation, isolation])).map(([row]) => row!["transaction_isolation"]),
          ["read committed", "read committed"]
        )
      }).pipe(Effect.provide(ours({ pool })))
      assert.deepStrictEqual((yield* ask(pool, "select 1 as n"))[0], { n: "the host's own" })
    }).pipe(Effect.scoped))

  it.live("what takes too long is cancelled, and its connection is not given back", () =>
    Effect.gen(function*() {
      const pool = yield* pooled()
      const client = Context.get(yield* Layer.build(ours({ pool })), PgClient.PgClient)
      const sleeping = Effect.delay(
        ask<{ pid: number }>(
          pool,
          "select pid from pg_stat_activity where query like '%pg_sleep(60)' and state = 'active' and pid <> pg_backend_pid()"
        ),
        "20 millis"
      )
      const asleep = yield* Effect.forkChild(client`select pg_sleep(60)`)
      const [{ pid } = { pid: 0 }] = yield* Effect.repeat(sleeping, { until: (rows) => rows.length > 0 })
      yield* Fiber.interrupt(asleep)
      yield* Effect.repeat(sleeping, { until: (rows) => rows.length === 0 })
      const left = ask(pool, `select 1 from pg_stat_activity where pid = ${pid}`)
      yield* Effect.repeat(Effect.delay(left, "20 millis"), { until: (rows) => rows.length === 0 })
    }).pipe(Effect.scoped))

  it.live("a transaction that is interrupted leaves nothing behind on the host's connection", () =>
    Effect.gen(function*() {
      const pool = yield* pooled({ max: 3 })
      yield* ask(pool, "create table seen (n int)")
      yield* ask(
        pool,
        `create function slow(c json) returns json as $$
        begin insert into seen select 1; perform pg_sleep(2); return c; end $$ language plpgsql`
      )
      yield* Effect.gen(function*() {
        const { direct } = yield* Database
        const slow = yield* direct("Test.slow", calling<number, number>("slow"))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(slow(1))))
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provide(ours({ pool }), Layer.succeed(StatementTimeout, 1000)))
      )
      yield* returned(pool)
      assert.deepStrictEqual(yield* ask(pool, "select * from seen"), [])
    }).pipe(Effect.scoped))

  it.live("a session that the server ends is replaced, and the process goes on", () =>
    Effect.gen(function*() {
      const pool = yield* pooled({ max: 3 })
      const { query } = Context.get(yield* Layer.build(ours({ pool })), Database)
      for (let i = 0; i < 3; i++) {
        yield* Effect.exit(query("Test.end", { text: "select pg_terminate_backend(pg_backend_pid())" }))
        assert.deepStrictEqual((yield* query("Test.one", { text: "select 1 as n" })).map((row) => ({ ...row })), [{
          n: 1
        }])
      }
    }).pipe(Effect.scoped))

  it.live.each([true, false])(
    "one connection listens, unless that is turned off: %s",
    (listen) =>
      Effect.gen(function*() {
        const pool = yield* pooled()
        const { listen: hear } = Context.get(yield* Layer.build(ours({ pool, listen })), Database)
        const heard = yield* hear("test")
        assert.strictEqual(yield* Queue.take(heard), "")
        yield* ask(pool, "select pg_notify('test', 'told')")
        if (listen) assert.strictEqual(yield* Queue.take(heard), "told")
        const listeners = yield* ask(
          pool,
          "select 1 from pg_stat_activity where datname = current_database() and query like 'LISTEN %'"
        )
        assert.lengthOf(listeners, listen ? 1 : 0)
      }).pipe(Effect.scoped)
  )

  it.live("a pool that cannot be used is refused with the reason", () =>
    Effect.gen(function*() {
      const refusal = (pool: PostgresClient.PoolOptions["pool"]) =>
        Effect.map(
          Effect.scoped(Effect.flip(Layer.build(PostgresClient.layerPool({ pool })))),
          ({ message }) => message
        )
      assert.strictEqual(
        yield* refusal(yield* pooled({ max: 2 })),
        "the pool must have a max of at least 3, and has 2"
      )
      assert.strictEqual(
        yield* refusal({ options: {}, connect: () => Promise.reject(new Error()) }),
        "the pool must be a Pool of the package pg"
      )
      const pool = yield* pooled()
      pool.connect = (() => Promise.resolve({ release: () => undefined })) as never
      assert.match(yield* refusal(pool), /pg\.native cannot be used/)
    }).pipe(Effect.scoped))
})
