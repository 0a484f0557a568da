import { assert, describe, it } from "@effect/vitest"
import { aheadAfter } from "../src/StorageTime.ts"

describe("the estimate of how far a process's clock is ahead of the storage's", () => {
  it("is the smallest measurement soon after it, whatever slow answers come between", () => {
    const measured = [130, 40, 12, 30, 550, 45, 14, 60]
    const estimates: Array<number> = []
    measured.reduce((estimated, each) => {
      const next = aheadAfter(estimated, each)
      estimates.push(next)
      return next
    }, Infinity)
    assert.deepStrictEqual(estimates.slice(0, 3), [130, 40, 12])
    assert.isTrue(estimates.slice(2).every((each) => each >= 12 && each < 80), `${estimates}`)
  })

  it("follows a clock that was set a little, forward or back, within a few seconds of answers", () => {
    for (const step of [1000, -1000]) {
      const estimated = Array.from({ length: 30 }).reduce<number>((estimated) => aheadAfter(estimated, step), 0)
      assert.closeTo(estimated, step, 80)
    }
  })

  it("follows a clock that was set by more than an answer takes at once", () => {
    assert.strictEqual(aheadAfter(12, 60_000), 60_000)
    assert.strictEqual(aheadAfter(60_000, 12), 12)
  })
})
