import { assert, describe, it } from "@effect/vitest"
import { Duration, Schema } from "effect"
import {
  afterAttempt,
  type AttemptOutcome,
  type Delivery,
  dueAt,
  endsRound,
  isOpen,
  line,
  mayPause,
  newRound,
  place,
  recordedAttempt,
  statusShown
} from "../../src/webhooks/Delivery.ts"
import * as WebhookHealth from "../../src/webhooks/WebhookHealth.ts"
import { between, checks, day, hour, minute, second, upTo } from "../checks.ts"
import { attempt, delivery, health, id, start, webhook } from "../samples.ts"

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const good = attempt({ outcome: "delivered", statusCode: 200, message: "answered 200" })
const failures: ReadonlyArray<AttemptOutcome> = [
  "dns",
  "connect",
  "tls",
  "timeout",
  "status",
  "redirect",
  "blocked_address"
]

/** A delivery whose first attempt began a day ago and whose thirteenth, the last, begins now. */
const last = {
  delivery: delivery({
    attemptCount: 12,
    roundAttempts: 12,
    firstAttemptAt: start - day,
    lastAttemptAt: start - 2 * hour,
    nextAttemptAt: start
  }),
  attempt: attempt({ number: 13 })
}
const ended = start + second

describe("a delivery after an attempt", () => {
  it("a delivery that got 200 is delivered", () => {
    const after = afterAttempt(delivery(), webhook(), good, 0)
    assert.deepStrictEqual(after, {
      delivery: delivery({
        status: "delivered",
        attemptCount: 1,
        roundAttempts: 1,
        firstAttemptAt: start,
        lastAttemptAt: ended,
        nextAttemptAt: null,
        completedAt: ended
      }),
      webhook: webhook({ health: health({ lastSuccessAt: ended, slowAt: ended, lastAttemptAt: ended }) })
    })
  })

  it.each(failures)("a delivery that failed (%s) is retried a second after its end", (outcome) => {
    const after = afterAttempt(delivery(), webhook(), attempt({ outcome }), 0)
    assert.deepStrictEqual(after, {
      delivery: delivery({
        attemptCount: 1,
        roundAttempts: 1,
        firstAttemptAt: start,
        lastAttemptAt: ended,
        nextAttemptAt: ended + second
      }),
      webhook: webhook({
        health: health({
          consecutiveFailures: 1,
          failuresSince: ended,
          lastFailure: { at: ended, message: "answered 500; only 200 counts" },
          lastAttemptAt: ended
        })
      })
    })
  })

  it("a retry keeps T0 and increases the count", () => {
    const before = delivery({
      attemptCount: 3,
      roundAttempts: 3,
      firstAttemptAt: start - minute,
      lastAttemptAt: start - 25 * second
    })
    const { delivery: after } = afterAttempt(before, webhook(), attempt({ number: 4 }), 0)
    assert.deepStrictEqual(
      [after.attemptCount, after.firstAttemptAt, after.lastAttemptAt, after.nextAttemptAt],
      [4, start - minute, ended, ended + 2 * minute]
    )
  })

  it("the delay includes jitter and Retry-After", () => {
    const next = (jitter: number, retryAfter: Duration.Duration | null) =>
      afterAttempt(delivery(), webhook(), attempt({ retryAfter }), jitter).delivery.nextAttemptAt! - ended
    assert.deepStrictEqual(
      [next(0, null), next(0.5, null), next(0, Duration.minutes(1)), next(0, Duration.hours(9))],
      [second, 1050, minute, hour]
    )
  })

  it("the last failure pauses the webhook and holds the delivery if nothing got 200 since T0", () => {
    for (const lastSuccessAt of [null, start - day - 1]) {
      const before = webhook({ health: health({ lastSuccessAt }) })
      const after = afterAttempt(last.delivery, before, last.attempt, 0.5)
      assert.deepStrictEqual(after.delivery, {
        ...last.delivery,
        attemptCount: 13,
        roundAttempts: 13,
        lastAttemptAt: ended,
        nextAttemptAt: ended
      })
      assert.strictEqual(after.webhook.pausedAt, ended)
      assert.strictEqual(statusShown(after.delivery, after.webhook), "held")
    }
  })

  it("the last failure exhausts only the delivery if something else got 200 since T0", () => {
    for (const lastSuccessAt of [start - day, start - hour, start]) {
      const before = webhook({ health: health({ lastSuccessAt }) })
      const after = afterAttempt(last.delivery, before, last.attempt, 0.5)
      assert.deepStrictEqual(after.delivery, {
        ...last.delivery,
        status: "exhausted",
        attemptCount: 13,
        roundAttempts: 13,
        lastAttemptAt: ended,
        nextAttemptAt: null,
        completedAt: ended
      })
      assert.isNull(after.webhook.pausedAt)
    }
  })

  it("a failure does not change when a person paused the webhook", () => {
    const paused = webhook({ pausedAt: start - hour })
    assert.strictEqual(afterAttempt(last.delivery, paused, last.attempt, 0).webhook.pausedAt, start - hour)
    assert.strictEqual(afterAttempt(delivery(), paused, good, 0).webhook.pausedAt, start - hour)
    assert.strictEqual(afterAttempt(delivery(), paused, attempt(), 0).webhook.pausedAt, start - hour)
  })

  it("a delivery that succeeds at the last attempt neither pauses nor is held", () => {
    const after = afterAttempt(last.delivery, webhook(), { ...good, number: 13 }, 0)
    assert.deepStrictEqual([after.delivery.status, after.webhook.pausedAt], ["delivered", null])
  })

  it("a later round is scheduled by its own attempts", () => {
    const before = delivery({
      trigger: "manual",
      attemptCount: 13,
      roundAttempts: 1,
      firstAttemptAt: start - 2 * second,
      lastAttemptAt: start - second
    })
    const after = afterAttempt(before, webhook(), attempt({ number: 14, trigger: "manual" }), 0)
    assert.deepStrictEqual(after.delivery, {
      ...before,
      attemptCount: 14,
      roundAttempts: 2,
      lastAttemptAt: ended,
      nextAttemptAt: ended + 5 * second
    })
  })

  it("there is a last attempt if the previous one began less than 24 hours after T0", () => {
    const startedAt = start + day - 1
    const before = delivery({ attemptCount: 12, roundAttempts: 12, firstAttemptAt: start })
    const after = afterAttempt(before, webhook(), attempt({ number: 13, startedAt, durationMs: 5000 }), 0)
    assert.deepStrictEqual([after.delivery.nextAttemptAt, after.webhook.pausedAt], [start + day, null])
  })

  it.prop("a whole history ends delivered, exhausted or held, and the webhook's other fields stay", {
    outcomes: upTo(Schema.Literals(["delivered", "status", "timeout", "status", "status", "status"]), 14),
    jitter: between(0, 9999),
    otherSuccess: Schema.NullOr(between(-day, day))
  }, (_) => {
    let one: Delivery = delivery()
    let hook = webhook({ health: health({ lastSuccessAt: _.otherSuccess === null ? null : start + _.otherSuccess }) })
    let [at, count] = [start, 0]
    for (const outcome of [..._.outcomes, ...Array.from({ length: 14 }, () => "status" as const)]) {
      if (!isOpen(one) || hook.pausedAt !== null) break
      at = Math.max(at, one.nextAttemptAt!)
      count++
      const moved = afterAttempt(one, hook, attempt({ number: count, startedAt: at, outcome }), _.jitter / 10_000)
      one = moved.delivery
      hook = moved.webhook
      at += second
      assert.deepStrictEqual([one.attemptCount, one.roundAttempts], [count, count])
      assert.strictEqual(one.firstAttemptAt, start)
      assert.strictEqual(one.lastAttemptAt, at)
      assert.strictEqual(one.completedAt !== null, one.status !== "pending")
      assert.strictEqual(one.nextAttemptAt === null, one.status !== "pending")
    }
    const succeeded = _.outcomes.slice(0, count).includes("delivered")
    if (succeeded) assert.strictEqual(one.status, "delivered")
    else {
      const others = _.otherSuccess !== null && _.otherSuccess >= 0
      assert.strictEqual(statusShown(one, hook), others ? "exhausted" : "held")
      assert.strictEqual(one.lastAttemptAt, start + day + second)
      assert.strictEqual(hook.pausedAt, others ? null : start + day + second)
    }
    assert.deepStrictEqual({ ...hook, pausedAt: null, health: health() }, webhook())
  }, checks)
})

