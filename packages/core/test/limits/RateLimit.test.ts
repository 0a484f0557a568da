import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Schema } from "effect"
import {
  giveBack,
  observe,
  Observer,
  perSecond,
  type Policy,
  type Reading,
  refusal,
  take
} from "../../src/limits/RateLimit.ts"
import { between, checks, hour, upTo } from "../checks.ts"
import { start } from "../samples.ts"

const policy = (interval: number, capacity: number): Policy => ({ name: "workspace", interval, capacity })

/** The textbook bucket: a level that is filled up before every use. Counted in milliseconds of filling. */
class Bucket {
  private readonly policy: Policy
  private level: number
  private seen: number
  constructor(policy: Policy, now: number) {
    this.policy = policy
    this.level = policy.capacity * policy.interval
    this.seen = now
  }
  private fill(now: number) {
    this.level = Math.min(this.policy.capacity * this.policy.interval, this.level + now - this.seen)
    this.seen = now
  }
  take(now: number): Reading {
    const { capacity, interval } = this.policy
    this.fill(now)
    if (this.level < interval) {
      return { policy: this.policy, remaining: 0, resetAfter: interval - this.level, allowed: false }
    }
    this.level -= interval
    return {
      policy: this.policy,
      remaining: Math.floor(this.level / interval),
      resetAfter: capacity * interval - this.level,
      allowed: true
    }
  }
  giveBack(now: number) {
    this.fill(now)
    this.level = Math.min(this.policy.capacity * this.policy.interval, this.level + this.policy.interval)
  }
}

/** Takes as many tokens as possible at one instant. */
const drain = (given: Policy, fullAt: number, now: number) => {
  const readings: Array<Reading> = []
  let state = fullAt
  while (readings.length <= given.capacity) {
    const { fullAt: next, reading } = take(given, state, now)
    readings.push(reading)
    state = next
    if (!reading.allowed) return { readings, state, taken: readings.length - 1 }
  }
  return assert.fail("more was taken than there is room for")
}

describe("a bucket", () => {
  it("a new bucket is full", () => {
    const { readings, taken } = drain(policy(100, 20), 0, start)
    assert.strictEqual(taken, 20)
    assert.deepStrictEqual(readings.map(({ remaining }) => remaining), [
      ...Array.from({ length: 20 }, (_, i) => 19 - i),
      0
    ])
    assert.deepStrictEqual(readings.map(({ allowed }) => allowed), [...Array.from({ length: 20 }, () => true), false])
    assert.deepStrictEqual(readings.map(({ resetAfter }) => resetAfter), [
      ...Array.from({ length: 20 }, (_, i) => 100 * (i + 1)),
      100
    ])
  })

  it("an emptied bucket gives one token per interval, and not a millisecond sooner", () => {
    const { state } = drain(policy(100, 20), 0, start)
    assert.isFalse(take(policy(100, 20), state, start + 99).reading.allowed)
    assert.strictEqual(take(policy(100, 20), state, start + 99).reading.resetAfter, 1)
    const refilled = take(policy(100, 20), state, start + 100)
    assert.isTrue(refilled.reading.allowed)
    assert.isFalse(take(policy(100, 20), refilled.fullAt, start + 100).reading.allowed)
    assert.strictEqual(drain(policy(100, 20), state, start + 500).taken, 5)
  })

  it("a bucket never holds more than its capacity", () => {
    const { state } = drain(policy(100, 20), 0, start)
    assert.strictEqual(drain(policy(100, 20), state, start + 1999).taken, 19)
    assert.strictEqual(drain(policy(100, 20), state, start + 2000).taken, 20)
    assert.strictEqual(drain(policy(100, 20), state, start + 24 * hour).taken, 20)
  })

  it("a refusal leaves the bucket unchanged", () => {
    const { state } = drain(policy(100, 20), 0, start)
    for (const now of [start, start + 1, start + 99]) {
      assert.deepStrictEqual(take(policy(100, 20), state, now).fullAt, state)
    }
  })

  it("a token can be returned to its bucket", () => {
    const { state } = drain(policy(100, 20), 0, start)
    assert.strictEqual(drain(policy(100, 20), giveBack(policy(100, 20), state), start).taken, 1)
    const once = take(policy(100, 20), 0, start).fullAt
    assert.strictEqual(drain(policy(100, 20), giveBack(policy(100, 20), once), start).taken, 20)
    assert.strictEqual(
      drain(policy(100, 20), giveBack(policy(100, 20), giveBack(policy(100, 20), once)), start).taken,
      20
    )
  })

  it("a clock that was fast for a moment does not drain a bucket", () => {
    const ahead = take(policy(100, 20), 0, start + 1000).fullAt
    assert.strictEqual(drain(policy(100, 20), ahead, start).taken, 9)
  })
})

