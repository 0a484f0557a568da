/**
 * When a transition is judged: at the database's time, once it holds its locks. The test moves the database's time by
 * replacing `clock_timestamp()` for all sessions, while processes keep their own clocks.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Limits, RateLimitStore } from "@wac/core"
import { Fixture, MessageFixture } from "@wac/testkit"
import { Clock, Effect, Fiber, Layer, Redacted } from "effect"
import * as Clocks from "../src/Clocks.ts"
import { freshDatabase, storageIn } from "./servers.ts"
import { blocked, open } from "./webhooks/DeliveryProcesses.ts"

const { second } = Fixture

/** Sets the database's clock ahead of the machine's by `millis`. */
const setAhead = (millis: number) =>
  PgClient.PgClient.use((client) =>
    client.unsafe(`create or replace function time.clock_timestamp() returns timestamptz language sql volatile
      return pg_catalog.clock_timestamp() + interval '${millis} ms'`)
  )

/** Makes later sessions use a clock that the test can set. */
const settable = (url: Redacted.Redacted) =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    yield* client`create schema time`
    yield* setAhead(0)
    const name = new URL(Redacted.value(url)).pathname.slice(1)
    yield* client`alter database ${client(name)} set search_path = public, time, pg_catalog`
  }).pipe(Effect.provide(PgClient.layer({ url })))

const storage = Layer.unwrap(Effect.gen(function*() {
  const url = yield* freshDatabase()
  yield* Effect.orDie(settable(url))
  return Layer.mergeAll(
    storageIn(url),
    Layer.orDie(PgClient.layer({ url })),
    Fixture.layer
  )
}))

/** A token each second, ten at most. */
const limits: Limits.Limits = {
  ...Fixture.roomy,
  pair: { everySeconds: 1, burst: 10 }
}

layer(storage, { excludeTestServices: true })("a transition", (it) => {
  it.effect("a transition is judged when it has its locks, not when it was requested", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* Fixture.world()
      const asked = yield* Clock.currentTimeMillis
      const lock = yield* open(client`select from wac.workspaces where id = ${own.workspace.id} for no key update`)
      const send = yield* Effect.forkChild(MessageFixture.claimed(own, { now: asked, limits }), {
        startImmediately: true
      })
      yield* blocked
      const [row] = yield* client.unsafe<{ readonly now: number }>(`select ${Clocks.now}::float8 as now`)
      yield* lock.commit
      const { accepted: { message, readings } } = yield* Fiber.join(send)
      assert.isAtLeast(message.createdAt, row!.now)
      assert.deepStrictEqual(readings.map(({ remaining }) => remaining).at(-1), 9)
    }))

  it.effect("if the database's clock was set back, no bucket is further ahead than an empty one", () =>
    Effect.gen(function*() {
      const own = yield* Fixture.world()
      const store = yield* RateLimitStore.RateLimitStore
      const buckets = [{ key: `test:${own.workspace.id}`, policy: Limits.pair(limits) }]
      const answer = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const [reading] = yield* store.spend(buckets, now)
        const { accepted } = yield* MessageFixture.accept(own, { now, limits })
        return [reading!.allowed, MessageFixture.describe(accepted)]
      })
      yield* setAhead(Fixture.hour)
      for (let i = 0; i < 10; i++) assert.deepStrictEqual(yield* answer, [true, "Claimed"])
      yield* setAhead(0)
      // each of a send's buckets, once it is checked
      for (const refused of ["workspace", "phone_number", "pair"]) {
        assert.deepStrictEqual(yield* answer, [false, `rate_limited/${refused}`])
      }
      yield* setAhead(10 * second)
      for (let i = 0; i < 9; i++) assert.deepStrictEqual(yield* answer, [true, "Claimed"])
      yield* setAhead(0)
    }))
})
