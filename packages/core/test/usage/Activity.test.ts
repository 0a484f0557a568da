import { assert, describe, it } from "@effect/vitest"
import { before, byStep, counted, type Occurrence, rangeOf, stepOf, totals } from "../../src/usage/Activity.ts"
import { day, hour, minute } from "../checks.ts"
import { id } from "../samples.ts"

/** Midnight (UTC). */
const midnight = 20_000 * day

const happened = (at: number, activity: Occurrence["activity"] = "sendsAccepted"): Occurrence => ({
  workspaceId: id("ws"),
  at,
  activity
})

describe("usage", () => {
  it("activity is counted by workspace, hour and activity", () => {
    const other = { ...happened(midnight), workspaceId: id("ws", 2) }
    const counts = counted([
      happened(midnight),
      happened(midnight + hour - 1),
      happened(midnight + hour),
      happened(midnight, "sendsFailed"),
      other
    ])
    assert.deepStrictEqual(
      counts.map(({ activity, count, hour, workspaceId }) => [workspaceId, hour, activity, count]),
      [
        [id("ws"), midnight, "sendsAccepted", 2],
        [id("ws"), midnight + hour, "sendsAccepted", 1],
        [id("ws"), midnight, "sendsFailed", 1],
        [id("ws", 2), midnight, "sendsAccepted", 1]
      ]
    )
  })

  it("the step of a range is as short as leaves few of them, and a day for the longest", () => {
    const lengths = [hour, day, 2 * day, 3 * day, 7 * day, 12 * day, 13 * day, 90 * day]
    assert.deepStrictEqual(lengths.map((length) => stepOf(length) / hour), [1, 1, 1, 3, 6, 6, 24, 24])
  })

  it("a period ends with the current step, and has no gaps", () => {
    const now = midnight + 12 * hour + 5 * minute
    const range = rangeOf(now, { period: "day" })
    assert.deepStrictEqual(range, { since: midnight - 11 * hour, until: now + 1, step: hour })
    const steps = byStep(counted([happened(now), happened(now - 2 * hour)]), range)
    assert.strictEqual(steps.length, 24)
    assert.deepStrictEqual(steps.map(({ counts }) => totals(counts).sendsAccepted).slice(-4), [0, 1, 0, 1])
    assert.strictEqual(steps.at(-1)!.at, midnight + 12 * hour)
    for (const [period, count] of [["day", 24], ["week", 28], ["month", 30], ["quarter", 90]] as const) {
      assert.strictEqual(byStep([], rangeOf(now, { period })).length, count)
      assert.strictEqual(byStep([], rangeOf(now, { period, until: midnight })).length, count)
    }
  })

  it("steps of days begin at midnight (UTC)", () => {
    const now = midnight + 12 * hour
    const range = rangeOf(now, { period: "quarter" })
    const steps = byStep(counted([happened(now), happened(midnight), happened(midnight - 1)]), range)
    assert.deepStrictEqual(steps.map(({ at, counts }) => [at, totals(counts).sendsAccepted]).slice(-2), [
      [midnight - day, 1],
      [midnight, 2]
    ])
  })

  it("the steps of a range begin with the one of its first time and end with the one before its end", () => {
    const now = midnight + 12 * hour
    const range = rangeOf(now, { since: midnight - 3 * hour + 1, until: midnight })
    assert.deepStrictEqual(byStep([], range).map(({ at }) => at), [3, 2, 1].map((hours) => midnight - hours * hour))
    assert.deepStrictEqual(
      byStep(counted([happened(midnight - 4 * hour), happened(midnight)]), range)
        .flatMap(({ counts }) => counts),
      []
    )
  })

  it("a range counts no hour before its first time, though its first step begins earlier", () => {
    const now = Date.parse("2025-12-01T12:00:00Z")
    const [since, until] = ["2025-10-31T23:00:00Z", "2025-11-30T23:00:00Z"].map(Date.parse) as [number, number]
    const range = rangeOf(now, { since, until })
    assert.deepStrictEqual(range, { since, until, step: day })
    const all = counted(
      ["2025-10-31T12:00:00Z", "2025-11-01T12:00:00Z"].map((at) => happened(Date.parse(at)))
    )
    // as a storage reads them
    const read = all.filter(({ hour }) => hour >= range.since && hour < range.until)
    assert.strictEqual(totals(read).sendsAccepted, 1)
    const steps = byStep(read, range)
    assert.deepStrictEqual(
      steps.slice(0, 3).map(({ at, counts }) => [new Date(at).toISOString(), totals(counts).sendsAccepted]),
      [["2025-10-31T00:00:00.000Z", 0], ["2025-11-01T00:00:00.000Z", 1], ["2025-11-02T00:00:00.000Z", 0]]
    )
    assert.strictEqual(steps.length, 31)
    // the time before is as long, and ends where the range begins
    assert.deepStrictEqual(before(now, range), { since: since - 30 * day, until: since })
    // a time within an hour is that hour's, because counts are by the hour
    assert.strictEqual(rangeOf(now, { since: since + 30 * minute, until }).since, since)
  })

  it("a range has no time that is yet to come, and none of which nothing is kept", () => {
    const { since, step, until } = rangeOf(midnight, { since: 0, until: midnight + day })
    assert.deepStrictEqual([since, until, step], [midnight - 91 * day, midnight + 1, day])
    assert.deepStrictEqual(byStep([], rangeOf(midnight, { since: midnight + day })), [])
    assert.deepStrictEqual(byStep([], rangeOf(midnight, { since: midnight, until: midnight - day })), [])
  })

  it("the range before is as long and ends where the range begins, unless it is not kept any more", () => {
    const now = midnight + 30 * minute
    const earlier = before(now, rangeOf(now, { period: "day" }))
    assert.deepStrictEqual(earlier, { since: midnight - 47 * hour, until: now + 1 - day })
    assert.isDefined(before(now, rangeOf(now, { period: "month" })))
    assert.isUndefined(before(now, rangeOf(now, { period: "quarter" })))
    assert.isUndefined(before(now, rangeOf(now, { since: now + day })))
  })
})
