/**
 * What becomes of callers while PostgreSQL is away, slow or out of reach, and afterwards.
 */
import { assert, describe, it } from "@effect/vitest"
import { PostgresProxy } from "@wac/testkit"
import { Effect, Exit, Fiber, Layer, Queue, Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { Database, Deadline } from "../src/Database.ts"
import * as PostgresClient from "../src/PostgresClient.ts"
import { type PostgresServer, startServer } from "./PostgresServer.ts"

let server: PostgresServer
let proxy: PostgresProxy.PostgresProxy
beforeAll(async () => {
  server = await startServer("fsync=off", "max_connections=20")
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
      Layer.provide(Layer.succeed(Deadline, options.deadline ?? 5000))
    )
  ))

const one = Effect.flatMap(Database, ({ query }) => query("Test.one", "select 1 as one", []))

const isUnavailable = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) && String(exit.cause).includes("StoreError")

describe("a restart of PostgreSQL", () => {
  it.live("is not noticed by who asks after it", () =>
    Effect.gen(function*() {
      yield* one
      yield* Effect.promise(server.stop)
      yield* Effect.promise(server.start)
      yield* Effect.forEach(Array.from({ length: 20 }), () => one, { concurrency: "unbounded" })
    }).pipe(Effect.provide(database())))

  it.live("is waited out by who asks during it", () =>
    Effect.gen(function*() {
      const refused = proxy.refuse()
      const caller = yield* Effect.forkChild(one, { startImmediately: true })
      yield* Effect.promise(() => refused)
      proxy.thaw()
      assert.strictEqual((yield* Fiber.join(caller))[0]!["one"], 1)
    }).pipe(Effect.provide(database())))

  it.live("fails who was under way, and whoever waits for too long, and then is over", () =>
    Effect.gen(function*() {
      const { batched, query } = yield* Database
      yield* query(
        "Test.create",
        "create or replace function slow(c json) returns json as $$ begin perform pg_sleep(30); return c; end $$ language plpgsql",
        []
      )
      const slow = yield* batched<number, number>("Test.slow", "slow")
      const underWay = yield* Effect.forkChild(
        Effect.exit(Effect.forEach([1, 2, 3], slow, { concurrency: "unbounded" }))
      )
      yield* untilActive("slow")
      yield* Effect.promise(server.stop)
      assert.isTrue(isUnavailable(yield* Fiber.join(underWay)))
      assert.isTrue(isUnavailable(yield* Effect.exit(one)))
      yield* Effect.promise(server.start)
      yield* one
    }).pipe(Effect.scoped, Effect.provide(database())))

  it.live("is survived by readers of notifications, who are told that they may have missed some", () =>
    Effect.gen(function*() {
      const { listen, query } = yield* Database
      const reader = yield* listen("hints")
      assert.strictEqual(yield* Queue.take(reader), "")
      yield* Effect.promise(server.stop)
      yield* Effect.promise(server.start)
      assert.strictEqual(yield* Queue.take(reader), "")
      proxy.cut()
      assert.strictEqual(yield* Queue.take(reader), "")
      yield* query("Test.notify", "notify hints, 'again'", [])
      assert.strictEqual(yield* Queue.take(reader), "again")
    }).pipe(Effect.scoped, Effect.provide(database())))
})

/** Waits until a statement with that text is being carried out. */
const untilActive = (text: string) =>
  Effect.flatMap(
    Database,
    ({ query }) =>
      query(
        "Test.active",
        "select count(*)::integer as n from pg_stat_activity where state = 'active' and query like $1 and pid <> pg_backend_pid()",
        [`%${text}%`]
      )
  ).pipe(Effect.repeat({ until: ([row]) => Number(row!["n"]) > 0 }))

it.live("a statement that takes too long is undone, and its caller told", () =>
  Effect.gen(function*() {
    const { query } = yield* Database
    yield* query("Test.create", "create table if not exists done (n integer)", [])
    const exit = yield* Effect.exit(
      query("Test.slow", "with waited as (select pg_sleep(10)) insert into done select 1 from waited", [])
    )
    assert.isTrue(isUnavailable(exit))
    assert.deepStrictEqual(yield* query("Test.done", "select * from done", []), [])
  }).pipe(Effect.provide(database({ deadline: 1000 }))))

it.live("with all connections taken, callers wait for their turn, and not for ever", () =>
  Effect.gen(function*() {
    const { query } = yield* Database
    const sleep = query("Test.sleep", "select pg_sleep(1)", [])
    const exits = yield* Effect.forEach([1, 2, 3, 4], () => Effect.exit(sleep), { concurrency: "unbounded" })
    assert.isTrue(Exit.isSuccess(exits[0]!))
    assert.isTrue(isUnavailable(exits[3]!))
    yield* one
  }).pipe(Effect.provide(database({ deadline: 1500, maxConnections: 1 }))))

it.live("on a network that swallows everything nobody hangs, and it is over when that is over", () =>
  Effect.gen(function*() {
    yield* one
    proxy.freeze()
    const exits = yield* Effect.forEach([1, 2, 3], () => Effect.exit(one), { concurrency: "unbounded" })
    assert.isTrue(exits.every(isUnavailable))
    proxy.thaw()
    yield* one
  }).pipe(Effect.provide(database({ deadline: 1500 }))))

it.live("connections that break are replaced, once their break is noticed", () =>
  Effect.gen(function*() {
    yield* Effect.forEach([1, 2, 3], () => one, { concurrency: "unbounded" })
    proxy.cut()
    yield* Effect.retry(one, { times: 3 })
  }).pipe(Effect.provide(database())))
