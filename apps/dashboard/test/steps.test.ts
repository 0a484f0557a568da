/**
 * The steps of a chart, from those of a report.
 */
import { assert, it } from "vitest"
import { stepsOf } from "../src/usage/Steps.ts"

it("the first step of a chart begins with its report, because it counts nothing from before", () => {
  const steps = [{ at: "2026-11-01T00:00:00.000Z", n: 1 }, { at: "2026-11-02T00:00:00.000Z", n: 2 }]
  const report = { since: "2026-11-01T03:00:00.000Z", stepSeconds: 86_400, steps }
  const times = stepsOf(report, ({ n }) => ({ n })).map(({ from, until, values }) => [
    new Date(from).toISOString(),
    new Date(until).toISOString(),
    values["n"]
  ])
  assert.deepStrictEqual(times, [
    [report.since, steps[1]!.at, 1],
    [steps[1]!.at, "2026-11-03T00:00:00.000Z", 2]
  ])
})
