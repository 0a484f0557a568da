import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { byStep, counted, groupOf, type Occurrence, percentiles, rangeOf, spans } from "../../src/usage/Timing.ts"
import { day, hour, minute } from "../checks.ts"
import { id } from "../samples.ts"

/** Midnight (UTC). */
const midnight = 20_000 * day

const happened = (at: number, durationMs?: number): Occurrence => ({
  workspaceId: id("ws"),
  at,
  activity: "attemptsDelivered",
  timed: durationMs === undefined ? undefined : { kind: "delivered", durationMs }
})

const durations = (...all: ReadonlyArray<number>) =>
  all.map((durationMs) => ({ durationGroup: groupOf(durationMs), count: 1 }))

describe("counted", () => {
  it("durations are counted by five minutes and by the hour, in groups, and not where there is none", () => {
    const counts = counted([
      happened(midnight, 100),
      happened(midnight + 1, 101),
      happened(midnight + 10 * minute, 100),
      happened(midnight, 1000),
      happened(midnight),
      { ...happened(midnight, 100), workspaceId: id("ws", 2) }
    ])
    assert.sameDeepMembers(
      counts.map(({ at, count, durationGroup, kind, span, workspaceId }) => [
        workspaceId,
        span / minute,
        (at - midnight) / minute,
        kind,
        durationGroup,
        count
      ]),
      [
        [id("ws"), 5, 0, "delivered", groupOf(100), 2],
        [id("ws"), 60, 0, "delivered", groupOf(100), 3],
        [id("ws"), 5, 10, "delivered", groupOf(100), 1],
        [id("ws"), 5, 0, "delivered", groupOf(1000), 1],
        [id("ws"), 60, 0, "delivered", groupOf(1000), 1],
        [id("ws", 2), 5, 0, "delivered", groupOf(100), 1],
        [id("ws", 2), 60, 0, "delivered", groupOf(100), 1]
      ]
    )
  })

  it("a month has about a hundred groups, which a small integer numbers", () => {
    assert.deepStrictEqual([0, 1, 2, 3].map(groupOf), [0, 0, 1, 2])
    assert.isBelow(groupOf(30 * day), 110)
    assert.strictEqual(groupOf(Number.MAX_SAFE_INTEGER), groupOf(32 * day))
  })
})

describe("percentiles", () => {
  it("percentiles of nothing are unknown", () => {
    assert.deepStrictEqual(percentiles([]), { p50Ms: null, p95Ms: null })
  })

  it("half and 19 of 20 occurrences are at or below the percentiles, in whatever order they are counted", () => {
    const all = durations(...Array.from({ length: 20 }, (_, i) => i < 10 ? 1 : i < 19 ? 2 : 4000))
    assert.deepStrictEqual(percentiles(all), { p50Ms: 1, p95Ms: 2 })
    assert.deepStrictEqual(percentiles(all.toReversed()), { p50Ms: 1, p95Ms: 2 })
    assert.deepStrictEqual(percentiles(durations(2)), { p50Ms: 2, p95Ms: 2 })
  })

  it("a percentile is no larger than a limit that nothing exceeds by more than chance", () => {
    assert.deepStrictEqual(percentiles(durations(4999, 5001), 5000), { p50Ms: 5000, p95Ms: 5000 })
  })

  it.prop(
    "a percentile is at least the exact one, and at most a quarter and a millisecond above it",
    {
      all: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 * day }))).check(
        Schema.isMinLength(1)
      )
    },
    ({ all }) => {
      const exact = all.toSorted((a, b) => a - b)[Math.ceil(all.length / 2) - 1]!
      const { p50Ms } = percentiles(durations(...all))
      assert.isAtLeast(p50Ms!, exact)
      assert.isAtMost(p50Ms!, exact * 1.26 + 1)
    }
  )
})

describe("begin", () => {
  const now = midnight + 12 * hour + 7 * minute

  it("the last hour has twelve steps of five minutes, of which the last is the present one", () => {
    const range = rangeOf(now, { period: "hour" })
    assert.deepStrictEqual(range, {
      since: midnight + 11 * hour + 10 * minute,
      until: now + 1,
      step: spans.short,
      span: spans.short
    })
    const steps = byStep(counted([happened(now, 1)]).filter(({ span }) => span === range.span), range)
    assert.strictEqual(steps.length, 12)
    assert.deepStrictEqual(steps.map(({ counts }) => counts.length), [...Array(11).fill(0), 1])
  })

  it("up to four hours of the last two days have short steps, and other ranges those of activity", () => {
    const stepOf = (ago: number, length: number) => {
      const { span, step } = rangeOf(now, { since: now - ago, until: now - ago + length })
      return [step / minute, span / minute]
    }
    assert.deepStrictEqual(stepOf(4 * hour, 4 * hour), [5, 5])
    assert.deepStrictEqual(stepOf(5 * hour, 5 * hour), [60, 60])
    assert.deepStrictEqual(stepOf(2 * day, hour), [5, 5])
    assert.deepStrictEqual(stepOf(3 * day, hour), [60, 60])
    assert.deepStrictEqual(stepOf(6 * day, 6 * day), [180, 60])
    assert.deepStrictEqual([rangeOf(now, {}).step / hour, byStep([], rangeOf(now, {})).length], [1, 24])
    assert.strictEqual(rangeOf(now, { period: "hour", until: now - 5 * day }).step, hour)
  })

  it("a range that has not begun has no steps", () => {
    assert.deepStrictEqual(byStep([], rangeOf(now, { since: now + hour })), [])
    assert.deepStrictEqual(byStep([], rangeOf(now, { since: now - hour, until: now - 2 * hour })), [])
  })
})
