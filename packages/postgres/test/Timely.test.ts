import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { readFile } from "node:fs/promises"
import * as Timely from "../src/Timely.ts"

/** Milliseconds. */
const deadline = 50

/** How an effect ends within the deadline, while the process stands still for so long (milliseconds) at first. */
const ended = <A>(effect: Effect.Effect<A>, stall: number) =>
  Effect.callback<Exit.Exit<A> | "late">((resume) => {
    Timely.watch(Effect.runFork(effect), deadline, (end) => resume(Effect.succeed(end)))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stall)
  })

describe("a deadline", () => {
  it.live("does not count time in which the process stood still: what came meanwhile is read", () =>
    Effect.gen(function*() {
      // from the thread pool, which goes on; timers come before what it has read
      const read = Effect.promise(() => readFile(import.meta.filename, "utf8"))
      const end = yield* ended(read, 4 * deadline)
      assert.isTrue(end !== "late" && Exit.isSuccess(end))
    }))

  it.live("ends what never answers, after a stall too", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* ended(Effect.never, 0), "late")
      assert.strictEqual(yield* ended(Effect.never, 4 * deadline), "late")
    }))
})
