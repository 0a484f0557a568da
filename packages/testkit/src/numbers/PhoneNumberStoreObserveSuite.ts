/**
 * Conformance of `PhoneNumberStore`: provider reports about numbers, in whatever order they arrive.
 */
import { assert } from "@effect/vitest"
import { PhoneNumber, SenderBlock } from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as SeededRandom from "../SeededRandom.ts"
import * as PhoneNumberFixture from "./PhoneNumberFixture.ts"

const { hour, minute, world } = Fixture
const { detail, further, list, numberOf, observe, use } = PhoneNumberFixture

const reasons = SenderBlock.SenderBlockReason.literals

/** A provider report, and its time. */
interface Report {
  readonly at: number
  readonly change: PhoneNumber.NumberChange
}

/**
 * The expected block after reports that arrived in this order. The provider's times are whole seconds, so a block
 * counts from the end of its second. The error of a send gives way to a block that ends later, whichever was reported or
 * arrived first, and changes nothing if the block arrived first. The block rests on a report without an end if there is
 * one, of which the error of a send moves only the end.
 */
const expectedBlock = (reports: ReadonlyArray<Report>): PhoneNumber.PhoneNumber["block"] => {
  let held = null as PhoneNumber.PhoneNumber["block"]
  let heldAt = -Infinity
  for (const { at, change: { block, lifts } } of reports) {
    const endsLater = (one: SenderBlock.SenderBlock, other: SenderBlock.SenderBlock) =>
      (one.until ?? Infinity) > (other.until ?? Infinity)
    const isOlder = at + (block ? 999 : 0) < heldAt
    if (!block || held?.reason !== block.reason) {
      const isOfAnother = block === undefined && (lifts === undefined || held !== null && held.reason !== lifts)
      if (isOlder || isOfAnother) continue
      held = block ?? null
    } else {
      const next = isOlder
        ? held.basis !== "send"
          ? undefined
          : endsLater(block, held)
          ? block
          : block.basis === "report" && (block.until ?? Infinity) > held.since
          ? { ...block, until: held.until }
          : undefined
        : block.basis !== "send"
        ? block
        : endsLater(held, block)
        ? held
        : held.basis === "report"
        ? { ...held, until: block.until }
        : block
      if (next === undefined) continue
      const isKept = next === held
      // a repeated block for the reason in force keeps its start
      held = { ...next, since: Math.min(held.since, block.since) }
      if (isKept) continue
    }
    heldAt = Math.max(heldAt, at)
  }
  return held
}

/**
 * The expected state after reports that arrived in this order: each field has its newest value; of values with the same
 * time, the last to arrive.
 */
const expected = (number: PhoneNumber.PhoneNumber, reports: ReadonlyArray<Report>): PhoneNumber.PhoneNumber => {
  const last = <Field extends keyof PhoneNumber.Learned>(field: Field) =>
    reports.findLast(({ at, change }, i) =>
      field in change && reports.slice(0, i).every((before) => !(field in before.change) || before.at <= at)
    )?.change[field] ?? null
  const isLimitTold = reports.some(({ change }) => "messagingLimit" in change)
  return {
    ...number,
    block: expectedBlock(reports),
    learned: {
      tier: last("tier"),
      messagingLimit: isLimitTold ? last("messagingLimit") ?? PhoneNumber.unlimited : null,
      quality: last("quality")
    }
  }
}

