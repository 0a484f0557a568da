/**
 * Conformance of `DeliveryStore`: what an attempt changes in its delivery and its webhook.
 */
import { assert } from "@effect/vitest"
import { type Delivery, DeliveryStore, Event, EventStore, RetrySchedule, WebhookStore } from "@wac/core"
import { Duration, Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as DeliveryFixture from "./DeliveryFixture.ts"

const { claim, claimOne, complete, durationMs, record, tryOne, view } = DeliveryFixture
const { day, hour, minute, putWebhook, second, world } = Fixture

const webhookOf = ({ workspace }: Fixture.World) =>
  Effect.map(WebhookStore.WebhookStore.use((store) => store.get(workspace.id)), Option.getOrThrow)

const healthOf = (own: Fixture.World) => Effect.map(webhookOf(own), ({ webhook }) => webhook.health)

const listed = ({ workspace }: Fixture.World, status: Delivery.DeliveryStatus) =>
  Effect.map(
    DeliveryStore.DeliveryStore.use((store) => store.list(workspace.id, { status }, { limit: 100, after: null })),
    ({ items }) => items.map(({ delivery }) => delivery.id)
  )

/** A workspace with a webhook and one event, recorded at the start. */
const withEvent = Effect.gen(function*() {
  const own = yield* world()
  yield* putWebhook(own)
  yield* record(own, 1)
  return own
})

/** An attempt whose response has `Retry-After`. */
const asksFor = (retryAfter: Duration.Duration) => ({ attempt: { statusCode: 503, retryAfter } })

const untimed = { lookupMs: 0, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null }

const unanswered = { statusCode: null, timings: untimed, response: null }

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a success ends the delivery, and the attempt is stored with every field", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const { attempt, claimed } = yield* tryOne(own, {
        startedAt: own.start + second,
        outcome: "delivered",
        durationMs: 321,
        attempt: {
          message: "answered 200",
          response: { headers: { "content-type": "text/html; charset=utf-8", "x-empty": "" }, body: "ok\n\u{1F44D}" }
        }
      })
      const endedAt = own.start + second + 321
      assert.deepStrictEqual(yield* view(own, claimed.delivery.id), {
        delivery: {
          ...claimed.delivery,
          status: "delivered",
          attemptCount: 1,
          roundAttempts: 1,
          firstAttemptAt: own.start + second,
          lastAttemptAt: endedAt,
          nextAttemptAt: null,
          completedAt: endedAt
        },
        status: "delivered",
        webhook: { id: claimed.delivery.webhookId, pausedAt: null },
        customer: Event.customerOf(claimed.event),
        lastAttempt: { outcome: "delivered", statusCode: 200 },
        attempts: [attempt]
      })
      assert.deepStrictEqual(yield* healthOf(own), {
        consecutiveFailures: 0,
        failuresSince: null,
        lastFailure: null,
        lastSuccessAt: endedAt,
        slowAt: null,
        lastAttemptAt: endedAt,
        recoveredAt: null
      })
      assert.deepStrictEqual((yield* claim(own, { now: own.start + 25 * day })).deliveries, [])
    }))

  it.effect("a failure schedules the next attempt and counts against the webhook", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const failure = {
        outcome: "connect",
        attempt: { statusCode: null, message: "connection refused", response: null }
      } as const
      const { attempt, claimed } = yield* tryOne(own, { startedAt: own.start + 7, ...failure })
      const endedAt = own.start + 7 + durationMs
      const shown = yield* view(own, claimed.delivery.id)
      assert.deepStrictEqual(shown.delivery, {
        ...claimed.delivery,
        attemptCount: 1,
        roundAttempts: 1,
        firstAttemptAt: own.start + 7,
        lastAttemptAt: endedAt,
        nextAttemptAt: endedAt + second
      })
      assert.deepStrictEqual([shown.status, shown.attempts], ["pending", [attempt]])
      assert.deepStrictEqual(yield* healthOf(own), {
        consecutiveFailures: 1,
        failuresSince: endedAt,
        lastFailure: { at: endedAt, message: "connection refused" },
        lastSuccessAt: own.start - 30 * day,
        slowAt: null,
        lastAttemptAt: endedAt,
        recoveredAt: null
      })
      assert.deepStrictEqual((yield* claim(own, { now: endedAt + second - 1 })).deliveries, [])
      const retry = yield* claimOne(own, { now: endedAt + second })
      assert.deepStrictEqual(retry.delivery, shown.delivery)
    }))

  it.effect("attempts are listed by number, with every kind of outcome", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const ends = [
        { outcome: "dns", attempt: { ...unanswered, message: "no such host", address: null } },
        { outcome: "connect", attempt: { ...unanswered, message: "refused", address: "2001:db8::1" } },
        { outcome: "tls", attempt: { ...unanswered, message: "certificate expired" } },
        {
          outcome: "timeout",
          attempt: { statusCode: 200, message: "did not end", timings: { ...untimed, bodyMs: 9 } }
        },
        { outcome: "redirect", attempt: { statusCode: 302, message: "answered 302; not followed" } },
        {
          outcome: "blocked_address",
          attempt: { ...unanswered, message: "10.0.0.1", url: "https://moved.example/", address: null, timings: null }
        },
        { outcome: "status", attempt: { statusCode: 503, retryAfter: Duration.minutes(2) } },
        { outcome: "delivered" }
      ] as const
      const made: Array<Delivery.Attempt> = []
      let at = own.start
      let id: Delivery.Delivery["id"] | undefined
      for (const end of ends) {
        const { attempt, claimed } = yield* tryOne(own, { startedAt: at, ...end })
        made.push(attempt)
        id = claimed.delivery.id
        at = (yield* view(own, id)).delivery.nextAttemptAt ?? at
      }
      const { attempts, delivery, status } = yield* view(own, id!)
      assert.deepStrictEqual(attempts.map(({ number }) => number), [1, 2, 3, 4, 5, 6, 7, 8])
      assert.deepStrictEqual(attempts, made)
      assert.deepStrictEqual([status, delivery.attemptCount], ["delivered", 8])
    }))

  it.effect("without jitter the retries follow the schedule to the millisecond, and the last one pauses the webhook", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const lastAt = own.start + day
      const delays = [1, 5, 25, 120, 600, 3000, 15_000, 15_000, 15_000, 15_000, 15_000].map((s) => s * second)
      let at = own.start
      for (const delay of delays) {
        const { claimed } = yield* tryOne(own, { startedAt: at })
        at += durationMs + delay
        assert.strictEqual((yield* view(own, claimed.delivery.id)).delivery.nextAttemptAt, at)
        const early = yield* claim(own, { now: at - 1 })
        assert.deepStrictEqual([early.deliveries.length, early.nextDueAt], [0, at])
      }
      // one more full delay would exceed the 24 hours
      const { claimed } = yield* tryOne(own, { startedAt: at, jitter: 0.99 })
      assert.strictEqual((yield* view(own, claimed.delivery.id)).delivery.nextAttemptAt, lastAt)
      assert.deepStrictEqual((yield* claim(own, { now: lastAt - 1 })).deliveries, [])
      assert.strictEqual((yield* webhookOf(own)).webhook.pausedAt, null)

      yield* tryOne(own, { startedAt: lastAt })
      const { attempts, delivery, status, webhook } = yield* view(own, claimed.delivery.id)
      assert.strictEqual(attempts.length, 13)
      assert.deepStrictEqual([status, delivery.status, delivery.attemptCount], ["held", "pending", 13])
      assert.deepStrictEqual([delivery.completedAt, delivery.firstAttemptAt], [null, own.start])
      assert.strictEqual(webhook.pausedAt, lastAt + durationMs)
    }))

  it.effect("jitter lengthens a delay by up to a tenth", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const expected = [1100, 5500, 27_500, 132_000, 660_000]
      let at = own.start
      for (const delay of expected) {
        const { claimed } = yield* tryOne(own, { startedAt: at, durationMs: 0, jitter: 0.999999999 })
        at += delay
        assert.strictEqual((yield* view(own, claimed.delivery.id)).delivery.nextAttemptAt, at)
      }
      const { claimed } = yield* tryOne(own, { startedAt: at, durationMs: 0, jitter: 0.5 })
      assert.strictEqual((yield* view(own, claimed.delivery.id)).delivery.nextAttemptAt, at + 3_150_000)
    }))

  it.effect("Retry-After lengthens a delay up to an hour, never shortens it, and never passes the last attempt", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const nextAfter = (startedAt: number, retryAfter: Duration.Duration) =>
        Effect.gen(function*() {
          const { claimed } = yield* tryOne(own, { startedAt, durationMs: 0, ...asksFor(retryAfter) })
          return (yield* view(own, claimed.delivery.id)).delivery.nextAttemptAt
        })
      let at = own.start
      const asked = [
        [Duration.seconds(30), 30 * second],
        [Duration.seconds(1), 5 * second],
        [Duration.hours(7), hour],
        [Duration.minutes(2), 2 * minute]
      ] as const
      for (const [retryAfter, expected] of asked) {
        assert.strictEqual(yield* nextAfter(at, retryAfter), at + expected)
        at += expected
      }
      const late = own.start + day - minute
      assert.strictEqual(yield* nextAfter(late, Duration.hours(1)), own.start + day)
    }))

  it.effect("the last attempt takes place even if it is late", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      yield* tryOne(own, { startedAt: own.start })
      const late = own.start + 3 * day
      const { claimed } = yield* tryOne(own, { startedAt: late, outcome: "delivered" })
      const { delivery } = yield* view(own, claimed.delivery.id)
      assert.deepStrictEqual([delivery.status, delivery.attemptCount], ["delivered", 2])
    }))

  it.effect("a delivery's 24 hours begin with its first attempt, not with its event", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const first = own.start + 2 * day
      yield* tryOne(own, { startedAt: first })
      const { claimed } = yield* tryOne(own, { startedAt: first + day - 1 })
      assert.strictEqual((yield* view(own, claimed.delivery.id)).delivery.nextAttemptAt, first + day)
      assert.strictEqual((yield* webhookOf(own)).webhook.pausedAt, null)
    }))

  it.effect("after 24 hours without any success the webhook is paused and everything open is held", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      yield* tryOne(own, { startedAt: own.start })
      const { messageId } = yield* MessageFixture.sent(own, { now: own.start + hour })
      yield* MessageFixture.report({ status: "delivered", at: own.start + hour, reference: messageId })
      const last = yield* claim(own, { now: own.start + day, limit: 1 })
      const [held] = last.deliveries
      yield* complete({ ...held!, token: last.token }, { startedAt: own.start + day })
      const pausedAt = own.start + day + durationMs
      const state = yield* webhookOf(own)
      assert.strictEqual(state.webhook.pausedAt, pausedAt)
      assert.deepStrictEqual([state.heldCount, state.oldestHeldAt], [3, own.start])
      assert.deepStrictEqual((yield* claim(own, { now: pausedAt + day })).deliveries, [])
      assert.strictEqual((yield* listed(own, "held")).length, 3)
      assert.deepStrictEqual(yield* listed(own, "pending"), [])
      const shown = yield* view(own, held!.delivery.id)
      assert.deepStrictEqual(
        [shown.status, shown.delivery.nextAttemptAt, shown.delivery.completedAt],
        ["held", pausedAt, null]
      )
      // events from now on are recorded and held
      yield* record(own, 1, pausedAt + hour)
      assert.strictEqual((yield* webhookOf(own)).heldCount, 4)
      assert.deepStrictEqual((yield* claim(own, { now: pausedAt + day })).deliveries, [])
    }))

  it.effect("if another attempt succeeded in those 24 hours, only this event is exhausted", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { messageId } = yield* MessageFixture.sent(own)
      const first = yield* tryOne(own, { startedAt: own.start })
      yield* MessageFixture.report({ status: "delivered", at: own.start + 1, reference: messageId })
      // a success that ends at the instant at which the failing one began counts
      yield* record(own, 1, own.start)
      const other = yield* claimOne(own, { now: own.start })
      yield* complete(other, { startedAt: own.start - 50, durationMs: 50, outcome: "delivered" })

      const last = yield* tryOne(own, { startedAt: own.start + day })
      const endedAt = own.start + day + durationMs
      const shown = yield* view(own, first.claimed.delivery.id)
      assert.deepStrictEqual(
        [shown.status, shown.delivery.completedAt, shown.delivery.nextAttemptAt, last.attempt.number],
        ["exhausted", endedAt, null, 2]
      )
      assert.strictEqual((yield* webhookOf(own)).webhook.pausedAt, null)
      // its successor is now due
      const next = yield* claimOne(own, { now: endedAt })
      assert.deepStrictEqual([next.delivery.sequence, next.delivery.nextAttemptAt], [2, endedAt])
    }))

  it.effect("a success before the event's first attempt does not keep the webhook from being paused", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      yield* tryOne(own, { startedAt: own.start, outcome: "delivered" })
      const succeededAt = own.start + durationMs
      yield* record(own, 1, succeededAt + 1)
      yield* tryOne(own, { startedAt: succeededAt + 1 })
      yield* tryOne(own, { startedAt: succeededAt + 1 + day })
      assert.strictEqual((yield* webhookOf(own)).webhook.pausedAt, succeededAt + 1 + day + durationMs)
    }))

  it.effect("pausing one webhook does not affect others", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const other = yield* world({ start: own.start })
      yield* putWebhook(other)
      yield* tryOne(own, { startedAt: own.start })
      yield* tryOne(own, { startedAt: own.start + day })
      yield* record(other, 1, own.start + day)
      assert.strictEqual((yield* webhookOf(other)).webhook.pausedAt, null)
      yield* claimOne(other, { now: own.start + day })
    }))

  it.effect("five failures in a row make a webhook failing, and a success ends that and is recorded", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 6)
      const { deliveries, token } = yield* claim(own, { now: own.start + second, limit: 6 })
      for (let i = 0; i < 5; i++) {
        yield* complete({ ...deliveries[i]!, token }, { startedAt: own.start + (i + 1) * second })
      }
      const failed = yield* healthOf(own)
      assert.deepStrictEqual(failed, {
        consecutiveFailures: 5,
        failuresSince: own.start + second + durationMs,
        lastFailure: { at: own.start + 5 * second + durationMs, message: "answered 500; only 200 counts" },
        lastSuccessAt: own.start - 30 * day,
        slowAt: null,
        lastAttemptAt: own.start + 5 * second + durationMs,
        recoveredAt: null
      })
      yield* complete({ ...deliveries[5]!, token }, { startedAt: own.start + 7 * second, outcome: "delivered" })
      const recoveredAt = own.start + 7 * second + durationMs
      assert.deepStrictEqual(yield* healthOf(own), {
        ...failed,
        consecutiveFailures: 0,
        failuresSince: null,
        lastSuccessAt: recoveredAt,
        lastAttemptAt: recoveredAt,
        recoveredAt
      })
    }))

  it.effect("racing completions all count in the webhook's health", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 16)
      const { deliveries, token } = yield* claim(own, { now: own.start + second })
      assert.strictEqual(deliveries.length, 16)
      const results = yield* Effect.forEach(
        deliveries,
        (one) => complete({ ...one, token }, { startedAt: own.start + second }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(results.filter(({ recorded }) => !recorded), [])
      const health = yield* healthOf(own)
      assert.deepStrictEqual(
        [health.consecutiveFailures, health.failuresSince],
        [16, own.start + second + durationMs]
      )
    }))

  it.effect("of racing records of one attempt, exactly one counts", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const claimed = yield* claimOne(own, { now: own.start })
      const results = yield* Effect.all(
        Array.from({ length: 10 }, () => complete(claimed, { startedAt: own.start })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(results.filter(({ recorded }) => recorded).length, 1)
      const { attempts, delivery } = yield* view(own, claimed.delivery.id)
      assert.deepStrictEqual([attempts.length, delivery.attemptCount], [1, 1])
      assert.strictEqual((yield* healthOf(own)).consecutiveFailures, 1)
    }))

  it.effect("a record under another token, of an ended delivery, or of none, changes nothing", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const claimed = yield* claimOne(own, { now: own.start })
      const before = yield* view(own, claimed.delivery.id)
      const foreign = yield* complete({ ...claimed, token: "nobody's token" }, { startedAt: own.start })
      assert.isFalse(foreign.recorded)
      assert.deepStrictEqual(yield* view(own, claimed.delivery.id), before)
      assert.strictEqual((yield* healthOf(own)).consecutiveFailures, 0)
      yield* complete(claimed, { startedAt: own.start, outcome: "delivered" })
      const ended = yield* view(own, claimed.delivery.id)
      assert.isFalse((yield* complete(claimed, { startedAt: own.start + 1 })).recorded)
      assert.deepStrictEqual(yield* view(own, claimed.delivery.id), ended)
      const unknown = { ...claimed, delivery: { ...claimed.delivery, id: yield* Fixture.id("dlv") } }
      assert.isFalse((yield* complete(unknown, { startedAt: own.start })).recorded)
    }))

  it.effect("the body is the same at every attempt and wherever the event is read", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* MessageFixture.sent(own, { message: MessageFixture.template({ clientReference: "é \u2028 \"quoted\"" }) })
      const first = yield* tryOne(own, { startedAt: own.start })
      const second_ = yield* claimOne(own, { now: own.start + minute })
      const events = yield* EventStore.EventStore
      const read = Option.getOrThrow(yield* events.get(own.workspace.id, first.claimed.event.id))
      const { items } = yield* events.list(own.workspace.id, {}, { limit: 1, after: null })
      for (const envelope of Event.Envelope.literals) {
        const body = Event.body(first.claimed.event, envelope)
        assert.strictEqual(Event.body(second_.event, envelope), body)
        assert.strictEqual(Event.body(read, envelope), body)
        assert.strictEqual(Event.body(items[0]!, envelope), body)
      }
    }))

  it.effect("the schedule written in these tests is the one in force", () =>
    Effect.sync(() => {
      assert.deepStrictEqual(
        RetrySchedule.delays.map(Duration.toSeconds),
        [1, 5, 25, 120, 600, 3000, 15_000]
      )
    }))
}
