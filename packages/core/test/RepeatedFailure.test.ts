import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as RepeatedFailure from "../src/RepeatedFailure.ts"
import { logged } from "./logged.ts"

describe("a failure that repeats", () => {
  it.effect("a repeated failure is logged once a minute with its count, separately for each kind", () => {
    const lines: Array<string> = []
    const keep = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
    return Effect.gen(function*() {
      const log = RepeatedFailure.make()
      for (let second = 0; second < 150; second++) {
        yield* log("store 53100", "store failed")
        if (second === 0) yield* log("store 42501", "store failed differently")
        yield* TestClock.adjust("1 second")
      }
      assert.deepStrictEqual(lines, [
        "store failed",
        "store failed differently",
        "store failed (and 59 more times since the last line)",
        "store failed (and 59 more times since the last line)"
      ])
    }).pipe(Effect.provide(Logger.layer([keep])))
  })

  it.effect("a failure is logged again after a minute, even if the process's clock was set back meanwhile", () =>
    logged((lines) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(3_600_000)
        const log = RepeatedFailure.make()
        const watched = RepeatedFailure.watch("work")
        const fail = Effect.andThen(log("store 53100", "store failed"), Effect.exit(watched(Effect.fail("no"))))
        yield* fail
        yield* TestClock.setTime(0)
        yield* TestClock.adjust("1 minute")
        yield* fail
        yield* watched(Effect.void)
        assert.deepStrictEqual(lines.map(({ message }) => message.split(",")[0]), [
          "store failed",
          "work failed; it is tried again",
          "store failed",
          "work failed; it is tried again",
          "work succeeds again after 2 failures in 1m"
        ])
      })
    ))

  it.effect("a watch logs the first success after a failure, with the number of failures", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const watched = RepeatedFailure.watch("work")
        for (let second = 0; second < 90; second++) {
          assert.isTrue(Exit.isFailure(yield* Effect.exit(watched(Effect.fail("no")))))
          yield* TestClock.adjust("1 second")
        }
        assert.strictEqual(yield* watched(Effect.succeed(7)), 7)
        yield* watched(Effect.void)
        assert.deepStrictEqual(lines.map(({ level, message }) => `${level}: ${message.split(",")[0]}`), [
          "Warn: work failed; it is tried again",
          "Warn: work failed; it is tried again (and 59 more times since the last line)",
          "Info: work succeeds again after 90 failures in 1m 30s"
        ])
      })
    ))

  it.effect("work that fails every other time is logged twice a minute at most", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const watched = RepeatedFailure.watch("work")
        for (let second = 0; second < 120; second++) {
          yield* Effect.exit(watched(second % 2 === 0 ? Effect.fail("no") : Effect.void))
          yield* TestClock.adjust("1 second")
        }
        assert.deepStrictEqual(lines.map(({ message }) => message.split(",")[0]), [
          "work failed; it is tried again",
          "work succeeds again after 1 failure in 1s",
          "work failed; it is tried again (and 29 more times since the last line)",
          "work succeeds again after 1 failure in 1s"
        ])
      })
    ))

  it.effect("an interruption of watched work is not logged", () =>
    logged((lines) =>
      Effect.gen(function*() {
        yield* Effect.exit(RepeatedFailure.watch("work")(Effect.interrupt))
        assert.deepStrictEqual(lines, [])
      })
    ))

  it.effect("work on each item is done even if it fails for some, and then fails with the first failure", () =>
    Effect.gen(function*() {
      const done: Array<number> = []
      const exit = yield* Effect.exit(RepeatedFailure.each([1, 2, 3], (item) => {
        done.push(item)
        return item === 3 ? Effect.void : Effect.fail(`no ${item}`)
      }))
      assert.deepStrictEqual(done, [1, 2, 3])
      assert.deepStrictEqual(exit, Exit.fail("no 1"))
    }))
})
