import { assert, describe, it } from "@effect/vitest"
import { counted, type Happened, series } from "../../src/usage/Activity.ts"
import { day, hour, minute } from "../checks.ts"
import { id } from "../samples.ts"

/** Midnight (UTC). */
const midnight = 20_000 * day

const happened = (at: number, activity: Happened["activity"] = "sendsAccepted"): Happened => ({
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

  it("up to a week is reported by hours, without gaps, including the current one", () => {
    const now = midnight + 12 * hour + 5 * minute
    const { since, step, steps } = series(counted([happened(now), happened(now - 2 * hour)]), now, "day")
    assert.deepStrictEqual([since, step, steps.length], [midnight - 11 * hour, hour, 24])
    assert.deepStrictEqual(steps.map(({ sendsAccepted }) => sendsAccepted).slice(-4), [0, 1, 0, 1])
    assert.strictEqual(steps.at(-1)!.at, midnight + 12 * hour)
    assert.strictEqual(series([], now, "week").steps.length, 7 * 24)
  })

  it("more than a week is reported by days", () => {
    const now = midnight + 12 * hour
    const { steps } = series(counted([happened(now), happened(midnight), happened(midnight - 1)]), now, "quarter")
    assert.strictEqual(steps.length, 90)
    assert.deepStrictEqual(steps.map(({ at, sendsAccepted }) => [at, sendsAccepted]).slice(-2), [
      [midnight - day, 1],
      [midnight, 2]
    ])
  })

  it("earlier activity is left out", () => {
    const { steps } = series(counted([happened(midnight - 9 * day)]), midnight, "week")
    assert.deepStrictEqual(steps.filter(({ sendsAccepted }) => sendsAccepted > 0), [])
  })
})
