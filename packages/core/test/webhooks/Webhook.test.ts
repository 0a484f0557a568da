import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { InvalidBody } from "../../src/Errors.ts"
import {
  afterAttempt,
  drainSlots,
  freeSlots,
  type Health,
  isFailing,
  nextDrainAt,
  nextSlotAt,
  parseUrl,
  pause,
  resume,
  standing,
  unknownHealth
} from "../../src/webhooks/Webhook.ts"
import { between, checks, upTo } from "../checks.ts"
import { health, start, webhook } from "../samples.ts"

const strict = { allowInsecure: false }
const lax = { allowInsecure: true }

describe("a receiver's URL", () => {
  it.each([
    ["https://receiver.example", "https://receiver.example/"],
    ["https://receiver.example/hooks?a=b#c", "https://receiver.example/hooks?a=b#c"],
    ["https://receiver.example:8443/", "https://receiver.example:8443/"],
    ["HTTPS://RECEIVER.example/Path", "https://receiver.example/Path"],
    ["https://203.0.113.7/", "https://203.0.113.7/"],
    ["https://[2001:db8::1]/", "https://[2001:db8::1]/"],
    ["https://receiver.example/a b", "https://receiver.example/a%20b"],
    ["https://bücher.example/", "https://xn--bcher-kva.example/"]
  ])("%s", (text, href) => {
    for (const options of [strict, lax]) {
      const url = parseUrl(text, options)
      assert.strictEqual(url instanceof URL ? url.href : url.message, href)
    }
  })

  it("a receiver's URL may be http only if the operator allows it, and the refusal says so", () => {
    assert.instanceOf(parseUrl("http://localhost:9000/", lax), URL)
    const messageFor = (url: string) => (parseUrl(url, strict) as InvalidBody).message
    assert.strictEqual(
      messageFor("http://localhost:9000/"),
      "url must be an https URL; the operator of this service can allow http"
    )
    assert.strictEqual(messageFor("ftp://receiver.example/"), "url must be an https URL")
  })

  it("a receiver's URL has at most 2048 characters", () => {
    const ofLength = (length: number) => `https://receiver.example/${"x".repeat(length - 25)}`
    assert.strictEqual(ofLength(2048).length, 2048)
    assert.instanceOf(parseUrl(ofLength(2048), strict), URL)
    assert.instanceOf(parseUrl(ofLength(2049), strict), InvalidBody)
  })

  it.each([
    "",
    " ",
    "receiver.example",
    "//receiver.example/",
    "/hooks",
    "https://",
    "https:///",
    "https://user@receiver.example/",
    "https://user:secret@receiver.example/",
    "https://:secret@receiver.example/",
    "ftp://receiver.example/",
    "ws://receiver.example/",
    "wss://receiver.example/",
    "file:///etc/passwd",
    "data:text/plain,x",
    "javascript:alert(1)",
    "gopher://receiver.example/",
    "https://receiver.example:99999/",
    "https://receiver.example:0/",
    "https://[::1/",
    "https://exa mple/"
  ])("a webhook's URL is not %j", (text) => {
    for (const options of [strict, lax]) {
      const error = parseUrl(text, options)
      assert.instanceOf(error, InvalidBody)
      if (error instanceof InvalidBody) {
        assert.deepStrictEqual([error.reason, error.param], ["invalid_field", "url"])
        assert.notInclude(error.message, "secret")
      }
    }
  })

  it.prop("any text is an https URL or refused", { text: Schema.String }, ({ text }) => {
    for (const given of [text, `https://${text}`, `https://receiver.example/${text}`]) {
      const url = parseUrl(given, strict)
      if (url instanceof URL) {
        assert.deepStrictEqual([url.protocol, url.username, url.password], ["https:", "", ""])
      } else assert.strictEqual(url.param, "url")
    }
  }, checks)
})

const fail = (before: Health, at: number) => afterAttempt(before, { at, durationMs: 5000, failure: `failed at ${at}` })
const succeed = (before: Health, at: number, durationMs = 999) =>
  afterAttempt(before, { at, durationMs, failure: null })
const failed = (times: number, before = unknownHealth) =>
  Array.from({ length: times }, (_, i) => start + i).reduce(fail, before)

