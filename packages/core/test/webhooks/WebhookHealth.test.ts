import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { afterAttempt, initial, isFailing, standing, type WebhookHealth } from "../../src/webhooks/WebhookHealth.ts"
import { between, checks, upTo } from "../checks.ts"
import { health, start } from "../samples.ts"

const fail = (before: WebhookHealth, at: number) =>
  afterAttempt(before, { at, durationMs: 5000, failure: `failed at ${at}` })
const succeed = (before: WebhookHealth, at: number, durationMs = 999) =>
  afterAttempt(before, { at, durationMs, failure: null })
const failed = (times: number, before = initial) =>
  Array.from({ length: times }, (_, i) => start + i).reduce(fail, before)

describe("health after an attempt", () => {
  it("the first failure is recorded with its time", () => {
    assert.deepStrictEqual(fail(initial, start), {
      consecutiveFailures: 1,
      failuresSince: start,
      lastFailure: { at: start, message: `failed at ${start}` },
      lastSuccessAt: null,
      slowAt: null,
      lastAttemptAt: start,
      recoveredAt: null
    })
  })

  it("the fifth failure in a row makes a webhook failing, since the first", () => {
    assert.deepStrictEqual([0, 1, 4, 5, 6].map((times) => isFailing(failed(times))), [false, false, false, true, true])
    assert.deepStrictEqual(failed(5), {
      consecutiveFailures: 5,
      failuresSince: start,
      lastFailure: { at: start + 4, message: `failed at ${start + 4}` },
      lastSuccessAt: null,
      slowAt: null,
      lastAttemptAt: start + 4,
      recoveredAt: null
    })
  })

  it("a success between failures restarts the count", () => {
    const after = failed(4, succeed(failed(4), start + 10))
    assert.strictEqual(after.consecutiveFailures, 4)
    assert.isFalse(isFailing(after))
  })

  it("a success ends the failing state and brings retries forward", () => {
    assert.deepStrictEqual(succeed(failed(7), start + 100), {
      consecutiveFailures: 0,
      failuresSince: null,
      lastFailure: { at: start + 6, message: `failed at ${start + 6}` },
      lastSuccessAt: start + 100,
      slowAt: null,
      lastAttemptAt: start + 100,
      recoveredAt: start + 100
    })
  })

  it("a success of a webhook that was not failing brings nothing forward", () => {
    assert.isNull(succeed(initial, start).recoveredAt)
    assert.isNull(succeed(failed(4), start).recoveredAt)
    assert.strictEqual(succeed(health({ recoveredAt: start }), start + 5).recoveredAt, start)
  })

  it("the last success stays the latest if attempts end out of order", () => {
    assert.strictEqual(succeed(health({ lastSuccessAt: start + 5 }), start).lastSuccessAt, start + 5)
  })

  it.prop("failures count since the last success", { outcomes: upTo(Schema.Boolean, 30) }, ({ outcomes }) => {
    const after = outcomes.reduce((before, good, i) => (good ? succeed : fail)(before, start + i), initial)
    const lastGood = outcomes.lastIndexOf(true)
    const streak = outcomes.length - 1 - lastGood
    const failedAt = outcomes.lastIndexOf(false)
    assert.strictEqual(after.consecutiveFailures, streak)
    assert.strictEqual(after.failuresSince, streak === 0 ? null : start + lastGood + 1)
    assert.strictEqual(after.lastSuccessAt, lastGood === -1 ? null : start + lastGood)
    assert.strictEqual(after.lastFailure?.at ?? null, failedAt === -1 ? null : start + failedAt)
    assert.strictEqual(after.lastAttemptAt, outcomes.length === 0 ? null : start + outcomes.length - 1)
    // recovered at the last success that ended five failures or more
    let streaks = 0
    let recovered: number | null = null
    for (const [i, good] of outcomes.entries()) {
      if (good && streaks >= 5) recovered = start + i
      streaks = good ? 0 : streaks + 1
    }
    assert.strictEqual(after.recoveredAt, recovered)
  }, checks)
})

describe("the health of a receiver", () => {
  it.each([
    ["never attempted", health(), "doubtful"],
    ["answered well", health({ lastSuccessAt: start }), "healthy"],
    ["failed since", health({ lastSuccessAt: start, consecutiveFailures: 1, failuresSince: start }), "doubtful"],
    ["never succeeded", health({ consecutiveFailures: 3, failuresSince: start }), "doubtful"],
    ["answered well, but slowly", health({ lastSuccessAt: start, slowAt: start }), "doubtful"],
    ["quickly, but 9,999 ms after a slow one", health({ lastSuccessAt: start + 9_999, slowAt: start }), "doubtful"],
    ["quickly, 10 seconds after a slow one", health({ lastSuccessAt: start + 10_000, slowAt: start }), "healthy"]
  ])("%s", (_, given, expected) => {
    assert.strictEqual(standing(given), expected)
  })

  it("a success that took a second is slow, and a failure never is", () => {
    assert.deepStrictEqual(
      [succeed(initial, start), succeed(initial, start, 1000), fail(initial, start)]
        .map(({ slowAt }) => slowAt),
      [null, start, null]
    )
  })

  const successes = upTo(Schema.Struct({ at: between(0, 40_000), isSlow: Schema.Boolean }), 12)

  it.prop("a slow webhook must be fast for ten seconds, whatever the order of attempts", { successes }, ({
    successes
  }) => {
    const told = (given: typeof successes) =>
      given.reduce((before, { at, isSlow }) => succeed(before, start + at, isSlow ? 1000 : 999), initial)
    const after = told(successes)
    const last = (among: typeof successes) => Math.max(-Infinity, ...among.map(({ at }) => at))
    const isTrusted = successes.length > 0 && last(successes) >= last(successes.filter(({ isSlow }) => isSlow)) + 10_000
    assert.strictEqual(standing(after), isTrusted ? "healthy" : "doubtful")
    const backwards = told(successes.toReversed())
    assert.deepStrictEqual([backwards.slowAt, standing(backwards)], [after.slowAt, standing(after)])
  }, checks)
})
