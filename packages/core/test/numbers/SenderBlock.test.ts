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

  it("the error of a send leaves a report without an end what the block rests on, and takes the place of an ended end", () => {
    const ban = SenderBlock.of("restricted", start, detail)
    const again = SenderBlock.of("restricted", start + 2 * hour, null, "send")
    assert.deepStrictEqual(SenderBlock.renewed(ban, again), { ...ban, until: again.until })
    assert.deepStrictEqual(SenderBlock.renewed({ ...ban, basis: "term" }, again), { ...again, since: start })
    // it was on its way before the ban, and met the restriction
    const late = { ...SenderBlock.of("restricted", start + minute, null, "send"), scope: "outside_window" } as const
    assert.deepStrictEqual(SenderBlock.renewed(ban, late), { ...ban, until: late.until })
    const other = SenderBlock.of("payment", start + 2 * hour, null, "send")
    assert.deepStrictEqual(SenderBlock.renewed(ban, other), other)
  })

  it("the error of a send leaves replies allowed that a restriction without an end allows, whichever was reported first", () => {
    const restricted = { ...SenderBlock.of("restricted", start, detail), scope: "outside_window" } as const
    const met = SenderBlock.of("restricted", start + minute, null, "send")
    const kept = { ...restricted, until: met.until }
    assert.deepStrictEqual(SenderBlock.renewed(restricted, met), kept)
    assert.deepStrictEqual(SenderBlock.afterOlder(met, restricted), kept)
    // nothing shows which messages the cause stops once an end has passed, or if only sends have met it
    for (const basis of ["term", "send"] as const) {
      assert.deepStrictEqual(SenderBlock.renewed({ ...restricted, basis }, met), { ...met, since: start })
    }
  })

  it("the error of a send may have met a block only if the block has the same reason and ends later", () => {
    const met = SenderBlock.of("restricted", start, null, "send")
    const held = { ...met, basis: "term", until: met.until! + 1 } as const
    assert.isTrue(SenderBlock.hasMet(held, met))
    assert.isTrue(SenderBlock.hasMet({ ...held, until: null }, met))
    assert.isFalse(SenderBlock.hasMet({ ...held, until: met.until }, met))
    assert.isFalse(SenderBlock.hasMet({ ...held, reason: "payment" }, met))
    assert.isFalse(SenderBlock.hasMet(held, { ...met, basis: "report" }))
    assert.isFalse(SenderBlock.hasMet(null, met))
  })

  it("an older report without an end becomes what a block rests on if a send met it until sends were tried again", () => {
    const ban = SenderBlock.of("restricted", start, detail)
    const met = (since: number) => ({ ...SenderBlock.of("restricted", start + 5 * hour, null, "send"), since })
    assert.deepStrictEqual(SenderBlock.afterOlder(met(start + minute), ban), { ...ban, until: start + 6 * hour })
    assert.isUndefined(SenderBlock.afterOlder(met(start + hour), ban))
    assert.isUndefined(SenderBlock.afterOlder(met(start), { ...ban, basis: "send" }))
    assert.isUndefined(SenderBlock.afterOlder({ ...met(start), basis: "report" }, ban))
  })

  it("the error of a send that arrives after its block has ended says nothing, unless sends wait for the same cause", () => {
    const met = SenderBlock.of("payment", start, null, "send")
    const isOver = (before: SenderBlock.SenderBlock | null, next = met, now = start + hour) =>
      SenderBlock.isOver(before, next, now)
    assert.isTrue(isOver(null))
    assert.isTrue(isOver(SenderBlock.of("quality", start, null)))
    assert.isTrue(isOver({ ...met, basis: "term" }))
    assert.isFalse(isOver({ ...met, since: start - hour, until: start - hour }))
    assert.isFalse(isOver(null, met, met.until! - 1))
    assert.isFalse(isOver(null, { ...met, basis: "report" }))
  })

  it("an older report replaces a block only if the block rests on the error of a send and the reported one ends later", () => {
    const older = {
      ...SenderBlock.of("restricted", start - minute, detail),
      until: start + 7 * day,
      basis: "term"
    } as const
    const met = SenderBlock.of("restricted", start, null, "send")
    assert.deepStrictEqual(SenderBlock.afterOlder(met, older), older)
    assert.isUndefined(SenderBlock.afterOlder(SenderBlock.of("restricted", start, null), older))
    assert.isUndefined(SenderBlock.afterOlder(met, { ...older, until: start + minute }))
    assert.isUndefined(SenderBlock.afterOlder(met, { ...older, reason: "payment" }))
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
