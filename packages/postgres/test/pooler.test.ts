/**
 * The client behind a pooler, which gives each statement some shared session.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import * as PgBouncer from "@wac/testbed/PgBouncer"
import { Effect, Exit, Layer, Logger, Queue, Ref } from "effect"
import { Database } from "../src/Database.ts"
import * as Migrations from "../src/Migrations.ts"
import * as PostgresClient from "../src/PostgresClient.ts"
import { StatementTimeout } from "../src/StatementTimeout.ts"
import { calling } from "./calling.ts"
import { first, indexed } from "./indexed.ts"
import { emptyDatabase, freshDatabase, pooled, withSettings } from "./servers.ts"

/** A database, and how a client reaches it through a pooler. */
const fresh = Effect.fnUntraced(function*(mode?: "session" | "transaction") {
  const { listenUrl: direct, url } = yield* Effect.flatMap(freshDatabase(), (direct) => pooled(direct, mode))
  return { direct, url }
})

const database = (options: PostgresClient.Options) =>
  Database.layer.pipe(Layer.provideMerge(PostgresClient.layer(options)), Layer.fresh)

/**
 * A database whose server ends each statement after about a second. The process waits for that for as long as it takes,
 * so that on a slow machine too the server's time limit comes first.
 */
const impatient = (options: PostgresClient.Options) =>
  Database.layer.pipe(
    Layer.provide(Layer.succeed(StatementTimeout, 200_000)),
    Layer.provideMerge(Layer.provide(PostgresClient.layer(options), Layer.succeed(StatementTimeout, 1000))),
    Layer.fresh
  )

/** The lines logged meanwhile. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const lines = yield* Ref.make<ReadonlyArray<string>>([])
    const logger = Logger.make(({ message }) => {
      Effect.runSync(Ref.update(lines, (all) => [...all, String(message)]))
    })
    yield* Effect.provide(effect, Logger.layer([logger]), { local: true })
    return yield* Ref.get(lines)
  })

const sql = <Row extends object>(text: string) =>
  Effect.flatMap(PgClient.PgClient, (client) => client.unsafe<Row>(text))

/** The state of a session that its next user would find. */
const left = `select current_setting('statement_timeout') || current_setting('lock_timeout') as times,
  current_setting('jit') as jit, (select count(*)::int from pg_prepared_statements) as named`

