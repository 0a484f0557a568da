import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as SenderBlock from "../../src/numbers/SenderBlock.ts"
import { hour, minute } from "../checks.ts"
import { start } from "../samples.ts"

const detail = { code: "131042", message: "Business eligibility payment issue" }
const reasons = SenderBlock.SenderBlockReason.literals

describe("a block", () => {
  it("is in force until its end, or for good", () => {
    const until = start + hour
    assert.isTrue(SenderBlock.inForce({ until }, start))
    assert.isTrue(SenderBlock.inForce({ until }, until - 1))
    assert.isFalse(SenderBlock.inForce({ until }, until))
    assert.isTrue(SenderBlock.inForce({ until: null }, Number.MAX_SAFE_INTEGER))
  })

  it("stops messages of its scope only", () => {
    const [all, outside] = (["all", "outside_window"] as const).map((scope) => ({ scope, until: start + hour }))
    for (const isOpen of [true, false]) {
      assert.isTrue(SenderBlock.stops(all!, isOpen, start))
      assert.strictEqual(SenderBlock.stops(outside!, isOpen, start), !isOpen)
      assert.isFalse(SenderBlock.stops(outside!, isOpen, start + hour))
    }
  })

  it.each(reasons)("for %s that upstream has not dated is tried again after a while", (reason) => {
    const block = SenderBlock.of(reason, start, detail)
    assert.deepStrictEqual(block, {
      reason,
      scope: "all",
      since: start,
      until: start + Duration.toMillis(SenderBlock.trialAfter[reason]),
      provider: detail
    })
    assert.isAtLeast(block.until! - start, minute)
    assert.isAtMost(block.until! - start, hour)
  })

  it("of the same reason goes on, of another begins", () => {
    const before = SenderBlock.of("payment", start, detail)
    const next = SenderBlock.of("payment", start + hour, null)
    assert.deepStrictEqual(SenderBlock.renewed(before, next), { ...next, since: start })
    assert.deepStrictEqual(SenderBlock.renewed(next, before), before)
    assert.deepStrictEqual(SenderBlock.renewed(null, next), next)
    const other = SenderBlock.of("quality", start + hour, null)
    assert.deepStrictEqual(SenderBlock.renewed(before, other), other)
  })
})

describe("the error for a send from a blocked number", () => {
  it.each(reasons)("says in words that it is %s, and what upstream said", (reason) => {
    const error = SenderBlock.refusal(SenderBlock.of(reason, start, detail), "from")
    assert.deepStrictEqual(
      [error.code, error.reason, error.param],
      reason === "credentials"
        ? ["server_error", "provider_error", undefined]
        : ["forbidden", "sender_not_available", "from"]
    )
    assert.strictEqual(error.message, SenderBlock.describe({ reason, scope: "all" }))
    assert.deepStrictEqual(error.provider, detail)
  })

  it("names no field and no words of upstream where there are none", () => {
    const error = SenderBlock.refusal(SenderBlock.of("quality", start, null))
    assert.notProperty(error, "param")
    assert.notProperty(error, "provider")
  })

  it("says something else for every reason", () => {
    assert.strictEqual(
      new Set(reasons.map((reason) => SenderBlock.describe({ reason, scope: "all" }))).size,
      reasons.length
    )
  })
})