describe("health after an attempt", () => {
  it("the first failure is recorded with its time", () => {
    assert.deepStrictEqual(fail(unknownHealth, start), {
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
    assert.isNull(succeed(unknownHealth, start).recoveredAt)
    assert.isNull(succeed(failed(4), start).recoveredAt)
    assert.strictEqual(succeed(health({ recoveredAt: start }), start + 5).recoveredAt, start)
  })

  it("the last success stays the latest if attempts end out of order", () => {
    assert.strictEqual(succeed(health({ lastSuccessAt: start + 5 }), start).lastSuccessAt, start + 5)
  })

  it.prop("failures count since the last success", { outcomes: upTo(Schema.Boolean, 30) }, ({ outcomes }) => {
    const after = outcomes.reduce((before, good, i) => (good ? succeed : fail)(before, start + i), unknownHealth)
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
      [succeed(unknownHealth, start), succeed(unknownHealth, start, 1000), fail(unknownHealth, start)]
        .map(({ slowAt }) => slowAt),
      [null, start, null]
    )
  })

  const successes = upTo(Schema.Struct({ at: between(0, 40_000), isSlow: Schema.Boolean }), 12)

  it.prop("a slow webhook must be fast for ten seconds, whatever the order of attempts", { successes }, ({
    successes
  }) => {
    const told = (given: typeof successes) =>
      given.reduce((before, { at, isSlow }) => succeed(before, start + at, isSlow ? 1000 : 999), unknownHealth)
    const after = told(successes)
    const last = (among: typeof successes) => Math.max(-Infinity, ...among.map(({ at }) => at))
    const isTrusted = successes.length > 0 && last(successes) >= last(successes.filter(({ isSlow }) => isSlow)) + 10_000
    assert.strictEqual(standing(after), isTrusted ? "healthy" : "doubtful")
    const backwards = told(successes.toReversed())
    assert.deepStrictEqual([backwards.slowAt, standing(backwards)], [after.slowAt, standing(after)])
  }, checks)
})

describe("a backlog", () => {
  it.each([
    ["none under way", { inFlight: 0, nextAt: start }, 16, 8],
    ["some under way", { inFlight: 5, nextAt: start }, 16, 3],
    ["few slots free", { inFlight: 5, nextAt: start }, 2, 2],
    ["all under way", { inFlight: 8, nextAt: start }, 8, 0],
    ["more under way than there may be", { inFlight: 9, nextAt: start }, 7, 0],
    ["no slot free", { inFlight: 0, nextAt: start }, 0, 0],
    ["too early", { inFlight: 0, nextAt: start + 1 }, 16, 0]
  ])("%s", (_, drain, free, slots) => {
    assert.strictEqual(drainSlots(drain, free, start), slots)
  })

  it("a backlog continues 10 ms after each attempt, and saves nothing up", () => {
    assert.strictEqual(nextDrainAt({ nextAt: start - 10_000 }, 8, start), start + 80)
    assert.strictEqual(nextDrainAt({ nextAt: start }, 1, start), start + 10)
  })
})

describe("pausing and resuming", () => {
  it("pausing again keeps the first pause and everything else", () => {
    const active = webhook()
    const paused = { ...active, pausedAt: start }
    assert.deepStrictEqual(pause(active, start), paused)
    assert.deepStrictEqual(pause(paused, start + 1), paused)
    assert.deepStrictEqual(resume(paused, start + 5), { ...active, resumedAt: start + 5 })
    assert.deepStrictEqual(resume(active, start + 5), active)
  })

  it("a resume comes after the last attempt and the previous resume, whatever the clocks", () => {
    const paused = webhook({ pausedAt: start, resumedAt: start + 7, health: health({ lastAttemptAt: start + 3 }) })
    assert.strictEqual(resume(paused, start).resumedAt, start + 8)
    assert.strictEqual(resume({ ...paused, resumedAt: null }, start).resumedAt, start + 4)
  })
})

describe("the number of attempts that may begin", () => {
  const failing = health({ consecutiveFailures: 5, failuresSince: start - 100, lastAttemptAt: start })
  const healthy = health({ lastSuccessAt: start - 100 })

  it.each([
    ["healthy, none under way", healthy, 0, start, 16],
    ["healthy, some under way", healthy, 15, start, 1],
    ["healthy, all under way", healthy, 16, start, 0],
    ["healthy, more under way than there may be", healthy, 20, start, 0],
    ["slow, some under way", health({ lastSuccessAt: start, slowAt: start }), 3, start, 13],
    ["slow, failed since", health({ lastSuccessAt: start, slowAt: start, consecutiveFailures: 1 }), 0, start, 4],
    ["never attempted", health(), 0, start, 1],
    ["never attempted, one under way", health(), 1, start, 0],
    ["never succeeded", health({ consecutiveFailures: 4, failuresSince: start }), 0, start, 1],
    ["one failure, some under way", { ...healthy, consecutiveFailures: 1, lastAttemptAt: start }, 3, start, 1],
    ["one failure", { ...healthy, consecutiveFailures: 1, lastAttemptAt: start }, 0, start, 4],
    ["four failures", { ...healthy, consecutiveFailures: 4, lastAttemptAt: start }, 0, start, 4],
    ["four failures, those of better times still under way", { ...healthy, consecutiveFailures: 4 }, 9, start, 0],
    ["failing, at once", failing, 0, start, 0],
    ["failing, after 999 ms", failing, 0, start + 999, 0],
    ["failing, after a second", failing, 0, start + 1000, 1],
    ["failing, after an hour", failing, 0, start + 3_600_000, 1],
    ["failing, one under way", failing, 1, start + 3_600_000, 0],
    ["failing, those of better times still under way", failing, 12, start + 3_600_000, 0],
    ["failing, and nobody knows since when", health({ consecutiveFailures: 5 }), 0, start, 1]
  ])("%s", (_, given, inFlight, now, slots) => {
    assert.strictEqual(freeSlots({ pausedAt: null, health: given }, inFlight, now), slots)
    assert.strictEqual(freeSlots({ pausedAt: 0, health: given }, inFlight, now), 0)
  })

  it("a failing webhook has a time for its next attempt", () => {
    assert.strictEqual(nextSlotAt(failing), start + 1000)
    assert.isNull(nextSlotAt(health({ consecutiveFailures: 4, lastAttemptAt: start })))
    assert.isNull(nextSlotAt(health({ consecutiveFailures: 5 })))
  })

  it.prop("a failing webhook has a slot only from then", { after: between(-3000, 3000) }, ({ after }) => {
    const now = start + after
    assert.strictEqual(freeSlots({ pausedAt: null, health: failing }, 0, now), now >= nextSlotAt(failing)! ? 1 : 0)
  }, checks)
})