describe("a new round of a delivery", () => {
  const tried = { attemptCount: 9, roundAttempts: 9, firstAttemptAt: start - day, lastAttemptAt: start - hour }
  const anew = {
    status: "pending",
    trigger: "manual",
    roundAttempts: 0,
    firstAttemptAt: null,
    nextAttemptAt: start,
    completedAt: null
  } as const

  it.each(["delivered", "exhausted", "skipped"] as const)("a %s delivery starts over, out of its order", (status) => {
    const before = delivery({ ...tried, status, nextAttemptAt: null, completedAt: start - hour })
    assert.deepStrictEqual(newRound(before, "manual", start), { ...before, ...anew, orderKey: null, sequence: null })
  })

  it("a new round of the first delivery of an order keeps its place", () => {
    const before = delivery({ ...tried, nextAttemptAt: start + hour })
    assert.deepStrictEqual(newRound(before, "replay", start), { ...before, ...anew, trigger: "replay" })
  })

  it("a new round of a delivery that waits for another leaves its order", () => {
    const before = delivery({ nextAttemptAt: null, sequence: 2 })
    assert.deepStrictEqual(newRound(before, "manual", start), { ...before, ...anew, orderKey: null, sequence: null })
  })
})

describe("a test", () => {
  const test = delivery({ trigger: "test", orderKey: null, sequence: null, nextAttemptAt: null })

  it.each(failures)("a test that failed (%s) is over, and leaves the webhook as it was", (outcome) => {
    const before = webhook({ health: health({ consecutiveFailures: 4, failuresSince: start }) })
    const after = afterAttempt(test, before, attempt({ trigger: "test", outcome }), 0)
    assert.deepStrictEqual(after, {
      delivery: {
        ...test,
        status: "exhausted",
        attemptCount: 1,
        roundAttempts: 1,
        firstAttemptAt: start,
        lastAttemptAt: ended,
        completedAt: ended
      },
      webhook: before
    })
  })

  it("a test that got 200 counts like any success, and does not end a pause", () => {
    const before = webhook({ pausedAt: start, health: health({ consecutiveFailures: 7, failuresSince: start }) })
    const after = afterAttempt({ ...test, trigger: "probe" }, before, { ...good, trigger: "probe" }, 0)
    assert.strictEqual(after.delivery.status, "delivered")
    assert.deepStrictEqual(after.webhook, {
      ...before,
      health: health({ lastSuccessAt: ended, slowAt: ended, lastAttemptAt: ended, recoveredAt: ended })
    })
  })

  it("a test is never held", () => {
    assert.strictEqual(statusShown(test, { pausedAt: start }), "pending")
  })
})

