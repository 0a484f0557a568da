import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as SenderBlock from "../../src/numbers/SenderBlock.ts"
import { day, hour, minute } from "../checks.ts"
import { start } from "../samples.ts"

const detail = { code: "131042", message: "Business eligibility payment issue" }
const reasons = SenderBlock.SenderBlockReason.literals

describe("a block", () => {
  it("a block is in force until its end, or indefinitely", () => {
    const until = start + hour
    assert.isTrue(SenderBlock.inForce({ until }, start))
    assert.isTrue(SenderBlock.inForce({ until }, until - 1))
    assert.isFalse(SenderBlock.inForce({ until }, until))
    assert.isTrue(SenderBlock.inForce({ until: null }, Number.MAX_SAFE_INTEGER))
  })

  it("a block stops only messages of its scope", () => {
    const [all, outside] = (["all", "outside_window"] as const).map((scope) => ({ scope, until: start + hour }))
    for (const isOpen of [true, false]) {
      assert.isTrue(SenderBlock.stops(all!, isOpen, start))
      assert.strictEqual(SenderBlock.stops(outside!, isOpen, start), !isOpen)
      assert.isFalse(SenderBlock.stops(outside!, isOpen, start + hour))
    }
  })

  it.each(reasons)("a block for %s without an end is tried again after a while", (reason) => {
    const block = SenderBlock.of(reason, start, detail)
    assert.deepStrictEqual(block, {
      reason,
      scope: "all",
      basis: "report",
      since: start,
      until: start + Duration.toMillis(SenderBlock.trialAfter[reason]),
      provider: detail
    })
    assert.isAtLeast(block.until! - start, minute)
    assert.isAtMost(block.until! - start, hour)
  })

  it("a block for the same reason continues, and one for another reason begins", () => {
    const before = SenderBlock.of("payment", start, detail, "send")
    const next = SenderBlock.of("payment", start + hour, null, "send")
    assert.deepStrictEqual(SenderBlock.renewed(before, next), { ...next, since: start })
    assert.deepStrictEqual(SenderBlock.renewed(next, before), { ...next, since: start })
    assert.deepStrictEqual(SenderBlock.renewed(null, next), next)
    const other = SenderBlock.of("quality", start + hour, null)
    assert.deepStrictEqual(SenderBlock.renewed(before, other), other)
  })

  it("the error of a send leaves a block that ends later as it is, and every other report is followed", () => {
    for (const until of [start + 7 * day, null]) {
      const restricted = {
        ...SenderBlock.of("restricted", start, detail),
        scope: "outside_window",
        until,
        basis: "term"
      } as const
      const met = SenderBlock.of("restricted", start + minute, null, "send")
      assert.deepStrictEqual(SenderBlock.renewed(restricted, met), restricted)
      assert.deepStrictEqual(SenderBlock.renewed(met, restricted), restricted)
      const shortened = { ...restricted, since: start + hour, until: start + 3 * hour }
      assert.deepStrictEqual(SenderBlock.renewed(restricted, shortened), { ...shortened, since: start })
      const ban = SenderBlock.of("restricted", start + hour, detail)
      assert.deepStrictEqual(SenderBlock.renewed(restricted, ban), { ...ban, since: start })
      const other = SenderBlock.of("quality", start + minute, null, "send")
      assert.deepStrictEqual(SenderBlock.renewed(restricted, other), other)
    }
    const ended = { ...SenderBlock.of("restricted", start, detail), scope: "outside_window", basis: "term" } as const
    const again = SenderBlock.of("restricted", start + day, null, "send")
    assert.deepStrictEqual(SenderBlock.renewed(ended, again), { ...again, since: start })
  })

  it("an older report is better only if the block rests on the error of a send and the reported one ends later", () => {
    const older = {
      ...SenderBlock.of("restricted", start - minute, detail),
      until: start + 7 * day,
      basis: "term"
    } as const
    const met = SenderBlock.of("restricted", start, null, "send")
    assert.isTrue(SenderBlock.isBetter(older, met))
    assert.isFalse(SenderBlock.isBetter(older, SenderBlock.of("restricted", start, null)))
    assert.isFalse(SenderBlock.isBetter({ ...older, until: start + minute }, met))
    assert.isFalse(SenderBlock.isBetter(SenderBlock.of("restricted", start - minute, null), met))
    assert.isFalse(SenderBlock.isBetter({ ...older, reason: "payment" }, met))
  })
})

describe("the error for a send from a blocked number", () => {
  it.each(reasons)("the error describes %s, with the provider's words", (reason) => {
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

  it("the error omits the field and the provider's words if there are none", () => {
    const error = SenderBlock.refusal(SenderBlock.of("quality", start, null))
    assert.notProperty(error, "param")
    assert.notProperty(error, "provider")
  })

  it("every reason has its own description", () => {
    assert.strictEqual(
      new Set(reasons.map((reason) => SenderBlock.describe({ reason, scope: "all" }))).size,
      reasons.length
    )
  })
})
