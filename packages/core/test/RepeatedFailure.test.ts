import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as RepeatedFailure from "../src/RepeatedFailure.ts"

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
})
