import { assert, describe, it } from "@effect/vitest"
import * as CampaignCounts from "../../src/campaigns/CampaignCounts.ts"
import type * as CampaignTally from "../../src/campaigns/CampaignTally.ts"
import * as Comparison from "../../src/campaigns/Comparison.ts"

/** The examples of the article that describes the interval (Newcombe 1998, table II, method 10). */
const published: ReadonlyArray<{
  readonly a: readonly [number, number]
  readonly b: readonly [number, number]
  readonly interval: readonly [low: number, high: number]
}> = [
  { b: [56, 70], a: [48, 80], interval: [0.0524, 0.3339] },
  { b: [9, 10], a: [3, 10], interval: [0.1705, 0.809] },
  { b: [6, 7], a: [2, 7], interval: [0.0582, 0.8062] },
  { b: [5, 56], a: [0, 29], interval: [-0.0381, 0.1926] },
  { b: [0, 10], a: [0, 20], interval: [-0.1611, 0.2775] },
  { b: [0, 10], a: [0, 10], interval: [-0.2775, 0.2775] },
  { b: [10, 10], a: [0, 20], interval: [0.6791, 1] },
  { b: [10, 10], a: [0, 10], interval: [0.6075, 1] }
]

const share = ([count, of]: readonly [number, number]): Comparison.Share => ({ count, of })

const rounded = (value: number): number => Number(value.toFixed(4))

describe("the comparison of two variants", () => {
  it("the interval of a difference is the published one", () => {
    for (const { a, b, interval } of published) {
      const { difference, high, isDistinguishable, low } = Comparison.difference(share(a), share(b))
      assert.deepStrictEqual([rounded(low), rounded(high)], interval, `${b} and ${a}`)
      assert.approximately(difference, b[0] / b[1] - a[0] / a[1], 1e-12)
      assert.strictEqual(isDistinguishable, interval[0] > 0)
    }
  })

  it("variants that change places have the opposite difference and are as distinguishable", () => {
    for (const { a, b } of published) {
      const [one, other] = [
        Comparison.difference(share(a), share(b)),
        Comparison.difference(share(b), share(a))
      ]
      assert.approximately(one.low, -other.high, 1e-12)
      assert.approximately(one.high, -other.low, 1e-12)
      assert.strictEqual(one.isDistinguishable, other.isDistinguishable)
    }
  })

  it("shares are those of the messages that were tried, and a read message was delivered", () => {
    const tally = (
      variant: "a" | "b",
      outcome: CampaignCounts.Outcome,
      recipients: number
    ): CampaignTally.Tally => ({ outcome, reason: null, variant, recipients })
    const { counts, delivered, read } = Comparison.of([
      tally("a", "queued", 50),
      tally("a", "skipped", 7),
      tally("a", "sent", 1),
      tally("a", "delivered", 4),
      tally("a", "read", 3),
      tally("a", "failed", 1),
      tally("a", "unknown", 1),
      tally("b", "held", 4),
      tally("b", "read", 4)
    ])
    assert.deepStrictEqual(counts.b, { ...CampaignCounts.none, held: 4, read: 4 })
    assert.strictEqual(CampaignCounts.total(counts.a), 67)
    assert.deepInclude(delivered, { a: 0.7, b: 0.5 })
    assert.deepInclude(read, { a: 0.3, b: 0.5 })
  })

  it("there is no difference until both variants were tried", () => {
    const { delivered, read } = Comparison.of([
      { outcome: "read", reason: null, variant: "a", recipients: 4 },
      { outcome: "queued", reason: null, variant: "b", recipients: 4 }
    ])
    assert.deepStrictEqual([delivered, read], [null, null])
  })
})
