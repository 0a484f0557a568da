import { assert, describe, it } from "@effect/vitest"
import { isOpen, openedAt, openUntil } from "../../src/contacts/ServiceWindow.ts"
import { between, checks, day } from "../checks.ts"
import { start } from "../samples.ts"

describe("a window", () => {
  it.each([
    [start - 1, false],
    [start, true],
    [start + 1, true],
    [start + day - 1, true],
    [start + day, false],
    [start + day + 1, false]
  ])("opened at 1767323045678, at %d: %s", (now, open) => {
    assert.strictEqual(isOpen(start, now), open)
    assert.strictEqual(openUntil(start, now), open ? start + day : null)
  })

  it("a window is never open if the customer never wrote", () => {
    for (const now of [0, start, start + day]) assert.isFalse(isOpen(null, now))
  })

  it("a window can be opened at the epoch itself", () => {
    assert.isTrue(isOpen(0, 0))
    assert.isTrue(isOpen(0, day - 1))
    assert.isFalse(isOpen(0, day))
  })

  it.prop(
    "a window is open for exactly 24 hours",
    { at: between(0, 4_000_000_000_000), after: between(-2 * day, 2 * day) },
    (_) => {
      assert.strictEqual(isOpen(_.at, _.at + _.after), _.after >= 0 && _.after < day)
    },
    checks
  )
})

describe("an inbound message's timestamp", () => {
  it.each([
    ["in the past", start - day, start - day],
    ["now", start, start],
    ["in the future", start + 1, start],
    ["far in the future", start + 365 * day, start]
  ])("%s", (_, timestamp, opened) => {
    assert.strictEqual(openedAt(timestamp, start), opened)
  })

  it.prop("an inbound message never keeps a window open for more than 24 hours from now", {
    timestamp: between(start - 2 * day, start + 2 * day)
  }, ({ timestamp }) => {
    const opened = openedAt(timestamp, start)
    assert.isAtMost(opened, start)
    assert.isFalse(isOpen(opened, start + day))
    assert.strictEqual(isOpen(opened, start), timestamp > start - day)
  }, checks)
})
