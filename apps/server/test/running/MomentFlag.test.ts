import { assert, it } from "vitest"
import * as MomentFlag from "../../src/MomentFlag.ts"

it.each([
  ["2026-01-31", "2026-01-31T00:00:00Z"],
  ["2026-01-31T12:00", "2026-01-31T12:00:00Z"],
  ["2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00Z"]
])("the time %s of a flag is in UTC unless it has an offset", (text, expected) => {
  assert.strictEqual(MomentFlag.read(text), Date.parse(expected))
})

it.each(["2026-02-30", "2026-02-31T00:00:00Z", "2026-13-01", "yesterday", "2026", "31 Jan 2026"])(
  "%s is no time of a flag",
  (text) => {
    assert.isUndefined(MomentFlag.read(text))
  }
)
