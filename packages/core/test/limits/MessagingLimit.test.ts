import { assert, describe, it } from "@effect/vitest"
import { allows, counts } from "../../src/limits/MessagingLimit.ts"
import { day } from "../checks.ts"
import { start } from "../samples.ts"

describe("whether a customer counts", () => {
  it.each([
    [start, true],
    [start - 1, true],
    [start - day + 1, true],
    [start - day, false],
    [start - day - 1, false],
    // another process's clock may be fast
    [start + 1, true]
  ])("a message at %d counts: %s", (at, counted) => {
    assert.strictEqual(counts(at, start), counted)
  })
})

it.each<[number | null, number, boolean, boolean]>([
  [null, 1e9, false, true],
  [250, 0, false, true],
  [250, 249, false, true],
  [250, 250, false, false],
  [250, 250, true, true],
  [250, 1000, true, true],
  [0, 0, false, false],
  [0, 0, true, true]
])("a limit of %s with %d counted, this one among them %s: %s", (limit, counted, among, allowed) => {
  assert.strictEqual(allows(limit, counted, among), allowed)
})
