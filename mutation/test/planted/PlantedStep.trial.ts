import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as PlantedStep from "./PlantedStep.ts"

/** How often its tests have run. */
class Runs
  extends Context.Service<Runs, { count: number }>()("wac-repository/mutation/test/planted/PlantedStep.trial/Runs")
{}

describe("isTooMany", () => {
  it("the most is not too many", () => {
    assert.isFalse(PlantedStep.isTooMany(3, 3))
    assert.isTrue(PlantedStep.isTooMany(4, 3))
  })
})

layer(Layer.sync(Runs, () => ({ count: 0 })), { excludeTestServices: true })("bounded", (it) => {
  it.effect("a number below the bound stays", () =>
    Effect.gen(function*() {
      const runs = yield* Runs
      assert.strictEqual(PlantedStep.bounded(2, 3), 2)
      assert.strictEqual(++runs.count, 1)
    }))
})
