import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { readFile } from "node:fs/promises"
import * as Timely from "../src/Timely.ts"

/** Milliseconds. */
const deadline = 50

/** How an effect ends within the deadline if the process is first suspended for `stall` milliseconds. */
const ended = <A>(effect: Effect.Effect<A>, stall: number) =>
  Effect.callback<Exit.Exit<A> | "late">((resume) => {
    Timely.watch(Effect.runFork(effect), deadline, (end) => resume(Effect.succeed(end)))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stall)
  })

describe("a deadline", () => {
  it.live("time during which the process was suspended does not count: responses that arrived meanwhile are read", () =>
    Effect.gen(function*() {
      // from the thread pool, which continues; timers run before its results are read
      const read = Effect.promise(() => readFile(import.meta.filename, "utf8"))
      const end = yield* ended(read, 4 * deadline)
      assert.isTrue(end !== "late" && Exit.isSuccess(end))
    }))

  it.live("an effect that never ends is late, even after a suspension", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* ended(Effect.never, 0), "late")
      assert.strictEqual(yield* ended(Effect.never, 4 * deadline), "late")
    }))
})
