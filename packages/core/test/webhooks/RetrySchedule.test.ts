import { assert, describe, it } from "@effect/vitest"
import { Duration, Schema } from "effect"
import { delay, delays, duration, type FailedAttempt, next } from "../../src/webhooks/RetrySchedule.ts"
import { between, checks, day, hour, minute, second } from "../checks.ts"
import { start } from "../samples.ts"

const own = [second, 5 * second, 25 * second, 2 * minute, 10 * minute, 50 * minute, 250 * minute]

/** The starts of all attempts at a receiver that fails every time, relative to the first. */
const history = (options: { readonly takes: number; readonly jitter: number; readonly retryAfter?: number }) => {
  const starts = [0]
  while (starts.length < 100) {
    const startedAt = start + starts.at(-1)!
    const due = next({
      number: starts.length,
      firstStartedAt: start,
      startedAt,
      endedAt: startedAt + options.takes,
      retryAfter: options.retryAfter === undefined ? null : Duration.millis(options.retryAfter)
    }, options.jitter)
    if (due === null) return starts
    starts.push(Math.max(due, startedAt + options.takes) - start)
  }
  return assert.fail("there is no end to it")
}

describe("the delays", () => {
  it("the delays are 1 s, 5 s, 25 s, 2 min, 10 min, 50 min, then always 4 h 10 min", () => {
    assert.deepStrictEqual(delays.map((one) => Duration.toMillis(one)), own)
    assert.deepStrictEqual(
      Array.from({ length: 12 }, (_, i) => Duration.toMillis(delay(i + 1))),
      [...own, ...Array.from({ length: 5 }, () => 250 * minute)]
    )
    assert.strictEqual(Duration.toMillis(duration), day)
  })

  it("a receiver that refuses immediately gets thirteen attempts", () => {
    const at = (hours: number, minutes: number, seconds: number) => hours * hour + minutes * minute + seconds * second
    assert.deepStrictEqual(history({ takes: 0, jitter: 0 }), [
      0,
      at(0, 0, 1),
      at(0, 0, 6),
      at(0, 0, 31),
      at(0, 2, 31),
      at(0, 12, 31),
      at(1, 2, 31),
      at(5, 12, 31),
      at(9, 22, 31),
      at(13, 32, 31),
      at(17, 42, 31),
      at(21, 52, 31),
      at(24, 0, 0)
    ])
  })

  it("delays are counted from the end of an attempt", () => {
    const at = (hours: number, minutes: number, seconds: number) => hours * hour + minutes * minute + seconds * second
    assert.deepStrictEqual(history({ takes: 5 * second, jitter: 0 }), [
      0,
      at(0, 0, 6),
      at(0, 0, 16),
      at(0, 0, 46),
      at(0, 2, 51),
      at(0, 12, 56),
      at(1, 3, 1),
      at(5, 13, 6),
      at(9, 23, 11),
      at(13, 33, 16),
      at(17, 43, 21),
      at(21, 53, 26),
      at(24, 0, 0)
    ])
  })

  it("jitter lengthens delays by at most 10 %, which saves one attempt in the extreme", () => {
    const longest = history({ takes: 0, jitter: 0.999_999_9 })
    assert.deepStrictEqual(longest.slice(0, 7), [0, 1_100, 6_600, 34_100, 166_100, 826_100, 4_126_100])
    assert.strictEqual(longest.at(-1), day)
    assert.strictEqual(longest.length, 12)
  })
})

describe("the last attempt", () => {
  const failed = (fields: Partial<FailedAttempt>): FailedAttempt => ({
    number: 12,
    firstStartedAt: start,
    startedAt: start,
    endedAt: start,
    retryAfter: null,
    ...fields
  })

  it.each([
    { what: "began at the very end", startedAt: start + day, due: null },
    { what: "began late, because we were down", startedAt: start + 3 * day, due: null },
    { what: "began a millisecond before the end", startedAt: start + day - 1, due: start + day },
    { what: "is near", startedAt: start + day - 250 * minute, due: start + day },
    { what: "is a millisecond nearer than a delay", startedAt: start + day - 250 * minute + 1, due: start + day },
    { what: "is a millisecond farther than a delay", startedAt: start + day - 250 * minute - 1, due: start + day - 1 }
  ])("$what", ({ due, startedAt }) => {
    assert.strictEqual(next(failed({ startedAt, endedAt: startedAt }), 0), due)
  })

  it("the last attempt is at 24 hours without jitter", () => {
    const startedAt = start + day - 250 * minute
    for (const jitter of [0, 0.5, 0.999]) {
      assert.strictEqual(next(failed({ startedAt, endedAt: startedAt }), jitter), start + day)
    }
  })

  it("the last attempt is due immediately if the previous one ended after the 24 hours", () => {
    assert.strictEqual(
      next(failed({ startedAt: start + day - second, endedAt: start + day + 4 * second }), 0.5),
      start + day
    )
  })

  it("the last attempt takes place even if the second attempt came only after days", () => {
    assert.strictEqual(next(failed({ number: 1, startedAt: start, endedAt: start + 2 * day }), 0), start + day)
    assert.isNull(next(failed({ number: 2, startedAt: start + 2 * day, endedAt: start + 2 * day }), 0))
  })
})

