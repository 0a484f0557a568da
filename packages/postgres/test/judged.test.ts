/**
 * When a transition is judged: at the database's time, once its locks are there. Time passes in the database by another
 * `wac_now()`; processes go on by their own clocks.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Limits, RateLimitStore } from "@wac/core"
import { Fixture, MessageFixture } from "@wac/testkit"
import { Clock, Effect, Fiber, Layer } from "effect"
import * as PostgresStorage from "../src/PostgresStorage.ts"
import { freshDatabase } from "./servers.ts"
import { blocked, open } from "./webhooks/DeliveryProcesses.ts"

const { second } = Fixture

const storage = Layer.unwrap(Effect.map(freshDatabase(), (url) =>
  Layer.mergeAll(
    PostgresStorage.layerServer({ url }),
    Layer.orDie(PgClient.layer({ url })),
    Fixture.layer
  )))

/** A token each second, ten at most. */
const limits: Limits.Limits = {
  ...Fixture.roomy,
  pair: { everySeconds: 1, burst: 10 }
}

/** Has the database's clock go so far ahead of the machine's. */
const setAhead = (millis: number) =>
  PgClient.PgClient.use((client) =>
    client.unsafe(`create or replace function wac_now() returns bigint language sql volatile
      return floor(extract(epoch from clock_timestamp()) * 1000)::bigint + ${millis}`)
  )

layer(storage, { excludeTestServices: true })("a transition", (it) => {
  it.effect("is judged when its locks are there, not when it was asked for", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* Fixture.world()
      const asked = yield* Clock.currentTimeMillis
      const lock = yield* open(client`select from workspaces where id = ${own.workspace.id} for no key update`)
      const send = yield* Effect.forkChild(MessageFixture.claimed(own, { now: asked, limits }), {
        startImmediately: true
      })
      yield* blocked
      const [row] = yield* client<{ readonly now: number }>`select wac_now()::float8 as now`
      yield* lock.commit
      const { accepted: { message, readings } } = yield* Fiber.join(send)
      assert.isAtLeast(message.createdAt, row!.now)
      assert.deepStrictEqual(readings.map(({ remaining }) => remaining).at(-1), 9)
    }))

  it.effect("finds no bucket further ahead than an empty one, when the database's clock was set back", () =>
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
      // each of a send's buckets when it is looked at
      for (const refused of ["workspace", "phone_number", "pair"]) {
        assert.deepStrictEqual(yield* answer, [false, `rate_limited/${refused}`])
      }
      yield* setAhead(10 * second)
      for (let i = 0; i < 9; i++) assert.deepStrictEqual(yield* answer, [true, "Claimed"])
      yield* setAhead(0)
    }))
})
