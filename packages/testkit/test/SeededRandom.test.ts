import { assert, it } from "@effect/vitest"
import { SeededRandom } from "@wac/testkit"

it("the same seed gives the same values, within their bounds", () => {
  const draw = (seed: number) => {
    const random = SeededRandom.make(seed)
    return Array.from({ length: 1000 }, () => random.below(6))
  }
  assert.deepStrictEqual(draw(7), draw(7))
  assert.notDeepEqual(draw(7), draw(8))
  assert.sameMembers([...new Set(draw(7))], [0, 1, 2, 3, 4, 5])
  const shuffled = SeededRandom.make(7).shuffle([1, 2, 3, 4, 5])
  assert.sameMembers([...shuffled], [1, 2, 3, 4, 5])
  assert.deepStrictEqual(shuffled, SeededRandom.make(7).shuffle([1, 2, 3, 4, 5]))
})
