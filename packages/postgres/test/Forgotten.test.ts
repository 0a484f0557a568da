import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Forgotten from "../src/Forgotten.ts"

/** A walk whose steps end as the list says, which notes with which workspace each began. */
const walk = (name: string, steps: ReadonlyArray<Forgotten.Walked | "fails">, log: Array<string>) => {
  let n = 0
  return (_: null, from: string): Effect.Effect<Forgotten.Walked, "failed"> =>
    Effect.suspend(() => {
      log.push(`${name} from ${from}`)
      const step = steps[n++] ?? { removed: 0, reached: null }
      return step === "fails" ? Effect.fail("failed") : Effect.succeed(step)
    })
}

describe("walks in turn", () => {
  it.effect("a round carries out one walk after the other, and passes those without old rows in the same step", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const step = Forgotten.inTurn([
        walk("a", [{ removed: 2, reached: "ws 5" }, { removed: 1, reached: null }], log),
        walk("b", [], log),
        walk("c", [{ removed: 2, reached: "ws 7" }], log)
      ])(null)
      assert.deepStrictEqual(yield* step, { removed: 2, isMore: true })
      assert.deepStrictEqual(yield* step, { removed: 1, isMore: true })
      assert.deepStrictEqual(yield* step, { removed: 2, isMore: true })
      assert.deepStrictEqual(yield* step, { removed: 0, isMore: false })
      assert.deepStrictEqual(log.splice(0), ["a from ", "a from ws 5", "b from ", "c from ", "c from ws 7"])
      assert.deepStrictEqual(yield* step, { removed: 0, isMore: false })
      assert.deepStrictEqual(log, ["a from ", "b from ", "c from "])
    }))

  it.effect("a step that fails is repeated, and if it fails again, the next round begins with the first workspace", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const step = Forgotten.inTurn([
        walk("a", [], log),
        walk("b", [
          { removed: 2, reached: "ws 5" },
          "fails",
          { removed: 2, reached: "ws 7" },
          "fails",
          "fails",
          { removed: 0, reached: "ws 7" },
          "fails"
        ], log)
      ])(null)
      assert.deepStrictEqual(yield* step, { removed: 2, isMore: true })
      assert.strictEqual(yield* Effect.flip(step), "failed")
      assert.deepStrictEqual(log.splice(0), ["a from ", "b from ", "b from ws 5"])
      assert.deepStrictEqual(yield* step, { removed: 2, isMore: true })
      assert.strictEqual(yield* Effect.flip(step), "failed")
      assert.strictEqual(yield* Effect.flip(step), "failed")
      assert.deepStrictEqual(log.splice(0), ["b from ws 5", "b from ws 7", "b from ws 7"])
      assert.deepStrictEqual(yield* step, { removed: 0, isMore: true })
      assert.strictEqual(yield* Effect.flip(step), "failed")
      assert.deepStrictEqual(yield* step, { removed: 0, isMore: false })
      assert.deepStrictEqual(log, ["a from ", "b from ", "b from ws 7", "b from ws 7"])
    }))
})