describe("what the dashboard shows", () => {
  it.each<[Delivery["status"], number | null, string]>([
    ["pending", null, "pending"],
    ["pending", start, "held"],
    ["pending", 0, "held"],
    ["delivered", start, "delivered"],
    ["exhausted", start, "exhausted"],
    ["skipped", start, "skipped"],
    ["skipped", null, "skipped"]
  ])("%s, paused at %s: %s", (status, pausedAt, shown) => {
    assert.strictEqual(statusShown(delivery({ status }), { pausedAt }), shown)
    assert.strictEqual(isOpen(delivery({ status })), status === "pending")
  })
})

describe("the line of waiting deliveries", () => {
  const tried = { attemptCount: 2, roundAttempts: 2, firstAttemptAt: start, lastAttemptAt: start + minute }
  const retry = { ...tried, nextAttemptAt: start + hour }

  it.each<[string, Partial<Delivery>, number | null, string, number | null]>([
    ["never resumed, untried", { nextAttemptAt: start }, null, "fresh", start],
    ["never resumed, tried", retry, null, "retry", start + hour],
    ["untried, recorded before the resume", { nextAttemptAt: start }, start + 1, "backlog", start],
    ["untried, recorded in its millisecond", { nextAttemptAt: start }, start, "fresh", start],
    ["tried before the resume", retry, start + 2 * minute, "backlog", start],
    ["tried since the resume", retry, start, "retry", start + hour],
    ["behind a predecessor", { nextAttemptAt: null }, start + 1, "fresh", null],
    ["asked for by a person", { trigger: "manual", nextAttemptAt: start }, null, "fresh", start],
    ["asked for by a job", { trigger: "replay", nextAttemptAt: start }, null, "backlog", start],
    ["asked for by a job, and tried", { ...retry, trigger: "replay" }, null, "retry", start + hour]
  ])("%s", (_, fields, resumedAt, expected, at) => {
    const of = webhook({ resumedAt })
    assert.strictEqual(line(delivery(fields), of), expected)
    assert.strictEqual(place(delivery(fields), of), at)
  })

  it("a delivery tried before a resume is due with it, and its next attempt begins a round", () => {
    const of = webhook({ resumedAt: start + 2 * minute })
    assert.strictEqual(dueAt(delivery(retry), of), start + minute)
    const after = afterAttempt(delivery(retry), of, attempt({ number: 3, startedAt: start + 3 * minute }), 0)
    assert.deepStrictEqual(
      [after.delivery.attemptCount, after.delivery.roundAttempts, after.delivery.firstAttemptAt],
      [3, 1, start + 3 * minute]
    )
  })
})

