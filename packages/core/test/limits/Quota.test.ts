import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { allows, monthOf } from "../../src/limits/Quota.ts"
import { between, checks } from "../checks.ts"

const at = (text: string) => DateTime.toEpochMillis(DateTime.makeUnsafe(text))

describe("the month of an instant", () => {
  it.each([
    ["2026-01-01T00:00:00.000Z", "2026-01"],
    ["2026-01-31T23:59:59.999Z", "2026-01"],
    ["2026-02-01T00:00:00.000Z", "2026-02"],
    ["2026-02-28T23:59:59.999Z", "2026-02"],
    ["2026-03-01T00:00:00.000Z", "2026-03"],
    ["2028-02-29T23:59:59.999Z", "2028-02"],
    ["2026-12-31T23:59:59.999Z", "2026-12"],
    ["2027-01-01T00:00:00.000Z", "2027-01"],
    // 1 February on the wall clock in Tokyo, still January in UTC
    ["2026-02-01T08:59:59.999+09:00", "2026-01"],
    ["2026-02-01T09:00:00.000+09:00", "2026-02"],
    // 31 January on the wall clock in New York, already February in UTC
    ["2026-01-31T19:00:00.000-05:00", "2026-02"]
  ])("the month of %s is %s", (text, month) => {
    assert.strictEqual(monthOf(at(text)), month)
  })

  it("the epoch's own month has its limits", () => {
    assert.deepStrictEqual([monthOf(-1), monthOf(0)], ["1969-12", "1970-01"])
  })

  it.prop(
    "months never run backwards",
    { at: between(0, 4_000_000_000_000), later: between(0, 100_000_000_000) },
    (_) => {
      assert.isTrue(monthOf(_.at) <= monthOf(_.at + _.later))
    },
    checks
  )
})

it.each<[number | null, number, boolean]>([
  [null, 0, true],
  [null, 1e9, true],
  [0, 0, false],
  [1, 0, true],
  [1, 1, false],
  [1000, 999, true],
  [1000, 1000, false],
  [1000, 1001, false]
])("a quota of %s with %d used: %s", (quota, used, allowed) => {
  assert.strictEqual(allows(quota, used), allowed)
})