const randomReport = (random: SeededRandom.SeededRandom, at: number): Report => {
  const included = random.below(15) + 1
  // often the same reason, so that blocks for one reason meet
  const reason = random.pick([...reasons, "restricted", "restricted"] as const)
  const provider = random.pick([null, detail, { code: "0", message: "\u0000 \" \\ é" }])
  return {
    at,
    change: {
      ...((included & 1) === 0 ? {} : {
        block: random.below(3) === 0 ? null : random.below(2) === 0 ? SenderBlock.of(reason, at, provider, "send") : {
          reason,
          basis: random.pick(["report", "term"] as const),
          scope: random.pick(["all", "outside_window"] as const),
          since: at - random.below(100),
          until: random.pick([null, at + random.below(1000), at + 2 * hour]),
          provider
        }
      }),
      ...((included & 2) === 0 ? {} : { tier: random.pick(["standard", "high", "some other"]) }),
      ...((included & 4) === 0 ? {} : { messagingLimit: random.pick([null, 0, 250, 100_000]) }),
      ...((included & 8) === 0 ? {} : { quality: random.pick(["green", "yellow", "red"]) }),
      ...(random.below(2) === 0 ? {} : { lifts: random.pick(reasons) })
    }
  }
}

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("observe records reported fields, and leaves others and the operator's settings", () =>
    Effect.gen(function*() {
      const own = yield* world({ number: { tier: "standard", messagingLimit: 10 } })
      const { number, start } = own
      const { providerNumberId } = number
      const block = SenderBlock.of("quality", start, detail)
      assert.strictEqual(yield* observe({ providerNumberId }, start, { block }), 1)
      assert.deepStrictEqual(yield* numberOf(own), { ...number, block })
      yield* observe({ providerNumberId }, start, { tier: "high" })
      yield* observe({ providerNumberId }, start, { messagingLimit: 2000, quality: "red" })
      const learned = { tier: "high", messagingLimit: 2000, quality: "red" }
      assert.deepStrictEqual(yield* numberOf(own), { ...number, block, learned })
      yield* observe({ providerNumberId }, start, {})
      assert.deepStrictEqual(yield* numberOf(own), { ...number, block, learned })
      yield* observe({ providerNumberId }, start, { block: null, messagingLimit: null })
      assert.deepStrictEqual(yield* numberOf(own), {
        ...number,
        learned: { ...learned, messagingLimit: PhoneNumber.unlimited }
      })
    }))

  it.effect("a report by account applies to all its numbers, and one with digits to that number of the account", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { phoneNumber, providerAccountId } = own.number
      const same = yield* world({ number: { providerAccountId } })
      const digits = yield* world({ number: { phoneNumber } })
      const qualities = Effect.map(
        Effect.forEach([own, same, digits], numberOf),
        (numbers) => numbers.map(({ learned }) => learned.quality)
      )
      assert.strictEqual(yield* observe({ providerAccountId }, own.start, { quality: "red" }), 2)
      assert.deepStrictEqual(yield* qualities, ["red", "red", null])
      assert.strictEqual(yield* observe({ providerAccountId, phoneNumber }, own.start, { quality: "green" }), 1)
      assert.deepStrictEqual(yield* qualities, ["green", "red", null])
      const unknownId = yield* Fixture.word
      assert.strictEqual(yield* observe({ providerNumberId: unknownId }, own.start, { quality: "yellow" }), 0)
      for (const name of [{ providerAccountId: unknownId }, { providerAccountId: unknownId, phoneNumber }]) {
        assert.strictEqual(yield* observe(name, own.start, { quality: "yellow" }), 0)
      }
      assert.deepStrictEqual(yield* qualities, ["green", "red", null])
    }))

  it.effect("an older report does not undo a newer one, field by field", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { providerNumberId }, start } = own
      const report = (at: number, change: PhoneNumber.NumberChange) => observe({ providerNumberId }, start + at, change)
      yield* report(10, { quality: "green", block: null })
      yield* report(9, { quality: "red", tier: "high" })
      yield* report(-1000, { block: SenderBlock.of("quality", start, detail) })
      yield* report(8, { tier: "coexistence", messagingLimit: 250 })
      assert.deepStrictEqual(yield* numberOf(own), {
        ...own.number,
        learned: { tier: "high", messagingLimit: 250, quality: "green" }
      })
      yield* report(10, { quality: "yellow" })
      assert.strictEqual((yield* numberOf(own)).learned.quality, "yellow")
    }))

  it.effect("a block in the same second as a newer report holds, because the provider's times are whole seconds", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { providerNumberId }, start } = own
      const block = SenderBlock.of("restricted", start, detail)
      yield* observe({ providerNumberId }, start + 999, { block: null })
      yield* observe({ providerNumberId }, start, { block })
      assert.deepStrictEqual((yield* numberOf(own)).block, block)
      // the time of the report in force does not move back
      yield* observe({ providerNumberId }, start + 998, { block: null })
      assert.deepStrictEqual((yield* numberOf(own)).block, block)
      yield* observe({ providerNumberId }, start + 1000, { block: null })
      yield* observe({ providerNumberId }, start, { block })
      assert.isNull((yield* numberOf(own)).block)
    }))

  it.effect("lifting one reason leaves a block for another reason as it is", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { providerNumberId }, start } = own
      const lift = (at: number, lifts: SenderBlock.SenderBlockReason) =>
        Effect.andThen(observe({ providerNumberId }, start + at, { lifts }), numberOf(own))
      for (const [i, reason] of reasons.entries()) {
        const at = (2 * i + 1) * hour
        const block = SenderBlock.of(reason, start + at, detail)
        yield* observe({ providerNumberId }, start + at, { block })
        for (const other of reasons.filter((other) => other !== reason)) {
          assert.deepStrictEqual((yield* lift(at + minute, other)).block, block)
        }
        assert.deepStrictEqual((yield* lift(at - 1, reason)).block, block)
        assert.deepStrictEqual(yield* lift(at + minute, reason), own.number)
        // an older report of the block, which arrives after it was lifted
        yield* observe({ providerNumberId }, start + at, { block })
        assert.isNull((yield* numberOf(own)).block)
      }
    }))

  it.effect("a repeated block for the same reason continues", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { providerNumberId }, start } = own
      const report = (at: number, reason: SenderBlock.SenderBlockReason) => {
        const block = SenderBlock.of(reason, at, detail)
        return Effect.as(observe({ providerNumberId }, at, { block }), block)
      }
      yield* report(start, "payment")
      const again = yield* report(start + hour, "payment")
      assert.deepStrictEqual((yield* numberOf(own)).block, { ...again, since: start })
      const another = yield* report(start + 2 * hour, "quality")
      assert.deepStrictEqual((yield* numberOf(own)).block, another)
    }))

  it.effect("a restriction with an end holds in whichever order it and the error of a send are reported and arrive", () =>
    Effect.gen(function*() {
      for (const apart of [-5000, 5000]) {
        for (const isRestrictionFirst of [true, false]) {
          const own = yield* world()
          const { number: { providerNumberId }, start } = own
          const until = start + 7 * 24 * hour
          const restriction = {
            ...SenderBlock.of("restricted", start, detail),
            scope: "outside_window",
            until,
            basis: "term"
          } as const
          const met = SenderBlock.of("restricted", start + apart, {
            code: "368",
            message: "Temporarily blocked"
          }, "send")
          const reports = isRestrictionFirst ? [restriction, met] : [met, restriction]
          for (const block of reports) yield* observe({ providerNumberId }, block.since, { block })
          const since = isRestrictionFirst && apart < 0 ? start : Math.min(start, start + apart)
          assert.deepStrictEqual((yield* numberOf(own)).block, { ...restriction, since })
        }
      }
    }))

  it.effect("a ban that is reported after a restriction with an end stops replies too, in whichever order they arrive", () =>
    Effect.gen(function*() {
      for (const isRestrictionFirst of [true, false]) {
        const own = yield* world()
        const { number: { providerNumberId }, start } = own
        const restriction = {
          ...SenderBlock.of("restricted", start, detail),
          scope: "outside_window",
          until: start + 7 * 24 * hour,
          basis: "term"
        } as const
        const ban = SenderBlock.of("restricted", start + hour, { code: "DISABLED_UPDATE", message: "DISABLE" })
        const reports = isRestrictionFirst ? [restriction, ban] : [ban, restriction]
        for (const block of reports) yield* observe({ providerNumberId }, block.since, { block })
        assert.deepStrictEqual((yield* numberOf(own)).block, isRestrictionFirst ? { ...ban, since: start } : ban)
      }
    }))

  it.effect("the error of a send that met a restriction with an end hides no report of before the error that arrives later", () =>
    Effect.gen(function*() {
      for (const later of ["ban", "restriction", "lift"] as const) {
        const own = yield* world()
        const { number: { providerNumberId }, start } = own
        const restriction = {
          ...SenderBlock.of("restricted", start, detail),
          scope: "outside_window",
          until: start + 24 * hour,
          basis: "term"
        } as const
        const ban = SenderBlock.of("restricted", start + hour, { code: "DISABLED_UPDATE", message: "DISABLE" })
        const longer = { ...restriction, since: start + hour, until: start + 7 * 24 * hour }
        const met = SenderBlock.of("restricted", start + hour + 5000, { code: "131031", message: "Locked" }, "send")
        for (const block of [restriction, met]) yield* observe({ providerNumberId }, block.since, { block })
        assert.deepStrictEqual((yield* numberOf(own)).block, restriction)
        const change = later === "lift" ? { lifts: "restricted" as const } : { block: later === "ban" ? ban : longer }
        yield* observe({ providerNumberId }, start + hour, change)
        assert.deepStrictEqual((yield* numberOf(own)).block, change.block ? { ...change.block, since: start } : null)
      }
    }))

  it.effect("a restriction without an end still allows replies after the error of a send, in whichever order they arrive", () =>
    Effect.gen(function*() {
      for (const isRestrictionFirst of [true, false]) {
        const own = yield* world()
        const { number: { providerNumberId }, start } = own
        const restriction = { ...SenderBlock.of("restricted", start, detail), scope: "outside_window" } as const
        const met = SenderBlock.of("restricted", start + 5000, null, "send")
        for (const block of isRestrictionFirst ? [restriction, met] : [met, restriction]) {
          yield* observe({ providerNumberId }, block.since, { block })
        }
        assert.deepStrictEqual((yield* numberOf(own)).block, { ...restriction, until: met.until })
      }
    }))

  it.effect("the error of a send that arrives after its block has ended blocks nothing, and the rest of its report counts", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { providerNumberId }, start } = own
      const block = SenderBlock.of("payment", start, detail, "send")
      const late = (change: PhoneNumber.NumberChange) =>
        use((store) => store.observe({ name: { providerNumberId }, now: start + hour, at: start, change }))
      yield* late({ block, quality: "red", lifts: "quality" })
      const { learned } = yield* numberOf(own)
      assert.deepStrictEqual(yield* numberOf(own), { ...own.number, learned: { ...learned, quality: "red" } })
      // a block of before in the same second is no later than this one
      const quality = SenderBlock.of("quality", start, detail)
      yield* observe({ providerNumberId }, start, { block: quality })
      yield* late({ block })
      assert.deepStrictEqual((yield* numberOf(own)).block, quality)
      const report = { ...block, basis: "report" } as const
      yield* late({ block: report })
      assert.deepStrictEqual((yield* numberOf(own)).block, report)
    }))

  it.effect("an old restriction that is delivered again does not weaken a ban that sends have met since", () =>
    Effect.gen(function*() {
      for (const isBanFirst of [true, false]) {
        const own = yield* world()
        const { number: { providerNumberId }, start } = own
        const restriction = {
          ...SenderBlock.of("restricted", start, detail),
          scope: "outside_window",
          until: start + 7 * 24 * hour,
          basis: "term"
        } as const
        const ban = SenderBlock.of("restricted", start + hour, { code: "DISABLED_UPDATE", message: "DISABLE" })
        const met = SenderBlock.of("restricted", start + hour + 5000, { code: "131031", message: "Locked" }, "send")
        const again = SenderBlock.of("restricted", start + 3 * hour, { code: "131031", message: "Locked" }, "send")
        for (const block of [...(isBanFirst ? [ban, met] : [met, ban]), again, restriction]) {
          yield* observe({ providerNumberId }, block.since, { block })
        }
        assert.deepStrictEqual((yield* numberOf(own)).block, { ...ban, until: again.until })
      }
    }))

  it.effect("reports in any order leave the newest value of each field", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { start } = own
      for (let seed = 1; seed <= 40; seed++) {
        const random = SeededRandom.make(seed)
        const number = yield* further(own)
        yield* use((store) => store.add(number))
        const reports = Array.from({ length: 12 }, () => randomReport(random, start + 333 * random.below(8)))
        for (const { at, change } of reports) {
          yield* observe({ providerNumberId: number.providerNumberId }, at, change)
        }
        const stored = (yield* list(own)).find(({ id }) => id === number.id)
        assert.deepStrictEqual(stored, expected(number, reports), `seed ${seed}`)
      }
    }))

  it.effect("concurrent reports about numbers and their account leave the newest value of each field", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number, start } = own
      const { providerAccountId } = number
      const other = yield* further(own, { providerAccountId })
      yield* use((store) => store.add(other))
      const names = [
        { providerNumberId: number.providerNumberId },
        { providerAccountId },
        { providerAccountId, phoneNumber: other.phoneNumber }
      ]
      for (let round = 0; round < 5; round++) {
        const reports = Array.from({ length: 30 }, (_, i) => ({
          name: names[i % 3]!,
          at: start + (round * 100 + i) * 1000,
          change: {
            ...(i % 2 === 0 ? { tier: `tier ${i}` } : { quality: `quality ${i}`, messagingLimit: i }),
            block: i === 28
              ? null
              : {
                reason: reasons[i % reasons.length]!,
                scope: "all" as const,
                basis: "report" as const,
                since: i,
                until: null,
                provider: null
              }
          }
        }))
        yield* Effect.forEach(
          SeededRandom.make(round).shuffle(reports),
          ({ at, change, name }) => observe(name, at, change),
          { concurrency: "unbounded" }
        )
        const [first, second] = yield* list(own)
        const newest = (isAbout: (index: number) => boolean, hasField: (i: number) => boolean) =>
          Array.from({ length: 30 }, (_, i) => i).findLast((i) => isAbout(i % 3) && hasField(i))!
        const holds = (isAbout: (index: number) => boolean) => {
          const odd = newest(isAbout, (i) => i % 2 === 1)
          return {
            tier: `tier ${newest(isAbout, (i) => i % 2 === 0)}`,
            messagingLimit: odd,
            quality: `quality ${odd}`
          }
        }
        assert.deepStrictEqual(first!.learned, holds((index) => index < 2))
        assert.deepStrictEqual(second!.learned, holds((index) => index > 0))
        // the last report about the first number lifts its block, the last one about the second does not
        assert.isNull(first!.block)
        assert.strictEqual(second!.block?.reason, reasons[29 % reasons.length])
      }
    }))
}
