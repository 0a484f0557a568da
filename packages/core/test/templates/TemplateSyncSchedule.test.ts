import { assert, describe, it } from "@effect/vitest"
import { ended, initial, requested, started } from "../../src/templates/TemplateSyncSchedule.ts"
import { hour, minute, second } from "../checks.ts"
import { start } from "../samples.ts"

describe("the schedule of a workspace", () => {
  it("a listing is due an hour after a success, and after any number of failures at most that late", () => {
    let schedule = started(initial(start), start)
    assert.deepStrictEqual(schedule, { dueAt: Infinity, startedAt: start, failures: 0 })
    for (let i = 0; i < 2000; i++) schedule = started(ended(schedule, start, false), start)
    assert.deepStrictEqual(ended(schedule, start, false), { dueAt: start + hour, startedAt: start, failures: 2001 })
    assert.deepStrictEqual(ended(schedule, start, true), { dueAt: start + hour, startedAt: start, failures: 0 })
  })

  it("a change reported during a listing sets the next one", () => {
    const schedule = requested(started(initial(start), start), start + second)
    assert.strictEqual(schedule.dueAt, start + minute)
    assert.strictEqual(ended(schedule, start + 2 * second, true).dueAt, start + minute)
  })

  it("after a change a listing is due immediately, or a minute after the last one began, but never later than planned", () => {
    const after = (startedAt: number | null, dueAt: number, now: number) =>
      requested({ dueAt, startedAt, failures: 0 }, now).dueAt
    assert.strictEqual(after(null, start + hour, start), start)
    assert.strictEqual(after(start - 2 * minute, start + hour, start), start)
    assert.strictEqual(after(start - second, start + hour, start), start + minute - second)
    assert.strictEqual(after(start - second, start + second, start), start + second)
  })
})
