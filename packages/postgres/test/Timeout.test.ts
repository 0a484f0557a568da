import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import * as Timeout from "../src/Timeout.ts"

/** Milliseconds. */
const deadline = 50

/**
 * How an effect ends within the deadline if the process is then suspended for `stall` milliseconds. This begins in the
 * turn of the event loop that runs immediates, so the timers, which are due after a stall, run before anything else.
 */
const ended = <A>(effect: Effect.Effect<A>, stall: number) =>
  Effect.callback<Exit.Exit<A> | "late">((resume) => {
    setImmediate(() => {
      Timeout.watch(Effect.runFork(effect), deadline, (end) => resume(Effect.succeed(end)))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stall)
    })
  })

/** A response that is there, and that the process reads after the timers of the same turn of the event loop. */
const arrived = Effect.callback<string>((resume) => {
  setImmediate(() => resume(Effect.succeed("a response")))
})

describe("a deadline", () => {
  it.live("time during which the process was suspended does not count: responses that arrived meanwhile are read", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* ended(arrived, 4 * deadline), Exit.succeed("a response"))
    }))

  it.live("an effect that never ends is late, even after a suspension", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* ended(Effect.never, 0), "late")
      assert.strictEqual(yield* ended(Effect.never, 4 * deadline), "late")
    }))
})
