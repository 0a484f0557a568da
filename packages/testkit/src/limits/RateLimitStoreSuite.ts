/**
 * Conformance of `RateLimitStore`: how token buckets empty and fill, and how callers race for their tokens.
 */
import { assert } from "@effect/vitest"
import { Limits, RateLimit, RateLimitStore } from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"

const { minute, second, world } = Fixture

/** Three tokens, one more each second. */
const policy: RateLimit.Policy = { name: "login", interval: second, capacity: 3 }

const bucket = (given: RateLimit.Policy = policy) =>
  Effect.map(Fixture.word, (word) => ({ key: `test:${word}`, policy: given }))

const start = 1_767_614_400_000

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a new bucket is full, and empties token by token", () =>
    Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      const own = yield* bucket()
      const spend = store.spend([own], start)
      assert.deepStrictEqual(yield* spend, [{ policy, remaining: 2, resetAfter: second, allowed: true }])
      assert.deepStrictEqual(yield* spend, [{ policy, remaining: 1, resetAfter: 2 * second, allowed: true }])
      assert.deepStrictEqual(yield* spend, [{ policy, remaining: 0, resetAfter: 3 * second, allowed: true }])
      const refused = { policy, remaining: 0, resetAfter: second, allowed: false }
      assert.deepStrictEqual(yield* spend, [refused])
      // a refusal costs nothing
      assert.deepStrictEqual(yield* spend, [refused])
    }))

  it.effect("a token returns after its interval, to the millisecond, up to the capacity", () =>
    Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      const own = yield* bucket()
      const allowed = (now: number) => Effect.map(store.spend([own], now), ([reading]) => reading!.allowed)
      for (let i = 0; i < 3; i++) assert.isTrue(yield* allowed(start))
      assert.isFalse(yield* allowed(start + second - 1))
      assert.isTrue(yield* allowed(start + second))
      assert.isFalse(yield* allowed(start + second))
      const after = [0, 1, 2, 3].map(() => allowed(start + 10 * minute))
      assert.deepStrictEqual(yield* Effect.all(after), [true, true, true, false])
    }))

  it.effect("a bucket written by a clock far ahead counts as empty, and fills from then on", () =>
    Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      const [one, two] = [yield* bucket(), yield* bucket()]
      const spend = (now: number) => store.spend([one, two], now)
      assert.isTrue((yield* spend(start + 10 * minute)).every(({ allowed }) => allowed))
      const empty = { policy, remaining: 0, resetAfter: second, allowed: false }
      assert.deepStrictEqual(yield* spend(start), [empty, empty])
      assert.isTrue((yield* spend(start + second)).every(({ allowed }) => allowed))
      assert.deepStrictEqual(yield* spend(start + second), [empty, empty])
      assert.isTrue((yield* spend(start + 2 * second)).every(({ allowed }) => allowed))
    }))

  it.effect("a send's bucket written by a clock far ahead counts as empty too", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const limits: Limits.Limits = {
        ...Fixture.roomy,
        workspaceTiers: { small: 1 },
        defaults: { ...Fixture.roomy.defaults, workspaceTier: "small" },
        pair: { everySeconds: 1, burst: 2 }
      }
      const answer = (now: number) =>
        Effect.map(MessageFixture.accept(own, { limits, now }), ({ accepted }) => MessageFixture.describe(accepted))
      yield* Effect.replicateEffect(answer(own.start + 10 * minute), 2)
      assert.deepStrictEqual(
        yield* Effect.forEach([0, 999, 1000, 1000, 2000], (after) => answer(own.start + after)),
        [
          "rate_limited/workspace",
          "rate_limited/workspace",
          "rate_limited/phone_number",
          "rate_limited/phone_number",
          "Claimed"
        ]
      )
    }))

  it.effect("intervals may be fractions of a millisecond", () =>
    Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      const own = yield* bucket(RateLimit.perSecond("workspace", 3))
      const remaining = []
      for (let i = 0; i < 6; i++) remaining.push((yield* store.spend([own], start))[0]!.remaining)
      assert.deepStrictEqual(remaining, [5, 4, 3, 2, 1, 0])
      assert.isFalse((yield* store.spend([own], start + 333))[0]!.allowed)
      assert.isTrue((yield* store.spend([own], start + 334))[0]!.allowed)
      assert.isFalse((yield* store.spend([own], start + 666))[0]!.allowed)
      assert.isTrue((yield* store.spend([own], start + 667))[0]!.allowed)
    }))

  it.effect("one token is taken from each bucket or from none, with a reading of each in order", () =>
    Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      const narrow = yield* bucket({ name: "pair", interval: second, capacity: 1 })
      const wide = yield* bucket({ name: "workspace", interval: second, capacity: 10 })
      assert.deepStrictEqual(yield* store.spend([wide, narrow], start), [
        { policy: wide.policy, remaining: 9, resetAfter: second, allowed: true },
        { policy: narrow.policy, remaining: 0, resetAfter: second, allowed: true }
      ])
      const refused = yield* store.spend([wide, narrow], start)
      assert.deepStrictEqual(refused.map(({ allowed, policy }) => [policy.name, allowed]), [
        ["workspace", true],
        ["pair", false]
      ])
      const swapped = yield* store.spend([narrow, wide], start)
      assert.deepStrictEqual(swapped.map(({ policy }) => policy.name), ["pair", "workspace"])
      assert.strictEqual((yield* store.spend([wide], start))[0]!.remaining, 8)
      assert.deepStrictEqual(yield* store.spend([], start), [])
    }))

  it.effect("of 60 racing callers, exactly as many are allowed as there are tokens", () =>
    Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      const own = yield* bucket({ name: "login", interval: minute, capacity: 17 })
      const readings = yield* Effect.all(Array.from({ length: 60 }, () => store.spend([own], start)), {
        concurrency: "unbounded"
      })
      const allowed = readings.map(([reading]) => reading!).filter((reading) => reading.allowed)
      assert.strictEqual(allowed.length, 17)
      assert.deepStrictEqual(
        allowed.map(({ remaining }) => remaining).sort((a, b) => a - b),
        Array.from({ length: 17 }, (_, i) => i)
      )
    }))

  it.effect("racing callers that need two buckets in either order neither block nor overspend", () =>
    Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      const one = yield* bucket({ name: "login", interval: minute, capacity: 10 })
      const two = yield* bucket({ name: "login", interval: minute, capacity: 7 })
      const results = yield* Effect.all(
        Array.from({ length: 40 }, (_, i) => store.spend(i % 2 === 0 ? [one, two] : [two, one], start)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(results.filter((readings) => readings.every(({ allowed }) => allowed)).length, 7)
      assert.strictEqual((yield* store.spend([one], start))[0]!.remaining, 2)
    }))

  it.effect("giveBack returns one token to each bucket, and never overfills it", () =>
    Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      const one = yield* bucket()
      const two = yield* bucket()
      yield* store.spend([one, two], start)
      yield* store.spend([one], start)
      yield* store.giveBack([one, two], start)
      assert.strictEqual((yield* store.spend([one], start))[0]!.remaining, 1)
      assert.strictEqual((yield* store.spend([two], start))[0]!.remaining, 2)
      const full = yield* bucket()
      yield* store.giveBack([full], start)
      assert.strictEqual((yield* store.spend([full], start))[0]!.remaining, 2)
      yield* store.giveBack([full], start + minute)
      yield* store.giveBack([full], start + minute)
      assert.strictEqual((yield* store.spend([full], start + minute))[0]!.remaining, 2)
    }))

  it.effect("accept spends from the same workspace bucket", () =>
    Effect.gen(function*() {
      const store = yield* RateLimitStore.RateLimitStore
      const own = yield* world()
      const limits: Limits.Limits = {
        ...Fixture.roomy,
        workspaceTiers: { small: 2 },
        defaults: { ...Fixture.roomy.defaults, workspaceTier: "small" }
      }
      const buckets = [{ key: Limits.workspaceBucket(own.workspace.id), policy: Limits.workspace(limits, null) }]
      for (let i = 0; i < 3; i++) assert.isTrue((yield* store.spend(buckets, own.start))[0]!.allowed)
      const last = yield* MessageFixture.claimed(own, { limits })
      assert.strictEqual(last.accepted.readings[0]!.remaining, 0)
      assert.isFalse((yield* store.spend(buckets, own.start))[0]!.allowed)
      const refused = yield* MessageFixture.accept(own, { limits })
      assert.strictEqual(MessageFixture.describe(refused.accepted), "rate_limited/workspace")
      yield* store.giveBack(buckets, own.start)
      yield* MessageFixture.claimed(own, { limits })
    }))
}
