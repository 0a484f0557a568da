/**
 * Conformance of `PepperStore`: the first candidate becomes the pepper of all callers.
 */
import { assert } from "@effect/vitest"
import { PepperStore } from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"

const candidates = Array.from({ length: 20 }, (_, i) => Fixture.sealed(i + 1))

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("all racers get the same pepper, and so do later callers", () =>
    Effect.gen(function*() {
      const store = yield* PepperStore.PepperStore
      const adopted = yield* Effect.forEach(candidates, store.adopt, { concurrency: "unbounded" })
      for (const one of adopted) assert.deepStrictEqual(one, adopted[0]!)
      assert.deepStrictEqual(yield* store.adopt(Fixture.sealed(99)), adopted[0]!)
    }))
}

/** Registers the tests that need a storage without a pepper. */
export const testsOfEmpty = (it: Fixture.It): void => {
  it.effect("the first candidate is stored as given", () =>
    Effect.gen(function*() {
      const store = yield* PepperStore.PepperStore
      assert.deepStrictEqual(yield* store.adopt(candidates[0]!), candidates[0]!)
      assert.deepStrictEqual(yield* store.adopt(candidates[1]!), candidates[0]!)
    }))
}
