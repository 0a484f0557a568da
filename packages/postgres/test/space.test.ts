/**
 * The space of deleted rows: when autovacuum frees it, and what an operator does about indexes that stay large.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import * as Migrations from "../src/Migrations.ts"
import * as PostgresClient from "../src/PostgresClient.ts"

let server: PostgresServer.PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start(
    "fsync=off",
    "autovacuum_naptime=1s",
    // no insertion causes a visit, also if the statistics tell of it late
    "autovacuum_vacuum_insert_threshold=-1",
    // an analysis between a deletion and its statistics would have its rows counted twice
    "autovacuum_analyze_threshold=1000000000"
  )
})
afterAll(() => server.remove())

const database = Layer.unwrap(Effect.sync(() => PostgresClient.layer({ url: Redacted.make(server.url) })))

/** Rows of a table, and of those a share that is above ours and below PostgreSQL's own. */
const rows = 40_000
const deleted = rows / 20

describe("the space of deleted rows", () => {
  it.live(
    "autovacuum frees a twentieth of a table that loses rows by age, which it leaves in other tables",
    () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        yield* Migrations.run()
        yield* client`create table by_default (delivery_id text, number smallint, primary key (delivery_id, number))`
        yield* client`insert into by_default select lpad(n::text, 9, '0'), 1 from generate_series(1, ${rows}) n`
        yield* client`insert into wac.attempts
          (delivery_id, number, id, workspace_id, trigger, started_at, duration_ms, outcome, message, url)
          select lpad(n::text, 9, '0'), 1, n::text, 'ws', 'automatic', 1, 1, 'timeout', '', ''
          from generate_series(1, ${rows}) n`
        yield* client`vacuum (analyze) wac.attempts`
        yield* client`vacuum (analyze) by_default`
        const told = Effect.map(
          client<{ dead: number; gone: number }>`
            select n_dead_tup::integer as dead, n_tup_del::integer as gone
            from pg_stat_user_tables where relname in ('attempts', 'by_default') order by relname`,
          ([ours, standard]) => ({ ours: ours!, standard: standard! })
        )
        yield* client`delete from by_default where delivery_id <= lpad(${deleted}::text, 9, '0')`
        yield* client`delete from wac.attempts where delivery_id <= lpad(${deleted}::text, 9, '0')`
        const looked = Effect.tap(told, () => Effect.sleep("100 millis"))
        // the statistics tell of one table before the other
        yield* Effect.repeat(looked, {
          until: ({ ours, standard }) => ours.gone === deleted && standard.gone === deleted
        })
        const freed = yield* Effect.repeat(looked, { until: ({ ours }) => ours.dead === 0 })
        assert.strictEqual(freed.standard.dead, deleted)
      }).pipe(Effect.provide(database))
  )

  it.live(
    "indexes stay as large as they were when nearly all rows are deleted, until they are rebuilt beside other writes",
    () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        yield* Migrations.run()
        const insert = (from: number, to: number) =>
          client`insert into wac.message_names (provider_message_id, message_id)
            select md5(n::text), n::text from generate_series(${from}::integer, ${to}::integer) n`
        yield* insert(1, rows)
        const bytes = Effect.map(
          client<{ bytes: number }>`select pg_indexes_size('wac.message_names')::float8 as bytes`,
          ([row]) => row!.bytes
        )
        const full = yield* bytes
        yield* client`delete from wac.message_names where message_id <> '1'`
        yield* client`vacuum (analyze) wac.message_names`
        assert.isAtLeast(yield* bytes, full)
        const writing = yield* PgClient.PgClient.pipe(
          Effect.flatMap((other) =>
            Effect.forever(
              other`insert into wac.message_names (provider_message_id, message_id) values (gen_random_uuid()::text, 'new')`
            )
          ),
          Effect.provide(Layer.fresh(database)),
          Effect.forkScoped({ startImmediately: true })
        )
        const written = Effect.map(
          client<{ rows: number }>`select count(*)::integer as rows from wac.message_names where message_id = 'new'`,
          ([row]) => row!.rows
        )
        yield* Effect.repeat(written, { until: (rows) => rows > 0 })
        yield* client`reindex table concurrently wac.message_names`
        const before = yield* written
        yield* Effect.repeat(written, { until: (rows) => rows > before })
        assert.isUndefined(writing.pollUnsafe(), "no write failed")
        yield* Fiber.interrupt(writing)
        assert.isBelow(yield* bytes, full / 2)
      }).pipe(Effect.scoped, Effect.provide(database))
  )
})