describe("whether a delivery may pause its webhook", () => {
  const tried = { attemptCount: 2, roundAttempts: 2, firstAttemptAt: start, lastAttemptAt: start + minute }

  it.each<[string, Partial<Delivery>, number | null, number | null, boolean]>([
    ["untried", {}, null, null, false],
    ["tried, and nothing ever succeeded", tried, null, null, true],
    ["tried, and the last success was before T0", tried, start - 1, null, true],
    ["tried, and something succeeded in the millisecond of T0", tried, start, null, false],
    ["tried, and something succeeded since T0", tried, start + 1, null, false],
    ["tried since the resume", tried, null, start - 1, true],
    ["tried in the millisecond of the resume", tried, null, start, true],
    ["tried before the resume", tried, null, start + 1, false],
    ["untried in a new round", { ...tried, roundAttempts: 0, firstAttemptAt: null }, null, null, false]
  ])("%s", (_, fields, lastSuccessAt, resumedAt, expected) => {
    assert.strictEqual(mayPause(delivery(fields), webhook({ resumedAt, health: health({ lastSuccessAt }) })), expected)
  })
})

describe("whether a failing webhook takes a delivery before all others", () => {
  const tried = { roundAttempts: 2, firstAttemptAt: start }
  const failing = { consecutiveFailures: WebhookHealth.failingAfter, failuresSince: start }
  const end = start + 24 * hour

  it.each<
    [string, Pick<Delivery, "roundAttempts" | "firstAttemptAt">, Partial<WebhookHealth.WebhookHealth>, number, boolean]
  >([
    ["its round is over", tried, failing, end, true],
    ["its round is not over", tried, failing, end - 1, false],
    ["untried", { roundAttempts: 0, firstAttemptAt: null }, failing, end, false],
    ["something succeeded since T0", tried, { ...failing, lastSuccessAt: start + 1 }, end, false],
    ["not failing", tried, { ...failing, consecutiveFailures: WebhookHealth.failingAfter - 1 }, end, false]
  ])("%s", (_, fields, healthFields, now, expected) => {
    assert.strictEqual(endsRound(fields, webhook({ health: health(healthFields) }), now), expected)
  })
})

