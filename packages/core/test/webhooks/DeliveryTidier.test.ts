import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { StoreError } from "../../src/StoreError.ts"
import { DeliveryStore } from "../../src/webhooks/DeliveryStore.ts"
import * as DeliveryTidier from "../../src/webhooks/DeliveryTidier.ts"
import { second } from "../checks.ts"
import { start } from "../samples.ts"

/** The tidier over a store that records calls and their limits. */
const tidying = (answer: (call: number) => Effect.Effect<number, StoreError>) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const calls: Array<readonly [number, number]> = []
    const scope = yield* Scope.make()
    const store = Layer.mock(DeliveryStore, {
      tidySkipped: (now, limit) =>
        Effect.suspend(() => {
          calls.push([now - start, limit])
          return answer(calls.length)
        })
    })
    yield* Layer.buildWithScope(Layer.provide(DeliveryTidier.layer, store), scope)
    return { calls, stop: Scope.close(scope, Exit.void) }
  })

describe("DeliveryTidier", () => {
  it.effect("the tidier runs every second, and continues immediately while there is something to write", () =>
    Effect.gen(function*() {
      const { calls, stop } = yield* tidying((call) => Effect.succeed(call === 2 ? 1000 : call === 3 ? 17 : 0))
      yield* TestClock.adjust(3 * second)
      assert.deepStrictEqual(calls, [[second, 1000], [2 * second, 1000], [2 * second, 1000], [2 * second, 1000], [
        3 * second,
        1000
      ]])
      yield* stop
      yield* TestClock.adjust(3 * second)
      assert.lengthOf(calls, 5)
    }))

  it.effect("the tidier continues after a failure and after a defect", () =>
    Effect.gen(function*() {
      const { calls, stop } = yield* tidying((call) =>
        call === 1
          ? Effect.fail(new StoreError({ operation: "DeliveryStore.tidySkipped" }))
          : call === 2
          ? Effect.die(new Error("a bug in the storage's adapter"))
          : Effect.succeed(0)
      )
      yield* TestClock.adjust(4 * second)
      assert.lengthOf(calls, 4)
      yield* stop
    }))
})
