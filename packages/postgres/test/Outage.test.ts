/**
 * What happens to callers while PostgreSQL is stopped, slow or unreachable, and afterwards.
 */
import { PgConnection } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import type { Step } from "@wac/core"
import * as PostgresProxy from "@wac/testbed/PostgresProxy"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { Context, Effect, Exit, Fiber, Layer, Logger, Option, Queue, Redacted, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import { Database, type DirectOptions, type StepOptions } from "../src/Database.ts"
import * as PostgresClient from "../src/PostgresClient.ts"
import { describe as describeFailure } from "../src/SqlFailure.ts"
import { StatementTimeout } from "../src/StatementTimeout.ts"
import { calling } from "./calling.ts"

let server: PostgresServer.PostgresServer
let proxy: PostgresProxy.PostgresProxy
beforeAll(async () => {
  server = await PostgresServer.start("fsync=off", "max_connections=20")
  proxy = await PostgresProxy.start(server.url)
})
afterAll(async () => {
  proxy.close()
  await server.remove()
})

const database = (options: { readonly deadline?: number; readonly maxConnections?: number } = {}) =>
  Layer.unwrap(Effect.sync(() =>
    Database.layer.pipe(
      Layer.provide(
        PostgresClient.layer({ url: Redacted.make(proxy.url), maxConnections: options.maxConnections ?? 10 })
      ),
      Layer.provide(Layer.succeed(StatementTimeout, options.deadline ?? 5000))
    )
  ))

const one = Effect.flatMap(Database, ({ query }) => query("Test.one", { text: "select 1 as one" }))

const isUnavailable = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) && String(exit.cause).includes("StoreError")

describe("a server that does not respond", () => {
  it.live("closing does not wait for a silent server", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { listen, query } = yield* Effect.map(
        Layer.buildWithScope(database(), scope),
        (context) => Context.get(context, Database)
      )
      const heard = yield* Scope.provide(listen("test"), scope)
      assert.strictEqual(yield* Queue.take(heard), "")
      yield* query("Test.one", { text: "select 1 as one" })
      proxy.freeze()
      // if closing waited, it would wait until the server responds again
      const closed = yield* Effect.timeoutOption(Scope.close(scope, Exit.void), "20 seconds")
      proxy.thaw()
      assert.isTrue(Option.isSome(closed))
    }))
})

describe("a server that does not answer LISTEN", () => {
  it.live("closing does not wait for it, however many channels are listened to, and logs no lost connection", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      const scope = yield* Scope.make()
      const held = proxy.stopAt("LISTEN ", "sent")
      const { listen } = yield* Effect.map(
        Layer.buildWithScope(database(), scope),
        (context) => Context.get(context, Database)
      ).pipe(Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])))
      yield* Effect.forEach(["one", "another"], (channel) => Scope.provide(listen(channel), scope))
      yield* Effect.promise(() => held)
      const closed = yield* Effect.timeoutOption(Scope.close(scope, Exit.void), "20 seconds")
      assert.isTrue(Option.isSome(closed))
      assert.deepStrictEqual(logged, [])
    }))
})

describe("a restart of PostgreSQL", () => {
  it.live("callers after a restart do not notice it", () =>
    Effect.gen(function*() {
      yield* one
      yield* Effect.promise(server.stop)
      yield* Effect.promise(server.start)
      yield* Effect.forEach(Array.from({ length: 20 }), () => one, { concurrency: "unbounded" })
    }).pipe(Effect.provide(database())))

  it.live("a query issued during a restart waits and then succeeds", () =>
    Effect.gen(function*() {
      const refused = proxy.refuse()
      // a statement over a connection just broken may have been carried out, and is not repeated: the client, which is
      // in this event loop, learns of the end in one of its next turns
      for (let turn = 0; turn < 10; turn++) yield* Effect.promise(() => new Promise(setImmediate))
      const caller = yield* Effect.forkChild(one, { startImmediately: true })
      yield* Effect.promise(() => refused)
      proxy.thaw()
      assert.strictEqual((yield* Fiber.join(caller))[0]!["one"], 1)
    }).pipe(Effect.provide(database())))

  it.live("a restart fails statements in flight and callers that wait too long; later calls succeed", () =>
    Effect.gen(function*() {
      const { direct, query } = yield* Database
      yield* query("Test.create", {
        text:
          "create or replace function slow(c json) returns json as $$ begin perform pg_sleep(30); return c; end $$ language plpgsql"
      })
      const slow = yield* direct("Test.slow", calling<number, number>("slow"))
      const underWay = yield* Effect.forkChild(
        Effect.exit(Effect.forEach([1, 2, 3], slow, { concurrency: "unbounded" }))
      )
      yield* untilActive("slow")
      yield* Effect.promise(server.stop)
      assert.isTrue(isUnavailable(yield* Fiber.join(underWay)))
      assert.isUndefined((yield* Effect.flip(yield* Fiber.join(underWay))).isUndone)
      assert.isTrue((yield* Effect.flip(one)).isUndone)
      yield* Effect.promise(server.start)
      yield* one
    }).pipe(Effect.scoped, Effect.provide(database())))

  it.live("readers of notifications survive a restart, and are notified that they may have missed some", () =>
    Effect.gen(function*() {
      const { listen, query } = yield* Database
      const reader = yield* listen("hints")
      assert.strictEqual(yield* Queue.take(reader), "")
      yield* Effect.promise(server.stop)
      yield* Effect.promise(server.start)
      assert.strictEqual(yield* Queue.take(reader), "")
      proxy.cut()
      assert.strictEqual(yield* Queue.take(reader), "")
      yield* query("Test.notify", { text: "notify hints, 'again'" })
      assert.strictEqual(yield* Queue.take(reader), "again")
    }).pipe(Effect.scoped, Effect.provide(database())))
})