describe("a pooler", PgBouncer.needed, () => {
  it.live.each(["session", "transaction"] as const)(
    "a pooler is detected, and no state is left in its sessions: %s",
    (mode) =>
      Effect.gen(function*() {
        const { direct, url } = yield* fresh(mode)
        yield* Effect.gen(function*() {
          yield* Migrations.run()
          const { direct } = yield* Database
          yield* sql("create function told(c json) returns json as 'select c' language sql")
          const told = yield* direct("Test.told", calling<number, number>("told"))
          assert.deepStrictEqual(
            yield* Effect.forEach([1, 2, 3], told, { concurrency: "unbounded" }),
            [1, 2, 3]
          )
          const [row] = yield* sql<{ times: string; jit: string; named: number }>(left)
          assert.deepStrictEqual({ ...row! }, { times: "00", jit: "on", named: 0 })
        }).pipe(Effect.provide(database({ url, listenUrl: direct })))
        // without a pooler, each session has its settings
        yield* Effect.gen(function*() {
          const [row] = yield* sql<{ times: string; jit: string }>(left)
          assert.deepInclude({ ...row! }, { times: "4500ms0", jit: "off" })
        }).pipe(Effect.provide(database({ url: direct })))
      }).pipe(Effect.scoped)
  )

  it.live("a batch that takes too long behind a pooler is undone", () =>
    Effect.gen(function*() {
      const { direct, url } = yield* fresh()
      const owner = database({ url: direct })
      yield* Effect.provide(sql("create table seen (n int)"), owner)
      yield* Effect.provide(
        sql(`create function slow(c json) returns json as $$
          begin
            insert into seen select 1;
            perform pg_sleep(30);
            return c;
          end $$ language plpgsql`),
        owner
      )
      yield* Effect.gen(function*() {
        const { direct } = yield* Database
        const slow = yield* direct("Test.slow", calling<number, number>("slow"))
        assert.isTrue(Exit.isFailure(yield* Effect.exit(slow(1))))
      }).pipe(Effect.provide(impatient({ url, listenUrl: direct })))
      const active =
        "select 1 from pg_stat_activity where query like '%slow(%' and state = 'active' and pid <> pg_backend_pid()"
      yield* Effect.provide(Effect.repeat(sql(active), { while: (rows) => rows.length > 0 }), owner)
      assert.deepStrictEqual(yield* Effect.provide(sql("select * from seen"), owner), [])
    }).pipe(Effect.scoped))

  it.live("a batch that waits too long for a lock behind a pooler fails", () =>
    Effect.gen(function*() {
      const { direct, url } = yield* fresh()
      yield* Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        yield* sql("create table rows as select 1 as n")
        yield* sql("create function waits(c json) returns json as 'update rows set n = 2; select c' language sql")
        const failure = yield* client.withTransaction(Effect.gen(function*() {
          yield* sql("update rows set n = 3")
          return yield* logged(
            Effect.gen(function*() {
              const { direct } = yield* Database
              const waits = yield* direct("Test.waits", calling<number, number>("waits"))
              assert.isTrue(Exit.isFailure(yield* Effect.exit(waits(1))))
            }).pipe(Effect.provide(impatient({ url, listenUrl: direct }), { local: true }))
          )
        }))
        assert.match(failure.join("\n"), /Test\.waits failed: .*statement timeout, 57014/)
      }).pipe(Effect.provide(database({ url: direct })))
    }).pipe(Effect.scoped))

  it.live("an index that a time limit of the pooler's sessions ends is refused, and their limit stays as it was", () =>
    Effect.gen(function*() {
      const direct = yield* withSettings(yield* emptyDatabase(), { statement_timeout: "3s" })
      const { url } = yield* pooled(direct, "transaction")
      const migrate = (
        options: PostgresClient.Options,
        ...migrations: ReadonlyArray<Migrations.Migration>
      ) => Effect.provide(Migrations.run(migrations), Layer.fresh(PostgresClient.layer(options)), { local: true })
      yield* migrate({ url: direct }, first)
      const session = Layer.fresh(PgClient.layer({ url: direct, maxConnections: 1 }))
      yield* Effect.gen(function*() {
        // the build waits for the end of a transaction that has written to the table
        yield* sql("begin")
        yield* sql("insert into wac.one values (2)")
        const { message } = yield* Effect.flip(migrate({ url }, first, indexed))
        assert.match(
          message,
          /^the index one_x cannot be built in a pooler's session: .*statement timeout, 57014\. Migrate/
        )
        yield* sql("commit")
      }).pipe(Effect.provide(session))
      const limits = yield* Effect.provide(
        Effect.forEach(Array.from({ length: 5 }), () => sql<{ times: string }>(left), { concurrency: "unbounded" }),
        database({ url })
      )
      assert.deepStrictEqual([...new Set(limits.flat().map(({ times }) => times))], ["3s0"])
      assert.deepStrictEqual(yield* migrate({ url: direct }, first, indexed), { before: 1, after: 2 })
    }).pipe(Effect.scoped))

  it.live("behind a pooler, notifications need a direct URL, and its absence is logged", () =>
    Effect.gen(function*() {
      const { direct, url } = yield* fresh()
      yield* Effect.gen(function*() {
        const { listen, query } = yield* Database
        const heard = yield* listen("test")
        assert.strictEqual(yield* Queue.take(heard), "")
        yield* query("Test.tell", { text: "select pg_notify('test', 'told')" })
        assert.strictEqual(yield* Queue.take(heard), "told")
      }).pipe(Effect.scoped, Effect.provide(database({ url, listenUrl: direct })))
      const warned = yield* logged(
        Effect.gen(function*() {
          const { listen } = yield* Database
          assert.strictEqual(yield* Queue.take(yield* listen("test")), "")
        }).pipe(Effect.scoped, Effect.provide(database({ url })))
      )
      assert.match(warned.join("\n"), /DATABASE_LISTEN_URL names a way to PostgreSQL itself/)
    }).pipe(Effect.scoped))
})