describe("a rate per second", () => {
  it.each([
    { rate: 10, interval: 100, capacity: 20 },
    { rate: 20, interval: 50, capacity: 40 },
    { rate: 80, interval: 12.5, capacity: 160 },
    { rate: 100, interval: 10, capacity: 200 },
    { rate: 1000, interval: 1, capacity: 2000 }
  ])("$rate: a token per $interval ms, $capacity at once", ({ capacity, interval, rate }) => {
    assert.deepStrictEqual(perSecond("phone_number", rate), { name: "phone_number", interval, capacity })
    assert.strictEqual(drain(perSecond("workspace", rate), 0, start).taken, capacity)
  })

  it.each([10, 20, 80, 100, 1000])("a rate of %d allows the burst and then exactly the rate", (rate) => {
    const given = perSecond("workspace", rate)
    let state = 0
    let allowed = 0
    // requests at twice the rate for ten seconds, and no longer
    for (let i = 0; i < 20 * rate; i++) {
      const { fullAt, reading } = take(given, state, start + i * 500 / rate)
      state = fullAt
      if (reading.allowed) allowed++
    }
    assert.strictEqual(allowed, 2 * rate + 10 * rate - 1)
  })
})

describe("rates that an operator may set", () => {
  it("every whole rate allows a burst of twice the rate, and counts it down one by one", () => {
    for (let rate = 1; rate <= 1000; rate++) {
      const { readings, taken } = drain(perSecond("workspace", rate), 0, start)
      assert.strictEqual(taken, 2 * rate, `${rate} per second`)
      assert.isTrue(
        readings.every(({ remaining }, i) => remaining === Math.max(0, 2 * rate - 1 - i)),
        `${rate} per second`
      )
    }
  })

  it.each([0.01, 0.1, 0.25, 0.49])("%d per second is slow, but not never", (rate) => {
    assert.strictEqual(drain(perSecond("workspace", rate), 0, start).taken, 1)
  })

  it("the fastest rate still has an interval", () => {
    assert.isAbove(perSecond("workspace", 1e9).interval, 0)
  })
})

describe("any sequence of requests", () => {
  const sequence = {
    // quarters of a millisecond are exact in binary, so both ways of counting must agree to the last bit
    quarters: between(1, 40_000),
    capacity: between(1, 60),
    requests: upTo(
      Schema.Struct({ wait: between(0, 20_000), back: Schema.Literals([false, false, false, true]) }),
      60
    )
  }

  it.prop("requests match the textbook bucket's answers", sequence, ({ capacity, quarters, requests }) => {
    const given = policy(quarters / 4, capacity)
    const model = new Bucket(given, start)
    let [state, now] = [0, start]
    for (const { back, wait } of requests) {
      now += wait
      if (back) {
        state = giveBack(given, state)
        model.giveBack(now)
      } else {
        const { fullAt, reading } = take(given, state, now)
        state = fullAt
        assert.deepStrictEqual(reading, model.take(now))
      }
    }
  }, checks)

  it.prop(
    "waiting as long as a refusal states is enough, and less is not",
    sequence,
    ({ capacity, quarters, requests }) => {
      const given = policy(quarters / 4, capacity)
      let [state, now] = [0, start]
      for (const { wait } of requests) {
        now += wait % 50
        const { fullAt, reading } = take(given, state, now)
        state = fullAt
        if (!reading.allowed) {
          assert.isTrue(take(given, state, now + reading.resetAfter).reading.allowed)
          assert.isFalse(take(given, state, now + reading.resetAfter - 0.25).reading.allowed)
        }
      }
    },
    checks
  )
})

describe("the error of a refused send", () => {
  const reading = (name: Policy["name"], allowed: boolean, resetAfter: number): Reading => ({
    policy: { ...policy(100, 20), name },
    remaining: 0,
    resetAfter,
    allowed
  })

  it("the error is the first refusing limiter's, with the longest wait, in whole milliseconds", () => {
    const error = refusal([
      reading("workspace", true, 9000),
      reading("phone_number", false, 12.5),
      reading("pair", false, 100.25)
    ])
    assert.deepStrictEqual([error?.code, error?.reason], ["rate_limited", "phone_number"])
    assert.strictEqual(Duration.toMillis(error!.retryAfter), 101)
  })

  it("there is no error without a refusal", () => {
    assert.isUndefined(refusal([]))
    assert.isUndefined(refusal([reading("workspace", true, 9000), reading("pair", true, 1)]))
  })

  it("every limiter has a message", () => {
    const names = ["workspace", "phone_number", "pair", "provider", "login"] as const
    const messages = names.map((name) => refusal([reading(name, false, 1)])!.message)
    assert.strictEqual(new Set(messages).size, names.length)
  })
})

it.effect("readings go to the request's observer, in order, and nowhere else", () =>
  Effect.gen(function*() {
    const { readings } = drain(policy(100, 2), 0, start)
    const observed: Array<Reading> = []
    yield* observe(readings)
    yield* observe(readings).pipe(Effect.provideService(Observer, (reading) => void observed.push(reading)))
    assert.deepStrictEqual(observed, readings)
  }))