/** Waits until a statement with that text is running. */
const untilActive = (text: string) =>
  Effect.flatMap(
    Database,
    ({ query }) =>
      query("Test.active", {
        text:
          "select count(*)::integer as n from pg_stat_activity where state = 'active' and query like $1 and pid <> pg_backend_pid()",
        params: [`%${text}%`]
      })
  ).pipe(Effect.repeat({ until: ([row]) => Number(row!["n"]) > 0 }))

it.live("a statement that takes too long is undone, and its caller gets an error", () =>
  Effect.gen(function*() {
    const { query } = yield* Database
    yield* query("Test.create", { text: "create table if not exists done (n integer)" })
    const exit = yield* Effect.exit(
      query("Test.slow", { text: "with waited as (select pg_sleep(10)) insert into done select 1 from waited" })
    )
    assert.isTrue(isUnavailable(exit))
    assert.deepStrictEqual(yield* query("Test.done", { text: "select * from done" }), [])
  }).pipe(Effect.provide(database({ deadline: 1000 }))))

it.live("if all connections are taken, callers wait for one, up to the deadline", () =>
  Effect.gen(function*() {
    const { query } = yield* Database
    const sleep = query("Test.sleep", { text: "select pg_sleep(1)" })
    const exits = yield* Effect.forEach([1, 2, 3, 4], () => Effect.exit(sleep), { concurrency: "unbounded" })
    assert.isTrue(Exit.isSuccess(exits[0]!))
    assert.isTrue(isUnavailable(exits[3]!))
    yield* one
  }).pipe(Effect.provide(database({ deadline: 1500, maxConnections: 1 }))))

it.live("if the network drops everything, no caller hangs, and calls succeed once it recovers", () =>
  Effect.gen(function*() {
    yield* one
    proxy.freeze()
    const exits = yield* Effect.forEach([1, 2, 3], () => Effect.exit(one), { concurrency: "unbounded" })
    assert.isTrue(exits.every(isUnavailable))
    proxy.thaw()
    yield* one
  }).pipe(Effect.provide(database({ deadline: 1500 }))))

it.live("broken connections are replaced once the break is noticed", () =>
  Effect.gen(function*() {
    yield* Effect.forEach([1, 2, 3], () => one, { concurrency: "unbounded" })
    proxy.cut()
    yield* Effect.retry(one, { times: 3 })
  }).pipe(Effect.provide(database())))

describe("a statement that conflicts with another", () => {
  /**
   * Fails `times` times with an SQLSTATE of its own (counted by a sequence, which no transaction undoes), and then
   * succeeds.
   */
  const undone = (name: string, state: string, times: number) =>
    Effect.flatMap(Database, ({ query }) =>
      Effect.andThen(
        query("Test.create", { text: `create sequence ${name}_calls` }),
        query("Test.create", {
          text: `create function ${name}(c json) returns json language plpgsql as $$
          begin
            if nextval('${name}_calls') <= ${times} then raise exception using errcode = '${state}'; end if;
            return c;
          end $$`
        })
      ))

  const calls = (name: string) =>
    Effect.flatMap(
      Database,
      ({ query }) => query("Test.calls", { text: `select last_value::integer as n from ${name}_calls` })
    ).pipe(Effect.map(([row]) => row!["n"]))

  it.live.each([["serialization_failure", "40001"], ["deadlock_detected", "40P01"]] as const)(
    "an undone statement is retried, for one caller and for many: %s",
    ([name, state]) =>
      Effect.gen(function*() {
        const { direct, query } = yield* Database
        yield* undone(name, state, 3)
        const echo = yield* direct("Test.echo", calling<number, number>(name))
        assert.deepStrictEqual(yield* Effect.forEach([1, 2, 3], echo, { concurrency: "unbounded" }), [1, 2, 3])
        assert.strictEqual(yield* calls(name), 4)
        yield* query("Test.again", { text: `alter sequence ${name}_calls restart` })
        assert.deepStrictEqual((yield* query("Test.echo", { text: `select ${name}('[7]') as echo` }))[0]!["echo"], [7])
        assert.strictEqual(yield* calls(name), 4)
      }).pipe(Effect.scoped, Effect.provide(database()))
  )

  it.live("a statement that is undone every time fails its callers", () =>
    Effect.gen(function*() {
      const { direct } = yield* Database
      yield* undone("always", "40001", 1_000_000)
      const echo = yield* direct("Test.echo", calling<number, number>("always"))
      const exits = yield* Effect.forEach([1, 2], (n) => Effect.exit(echo(n)), { concurrency: "unbounded" })
      assert.isTrue(exits.every(isUnavailable))
      assert.isAbove(Number(yield* calls("always")), 3)
    }).pipe(Effect.scoped, Effect.provide(database())))

  it.live("a statement that was undone because of a deadlock succeeds in the end", () =>
    Effect.gen(function*() {
      const { query } = yield* Database
      yield* query("Test.create", { text: "create table crossed (n integer primary key, times integer not null)" })
      yield* query("Test.create", { text: "create sequence crossings" })
      yield* query("Test.create", { text: "insert into crossed values (1, 0), (2, 0)" })
      yield* query("Test.create", {
        text: `create function cross_over(one integer, two integer) returns void language plpgsql as $$
        begin
          update crossed set times = times + 1 where n = one;
          perform nextval('crossings');
          -- until both have locked their first row
          while (select last_value < 2 from crossings) loop perform pg_sleep(0.01); end loop;
          update crossed set times = times + 1 where n = two;
        end $$`
      })
      const cross = (one: number, two: number) =>
        query("Test.cross", { text: "select cross_over($1, $2)", params: [one, two] })
      yield* Effect.all([cross(1, 2), cross(2, 1)], { concurrency: "unbounded" })
      assert.deepStrictEqual(
        (yield* query("Test.read", { text: "select times from crossed order by n" })).map((row) => row["times"]),
        [2, 2]
      )
      const deadlocks = query("Test.deadlocks", {
        text: "select deadlocks::integer as n from pg_stat_database where datname = current_database()"
      })
      // a session adds what it has counted some time after its transaction
      yield* Effect.repeat(Effect.delay(deadlocks, "50 millis"), { until: ([row]) => Number(row!["n"]) >= 1 })
    }).pipe(Effect.provide(database())))
})