describe("Retry-After", () => {
  const asked = (seconds: number | null, number = 1, endedAt = start) =>
    next({
      number,
      firstStartedAt: start,
      startedAt: endedAt,
      endedAt,
      retryAfter: seconds === null ? null : Duration.seconds(seconds)
    }, 0)! - endedAt

  it.each([
    { number: 1, seconds: 0, delay: second },
    { number: 1, seconds: 1, delay: second },
    { number: 1, seconds: 2, delay: 2 * second },
    { number: 1, seconds: 3599, delay: hour - second },
    { number: 1, seconds: 3600, delay: hour },
    { number: 1, seconds: 3601, delay: hour },
    { number: 1, seconds: 86_400, delay: hour },
    { number: 1, seconds: Infinity, delay: hour },
    { number: 6, seconds: 60, delay: 50 * minute },
    { number: 6, seconds: 3600, delay: hour },
    { number: 7, seconds: 3600, delay: 250 * minute },
    { number: 7, seconds: 86_400, delay: 250 * minute }
  ])(
    "a Retry-After of $seconds s after attempt $number delays the next one by $delay ms",
    ({ delay, number, seconds }) => {
      assert.strictEqual(asked(seconds, number), delay)
    }
  )

  it("Retry-After never passes the last attempt", () => {
    const endedAt = start + day - 10 * minute
    assert.strictEqual(asked(3600, 1, endedAt), 10 * minute)
  })

  it("Retry-After is not lengthened by jitter, and does not shorten a jittered delay", () => {
    const at = (retryAfter: number) =>
      next({
        number: 2,
        firstStartedAt: start,
        startedAt: start,
        endedAt: start,
        retryAfter: Duration.millis(retryAfter)
      }, 0.5)
    assert.strictEqual(at(6000), start + 6000)
    assert.strictEqual(at(5100), start + 5250)
  })
})

describe("any failed attempt", () => {
  const given = {
    number: between(1, 15),
    started: between(0, 26 * hour),
    took: between(0, 15 * second),
    retryAfter: Schema.NullOr(between(0, 30 * hour)),
    jitter: between(0, 9999)
  }
  type Given = { [K in keyof typeof given]: typeof given[K]["Type"] }
  const play = (_: Given, changed: Partial<Given> = {}) => {
    const { jitter, number, retryAfter, started, took } = { ..._, ...changed }
    return next({
      number,
      firstStartedAt: start,
      startedAt: start + started,
      endedAt: start + started + took,
      retryAfter: retryAfter === null ? null : Duration.millis(retryAfter)
    }, jitter / 10_000)
  }

  it.prop("there is a next attempt exactly until 24 hours after the first one began", given, (_) => {
    assert.strictEqual(play(_) === null, _.started >= day)
  }, checks)

  it.prop(
    "the next attempt is in whole milliseconds, never past 24 hours, and otherwise at least its own delay away",
    given,
    (_) => {
      const due = play(_)
      if (due === null) return
      assert.isTrue(Number.isInteger(due))
      assert.isAtMost(due, start + day)
      if (due < start + day) {
        const waited = due - (start + _.started + _.took)
        const least = Duration.toMillis(delay(_.number))
        assert.isAtLeast(waited, least)
        assert.isAtMost(waited, Math.max(Math.ceil(least * 1.1), Math.min(_.retryAfter ?? 0, hour)))
      }
    },
    checks
  )

  it.prop("more jitter, a longer Retry-After, a later end or a later number never bring it nearer", {
    ...given,
    more: between(0, 10 * hour)
  }, (_) => {
    const due = play(_)
    if (due === null) return
    assert.isAtLeast(play(_, { jitter: Math.min(9999, _.jitter + _.more) })!, due)
    assert.isAtLeast(play(_, { retryAfter: (_.retryAfter ?? 0) + _.more })!, due)
    assert.isAtLeast(play(_, { took: _.took + _.more })!, due)
    assert.isAtLeast(play(_, { number: _.number + 1 })!, due)
  }, checks)

  it.prop("a dead receiver gets 12 or 13 attempts, the last one 24 hours after the first", {
    takes: between(0, 5 * second),
    jitter: between(0, 9999)
  }, ({ jitter, takes }) => {
    const starts = history({ takes, jitter: jitter / 10_000 })
    assert.include([12, 13], starts.length)
    assert.strictEqual(starts.at(-1), day)
  }, checks)
})
