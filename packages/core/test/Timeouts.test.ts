import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Timeouts from "../src/Timeouts.ts"

describe("Timeouts", () => {
  /** Sets timeouts and records when they are missed, in milliseconds. */
  const noting = Effect.gen(function*() {
    const timeouts = yield* Timeouts.make
    const clock = yield* Clock.Clock
    const missed: Array<readonly [name: string, at: number]> = []
    const set = (name: string, milliseconds: number) =>
      timeouts.set(Duration.millis(milliseconds), () => missed.push([name, clock.currentTimeMillisUnsafe()]))
    return { missed, set }
  })

  it.effect("each deadline is missed at its own time, unless it was cancelled", () =>
    Effect.gen(function*() {
      const { missed, set } = yield* noting
      set("first", 5000)
      yield* TestClock.adjust(1000)
      const met = set("met", 5000)
      set("second", 5000)
      set("short", 1500)
      yield* TestClock.adjust(1500)
      assert.deepStrictEqual(missed, [["short", 2500]])
      met()
      yield* TestClock.adjust(2499)
      assert.deepStrictEqual(missed, [["short", 2500]])
      yield* TestClock.adjust(1)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(missed, [["short", 2500], ["first", 5000], ["second", 6000]])
      // nothing is left of those, so timing starts again
      set("later", 5000)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(missed.at(-1), ["later", 70_000])
    }))

  it.effect("cancelling a deadline leaves the others", () =>
    Effect.gen(function*() {
      const { missed, set } = yield* noting
      for (let i = 0; i < 100; i++) {
        const met = set("met", 5000)
        if (i === 40) set("missed", 5000)
        yield* TestClock.adjust(100)
        met()
      }
      assert.deepStrictEqual(missed, [["missed", 9000]])
    }))

  it.effect("a deadline set while another is missed counts, and cancelling twice changes nothing", () =>
    Effect.gen(function*() {
      const timeouts = yield* Timeouts.make
      const missed: Array<string> = []
      const again = (name: string) =>
        timeouts.set(Duration.seconds(1), () => {
          missed.push(name)
          if (name !== "aaa") again(`${name}a`)
        })
      const met = again("a")
      yield* TestClock.adjust("1 second")
      met()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(missed, ["a", "aa"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(missed, ["a", "aa", "aaa"])
    }))

  it.effect("timeouts end with the scope", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { missed, set } = yield* Scope.provide(noting, scope)
      set("ended", 5000)
      yield* TestClock.adjust(100)
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(missed, [])
    }))
})