it.live("if every connection of the server is taken, opening fails after a while, and succeeds once they are free", () =>
  Effect.gen(function*() {
    const others = yield* Scope.make()
    const another = Effect.flatMap(PgConnection.make({ url: Redacted.make(server.url) }), ({ pin }) => pin)
    const refused = yield* Effect.flip(Effect.forever(Scope.provide(another, others)))
    assert.include(describeFailure(refused), "53300")
    const { message } = yield* Effect.flip(Effect.provide(one, database()))
    assert.include(message, "53300")
    yield* Scope.close(others, Exit.void)
    assert.strictEqual((yield* Effect.provide(one, database()))[0]!["one"], 1)
  }))

/** A step that writes a number. */
const writing: StepOptions<number, Step.Known, number, number> = {
  load: () => [{ text: "select 1 as one" }],
  read: (_, now) => ({ now }),
  decide: (_, numbers) => ({ answers: numbers, writes: numbers[0]! }),
  write: (n) => [{ text: "insert into written (n) values ($1)", params: [n] }]
}

/** Writes a number in one round trip. */
const writingAtOnce: DirectOptions<number, number> = {
  write: (numbers) => [{ text: "insert into written (n) values ($1)", params: [numbers[0]!] }],
  read: () => (n) => n
}

describe("a synchronous standby that does not respond", () => {
  it.live("nothing is acknowledged that only the primary has, and writes succeed once no standby is expected", () =>
    Effect.gen(function*() {
      const { direct, query, stepped } = yield* Effect.map(
        Layer.build(database({ deadline: 1000 })),
        (context) => Context.get(context, Database)
      )
      const write = yield* stepped("Test.write", writing)
      const writeAtOnce = yield* direct("Test.writeAtOnce", writingAtOnce)
      const standby = Effect.fnUntraced(function*(names: string) {
        const connection = yield* PgConnection.make({ url: Redacted.make(server.url) })
        yield* connection.query("set synchronous_commit = local", [])
        yield* connection.query(`alter system set synchronous_standby_names = '${names}'`, [])
        yield* connection.query("select pg_reload_conf()", [])
      }, Effect.scoped)
      yield* query("Test.create", { text: "create table written (n integer)" })
      yield* Effect.acquireRelease(standby("nobody"), () => Effect.orDie(standby("")))
      // the setting reaches sessions a moment later
      yield* query("Test.standby", { text: "select current_setting('synchronous_standby_names') as names" }).pipe(
        Effect.repeat({ until: ([row]) => row!["names"] === "nobody" })
      )
      assert.isTrue(isUnavailable(yield* Effect.exit(write(1))))
      assert.isTrue(isUnavailable(yield* Effect.exit(writeAtOnce(2))))
      assert.isTrue(
        isUnavailable(yield* Effect.exit(query("Test.insert", { text: "insert into written (n) values (0)" })))
      )
      yield* standby("")
      yield* query("Test.standby", { text: "select current_setting('synchronous_standby_names') as names" }).pipe(
        Effect.repeat({ until: ([row]) => row!["names"] === "" })
      )
      assert.strictEqual(yield* write(3), 3)
      assert.strictEqual(yield* writeAtOnce(4), 4)
    }))
})
