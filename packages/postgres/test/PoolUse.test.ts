import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as PoolUse from "../src/PoolUse.ts"

describe("the use of a pool", () => {
  it.effect("uses beyond the pool's size wait, and each ends however it ends", () =>
    Effect.gen(function*() {
      const pool = PoolUse.make(2)
      const gate = yield* Deferred.make<void>()
      const begin = (use: Effect.Effect<void, string>) =>
        Effect.forkChild(pool.counting(Effect.andThen(Deferred.await(gate), use)), { startImmediately: true })
      const [first] = [yield* begin(Effect.void), yield* begin(Effect.fail("no")), yield* begin(Effect.die("no"))]
      assert.deepStrictEqual(PoolUse.stateOf(pool), { inUse: 2, idle: 0, waiting: 1 })
      yield* Fiber.interrupt(first)
      assert.deepStrictEqual(PoolUse.stateOf(pool), { inUse: 2, idle: 0, waiting: 0 })
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.yieldNow
      assert.deepStrictEqual(PoolUse.stateOf(pool), { inUse: 0, idle: 2, waiting: 0 })
    }))
})
