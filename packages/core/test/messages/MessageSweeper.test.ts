import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { MessageStore, type SweepResult } from "../../src/messages/MessageStore.ts"
import * as MessageSweeper from "../../src/messages/MessageSweeper.ts"
import { StoreError } from "../../src/StoreError.ts"
import { second } from "../checks.ts"
import { start } from "../samples.ts"

const nothing: SweepResult = { unknown: 0, failed: 0, forgotten: 0 }

/** The sweeper over a store that records sweeps. */
const sweeping = (answer: (sweep: number) => Effect.Effect<SweepResult, StoreError> = () => Effect.succeed(nothing)) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const swept: Array<number> = []
    const scope = yield* Scope.make()
    const store = Layer.mock(MessageStore, {
      sweep: (now: number) =>
        Effect.suspend(() => {
          swept.push(now - start)
          return answer(swept.length)
        })
    })
    yield* Layer.buildWithScope(Layer.provide(MessageSweeper.layer, store), scope)
    return { swept, stop: Scope.close(scope, Exit.void) }
  })

describe("the sweeper", () => {
  it.effect("the sweeper runs every second, with the current time", () =>
    Effect.gen(function*() {
      const { stop, swept } = yield* sweeping()
      yield* TestClock.adjust(999)
      assert.deepStrictEqual(swept, [])
      yield* TestClock.adjust(4 * second)
      assert.deepStrictEqual(swept, [1, 2, 3, 4].map((seconds) => seconds * second))
      yield* stop
    }))

  it.effect("the sweeper continues after a failure and after a defect", () =>
    Effect.gen(function*() {
      const { stop, swept } = yield* sweeping((sweep) =>
        sweep === 1
          ? Effect.fail(new StoreError({ operation: "MessageStore.sweep" }))
          : sweep === 2
          ? Effect.die(new Error("a bug in the storage's adapter"))
          : Effect.succeed(nothing)
      )
      yield* TestClock.adjust(4 * second)
      assert.strictEqual(swept.length, 4)
      yield* stop
    }))

  it.effect("the sweeper waits for a slow sweep before the next", () =>
    Effect.gen(function*() {
      const { stop, swept } = yield* sweeping(() => Effect.as(Effect.sleep("10 seconds"), nothing))
      yield* TestClock.adjust(30 * second)
      assert.deepStrictEqual(swept, [1, 12, 23].map((seconds) => seconds * second))
      yield* stop
    }))

  it.effect("the sweeper stops with its scope, even during a sweep", () =>
    Effect.gen(function*() {
      const { stop, swept } = yield* sweeping(() => Effect.never)
      yield* TestClock.adjust(5 * second)
      yield* stop
      yield* TestClock.adjust(60 * second)
      assert.deepStrictEqual(swept, [second])
    }))
})