describe("when a delivery may be claimed", () => {
  const waiting = {
    attemptCount: 7,
    roundAttempts: 7,
    firstAttemptAt: start - hour,
    lastAttemptAt: start,
    nextAttemptAt: start + 4 * hour
  }

  it.each<[string, Partial<Delivery>, number | null, number | null]>([
    ["a first attempt", { nextAttemptAt: start }, null, start],
    ["a first attempt after a recovery", { nextAttemptAt: start }, start + 5, start],
    ["behind a predecessor", { nextAttemptAt: null }, start + 5, null],
    ["a retry", waiting, null, start + 4 * hour],
    ["a retry whose receiver recovered since", waiting, start + minute, start + minute],
    ["a retry that failed in the millisecond of the recovery", waiting, start, start + 4 * hour],
    ["a retry that failed just before the recovery", waiting, start + 1, start + 1],
    ["a retry that failed after the recovery", waiting, start - 1, start + 4 * hour],
    ["a retry that was due before the recovery", waiting, start + 9 * hour, start + 4 * hour],
    ["a new round whose receiver recovered since", { ...waiting, roundAttempts: 0 }, start + minute, start + 4 * hour],
    ["delivered", { ...waiting, status: "delivered" }, start + minute, null],
    ["exhausted", { ...waiting, status: "exhausted" }, start + minute, null],
    ["skipped", { ...waiting, status: "skipped" }, start + minute, null]
  ])("%s", (_, fields, recoveredAt, due) => {
    assert.strictEqual(dueAt(delivery(fields), webhook({ health: health({ recoveredAt }) })), due)
  })

  it.prop("a recovery never delays a delivery", {
    lastAttemptAt: Schema.NullOr(between(start, start + hour)),
    nextAttemptAt: between(start, start + 5 * hour),
    recoveredAt: between(start, start + 5 * hour),
    roundAttempts: between(0, 2)
  }, ({ recoveredAt, ...fields }) => {
    const due = dueAt(delivery(fields), webhook({ health: health({ recoveredAt }) }))!
    assert.isAtMost(due, fields.nextAttemptAt)
    if (due < fields.nextAttemptAt) {
      assert.strictEqual(due, recoveredAt)
      assert.isAbove(fields.roundAttempts, 0)
      assert.isNotNull(fields.lastAttemptAt)
      assert.isBelow(fields.lastAttemptAt!, recoveredAt)
    }
  }, checks)
})

describe("what is kept of an attempt's response", () => {
  const response = { headers: { server: "x" }, body: "thanks" }
  /** One that no sample has. */
  const routine = { ...good, id: id("att", 1), response }

  it("a success at a healthy webhook keeps everything but the response", () => {
    assert.deepStrictEqual(recordedAttempt(routine, "healthy"), { ...routine, response: null })
  })

  it("one success in 32 keeps its response, by its id", () => {
    const ids = Array.from({ length: crockford.length }, (_, n) => `att_${"0".repeat(25)}${crockford[n]!}` as const)
    const responses = ids.map((id) => recordedAttempt({ ...routine, id: id as typeof routine.id }, "healthy").response)
    assert.deepStrictEqual(responses, [response, ...Array(31).fill(null)])
  })

  it.each(failures)("a response of an attempt that failed as %s is kept", (outcome) => {
    const failed = { ...routine, outcome }
    assert.strictEqual(recordedAttempt(failed, "healthy"), failed)
  })

  it.each(["manual", "replay", "test", "probe"] as const)(
    "a response that a person asked for (%s) is kept",
    (trigger) => {
      const asked = { ...routine, trigger }
      assert.strictEqual(recordedAttempt(asked, "healthy"), asked)
    }
  )

  it("the response that ends failures is kept, and those of a webhook that is not known to be healthy", () => {
    const second = { ...routine, number: 2 }
    assert.strictEqual(recordedAttempt(second, "healthy"), second)
    assert.strictEqual(recordedAttempt(routine, "doubtful"), routine)
  })
})
