import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import * as Limits from "../../src/limits/Limits.ts"
import { customer, id } from "../samples.ts"

const decode = Schema.decodeUnknownResult(Limits.Limits, { onExcessProperty: "error" })
const changed = (fields: object) => ({ ...Limits.standard, ...fields })
const defaults = (fields: object) => changed({ defaults: { ...Limits.standard.defaults, ...fields } })

describe("the figures of the contract", () => {
  it("the standard limits are the contract's", () => {
    assert.deepStrictEqual(Limits.standard, {
      workspaceTiers: { free: 10, standard: 100, scale: 1000 },
      phoneNumberTiers: { coexistence: 20, standard: 80, high: 1000 },
      pair: { everySeconds: 6, burst: 45 },
      defaults: { workspaceTier: "standard", phoneNumberTier: "standard", monthlyQuota: null, messagingLimit: null }
    })
  })

  it.effect("the standard limits are in force by default, and can be written as JSON", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Limits.CurrentLimits, Limits.standard)
      assert.deepEqual(Result.getOrThrow(decode(JSON.parse(JSON.stringify(Limits.standard)))), Limits.standard)
    }))
})

describe("limits that an operator writes", () => {
  it.each<[string, unknown]>([
    ["a tier of their own", defaults({ workspaceTier: "mine" })],
    ["a number's tier of their own", defaults({ phoneNumberTier: "mine" })],
    ["a quota", defaults({ monthlyQuota: 1000 })],
    ["no message at all", defaults({ monthlyQuota: 0, messagingLimit: 0 })],
    ["a slow pair", changed({ pair: { everySeconds: 0.5, burst: 1 } })],
    ["a rate below one", changed({ workspaceTiers: { standard: 0.1 } })]
  ])("%s", (_, input) => {
    const given = input as Limits.Limits
    const own = { mine: 7, standard: 100 }
    const whole = given.defaults.workspaceTier === "mine" || given.defaults.phoneNumberTier === "mine"
      ? { ...given, workspaceTiers: own, phoneNumberTiers: own }
      : given
    assert.deepEqual(Result.getOrThrow(decode(whole)), whole)
  })

  it.each<[string, unknown]>([
    ["nothing", {}],
    ["a list", []],
    ["text", "standard"],
    ["no tiers", changed({ workspaceTiers: {} })],
    ["a default tier that is none", defaults({ workspaceTier: "gold" })],
    ["a number's default tier that is none", defaults({ phoneNumberTier: "free" })],
    ["a default tier that only looks like one", defaults({ workspaceTier: "toString" })],
    ["a number's default tier that only looks like one", defaults({ phoneNumberTier: "constructor" })],
    ["a rate of zero", changed({ workspaceTiers: { standard: 0 } })],
    ["a negative rate", changed({ phoneNumberTiers: { standard: -1 } })],
    ["an endless rate", changed({ workspaceTiers: { standard: Infinity } })],
    ["a rate that is no number", changed({ workspaceTiers: { standard: "100" } })],
    ["a rate that is nothing", changed({ workspaceTiers: { standard: null } })],
    ["a negative quota", defaults({ monthlyQuota: -1 })],
    ["a fraction of a message", defaults({ monthlyQuota: 1.5 })],
    ["a negative messaging limit", defaults({ messagingLimit: -1 })],
    ["a quota left out", changed({ defaults: { workspaceTier: "standard", phoneNumberTier: "standard" } })],
    ["a pair without a burst", changed({ pair: { everySeconds: 6 } })],
    ["a burst of zero", changed({ pair: { everySeconds: 6, burst: 0 } })],
    ["a fraction of a burst", changed({ pair: { everySeconds: 6, burst: 1.5 } })],
    ["a pair at once", changed({ pair: { everySeconds: 0, burst: 45 } })],
    ["a misspelt field", changed({ workspaceTier: { standard: 1 } })]
  ])("not %s", (_, input) => {
    assert.isTrue(Result.isFailure(decode(input)))
  })
})

describe("buckets", () => {
  it.each<[string | null, number]>([
    ["free", 10],
    ["standard", 100],
    ["scale", 1000],
    [null, 100],
    ["unheard of", 100],
    ["toString", 100],
    ["__proto__", 100]
  ])("a workspace of tier %s: %d per second", (tier, rate) => {
    assert.deepStrictEqual(Limits.workspace(Limits.standard, tier), {
      name: "workspace",
      interval: 1000 / rate,
      capacity: 2 * rate
    })
  })

  it.each<[string | null, number]>([["coexistence", 20], ["standard", 80], ["high", 1000], [null, 80], ["free", 80]])(
    "a number of tier %s sends %d per second",
    (tier, rate) => {
      assert.deepStrictEqual(Limits.phoneNumber(Limits.standard, tier), {
        name: "phone_number",
        interval: 1000 / rate,
        capacity: 2 * rate
      })
    }
  )

  it("a pair may send one message every six seconds, and 45 at once", () => {
    assert.deepStrictEqual(Limits.pair(Limits.standard), { name: "pair", interval: 6000, capacity: 45 })
  })

  it("bucket keys cannot be confused with one another", () => {
    assert.deepStrictEqual(
      [Limits.workspaceBucket(id("ws")), Limits.phoneNumberBucket(id("pn")), Limits.pairBucket(id("pn"), customer)],
      [`workspace:${id("ws")}`, `phone_number:${id("pn")}`, `pair:${id("pn")}:${customer}`]
    )
  })
})
