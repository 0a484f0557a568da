/**
 * Conformance of `DeliveryStore`: deliveries that a person retries.
 */
import { assert } from "@effect/vitest"
import { DeliveryStore, type Id, type Time, WebhookStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as DeliveryFixture from "./DeliveryFixture.ts"

const { claim, claimOne, complete, record, tryOne, view, views } = DeliveryFixture
const { day, hour, minute, putWebhook, second, world } = Fixture

const retry = ({ workspace }: Fixture.World, id: Id.DeliveryId, now: Time.Instant) =>
  Effect.map(DeliveryStore.DeliveryStore.use((store) => store.retry(workspace.id, id, now)), Option.getOrThrow)

/** A webhook with one recorded event. */
const withEvent = Effect.gen(function*() {
  const own = yield* world()
  yield* putWebhook(own)
  yield* record(own, 1)
  return own
})

/** A webhook with two events of one message. */
const withMessage = Effect.gen(function*() {
  const own = yield* world()
  yield* putWebhook(own)
  const { messageId } = yield* MessageFixture.sent(own, { now: own.start })
  yield* MessageFixture.report({ status: "delivered", at: own.start, reference: messageId })
  const [first, second] = (yield* views(own)).map(({ delivery }) => delivery)
  return { own, messageId, first: first!, second: second! }
})

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a list of a message's deliveries contains those that were retried after they had ended", () =>
    Effect.gen(function*() {
      const { first, messageId, own } = yield* withMessage
      yield* tryOne(own, { startedAt: own.start, outcome: "delivered" })
      const { delivery } = yield* retry(own, first.id, own.start + hour)
      // it is not in the message's order any more
      assert.isNull(delivery.orderKey)
      const listed = yield* views(own, { messageId })
      assert.deepStrictEqual(
        listed.map(({ delivery: { id } }) => id),
        (yield* views(own)).map(({ delivery: { id } }) => id)
      )
    }))

  it.effect("a delivered event is attempted again with the same body, under the next number", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const before = yield* tryOne(own, { startedAt: own.start, outcome: "delivered" })
      const { delivery: ended } = yield* view(own, before.claimed.delivery.id)
      const at = own.start + hour
      const retried = yield* retry(own, ended.id, at)
      assert.deepStrictEqual(retried.delivery, {
        ...ended,
        status: "pending",
        trigger: "manual",
        roundAttempts: 0,
        firstAttemptAt: null,
        nextAttemptAt: at,
        completedAt: null
      })
      assert.strictEqual(retried.status, "pending")
      const { attempt, claimed } = yield* tryOne(own, { startedAt: at, outcome: "delivered" })
      assert.deepStrictEqual(claimed.event, before.claimed.event)
      assert.deepStrictEqual([attempt.number, attempt.trigger], [2, "manual"])
      const shown = yield* view(own, ended.id)
      assert.deepStrictEqual(shown.attempts, [before.attempt, attempt])
      assert.deepStrictEqual(
        [shown.status, shown.delivery.attemptCount, shown.delivery.roundAttempts, shown.delivery.firstAttemptAt],
        ["delivered", 2, 1, at]
      )
    }))

  it.effect("a manual retry restarts the retry schedule and its 24 hours", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      let at = own.start
      for (const delay of [second, 5 * second, 25 * second]) {
        yield* tryOne(own, { startedAt: at, durationMs: 0 })
        at += delay
      }
      const [{ delivery }] = (yield* views(own)) as [DeliveryStore.ListedDelivery]
      const begun = own.start + 10 * second
      yield* retry(own, delivery.id, begun)
      at = begun
      const delays = [second, 5 * second, 25 * second, 2 * minute, 10 * minute, 50 * minute]
      for (const delay of delays) {
        yield* tryOne(own, { startedAt: at, durationMs: 0 })
        assert.deepStrictEqual((yield* claim(own, { now: at + delay - 1 })).deliveries, [])
        at += delay
      }
      yield* tryOne(own, { startedAt: begun + day - minute, durationMs: 0 })
      yield* tryOne(own, { startedAt: begun + day, durationMs: 0 })
      const shown = yield* view(own, delivery.id)
      assert.deepStrictEqual(
        [shown.status, shown.delivery.attemptCount, shown.delivery.roundAttempts, shown.delivery.firstAttemptAt],
        ["held", 11, 8, begun]
      )
      assert.deepStrictEqual(shown.attempts.map(({ number }) => number), Array.from({ length: 11 }, (_, i) => i + 1))
    }))

  it.effect("while the webhook is failing, a new round comes before retries", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 6)
      const { deliveries, token } = yield* claim(own, { now: own.start + second })
      const [done, ...failed] = deliveries
      yield* complete({ ...done!, token }, { startedAt: own.start + second, outcome: "delivered" })
      for (const one of failed) yield* complete({ ...one, token }, { startedAt: own.start + second })
      const at = own.start + minute
      yield* retry(own, done!.delivery.id, at)
      assert.strictEqual((yield* claimOne(own, { now: at })).delivery.id, done!.delivery.id)
    }))

  it.effect("a delivery in flight is not attempted twice concurrently", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const failing = yield* claimOne(own, { now: own.start })
      yield* retry(own, failing.delivery.id, own.start + second)
      assert.deepStrictEqual((yield* claim(own, { now: own.start + second })).deliveries, [])
      // the attempt in flight is the first of the round
      const { recorded } = yield* complete(failing, { startedAt: own.start, durationMs: 2 * second })
      assert.isTrue(recorded)
      const { delivery } = yield* view(own, failing.delivery.id)
      assert.deepStrictEqual(
        [delivery.attemptCount, delivery.roundAttempts, delivery.firstAttemptAt, delivery.nextAttemptAt],
        [1, 1, own.start, own.start + 3 * second]
      )
      const next = yield* claimOne(own, { now: own.start + 3 * second })
      yield* retry(own, next.delivery.id, own.start + 4 * second)
      yield* complete(next, { startedAt: own.start + 3 * second, outcome: "delivered" })
      assert.strictEqual((yield* view(own, next.delivery.id)).status, "delivered")
      assert.deepStrictEqual((yield* claim(own, { now: own.start + day })).deliveries, [])
    }))

  it.effect("a delivery whose claimer is gone is due again when the lease ends", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const lost = yield* claimOne(own, { now: own.start })
      yield* retry(own, lost.delivery.id, own.start + second)
      const end = own.start + DeliveryFixture.lease
      assert.deepStrictEqual((yield* claim(own, { now: end - 1 })).deliveries, [])
      assert.strictEqual((yield* claimOne(own, { now: end })).delivery.trigger, "manual")
    }))

  it.effect("a retried delivery is held while the webhook is paused", () =>
    Effect.gen(function*() {
      const own = yield* withEvent
      const { claimed } = yield* tryOne(own, { startedAt: own.start })
      yield* tryOne(own, { startedAt: own.start + day })
      const { status } = yield* retry(own, claimed.delivery.id, own.start + 2 * day)
      assert.strictEqual(status, "held")
      assert.deepStrictEqual((yield* claim(own, { now: own.start + 3 * day })).deliveries, [])
    }))

  it.effect("a retried delivery that had ended neither delays its message's events nor waits for them", () =>
    Effect.gen(function*() {
      const { first, messageId, own, second: next } = yield* withMessage
      yield* tryOne(own, { startedAt: own.start, outcome: "delivered" })
      yield* tryOne(own, { startedAt: own.start + second })
      const retried = yield* retry(own, first.id, own.start + minute)
      assert.deepStrictEqual([retried.delivery.orderKey, retried.delivery.sequence], [null, null])
      yield* MessageFixture.report({ status: "read", at: own.start + minute, reference: messageId })
      const { deliveries, token } = yield* claim(own, { now: own.start + minute })
      assert.sameMembers(deliveries.map(({ delivery }) => delivery.id), [first.id, next.id])
      const [one, other] = deliveries[0]!.delivery.id === first.id ? deliveries : deliveries.toReversed()
      assert.deepStrictEqual([one!.event.orderKey, one!.event.sequence], [messageId, 1])
      // its end frees nothing
      yield* complete({ ...one!, token }, { startedAt: own.start + minute, outcome: "delivered" })
      assert.deepStrictEqual((yield* claim(own, { now: own.start + minute + second })).deliveries, [])
      yield* complete({ ...other!, token }, {
        startedAt: own.start + minute,
        outcome: "delivered",
        now: own.start + hour
      })
      assert.strictEqual((yield* claimOne(own, { now: own.start + hour })).event.type, "message.read")
    }))

  it.effect("a delivery that waits for another is attempted anyway, and the first one keeps its place", () =>
    Effect.gen(function*() {
      const { first, messageId, own, second: next } = yield* withMessage
      yield* MessageFixture.report({ status: "read", at: own.start, reference: messageId })
      yield* tryOne(own, { startedAt: own.start, durationMs: 0 })
      yield* retry(own, next.id, own.start)
      const { claimed } = yield* tryOne(own, { startedAt: own.start, outcome: "delivered", durationMs: 0 })
      assert.strictEqual(claimed.delivery.id, next.id)
      // the retry brought nothing forward
      assert.deepStrictEqual((yield* claim(own, { now: own.start + second - 1 })).deliveries, [])
      const retried = yield* retry(own, first.id, own.start)
      assert.deepStrictEqual([retried.delivery.orderKey, retried.delivery.sequence], [messageId, 1])
      const again = yield* claimOne(own, { now: own.start })
      assert.strictEqual(again.delivery.id, first.id)
      yield* complete(again, { startedAt: own.start, outcome: "delivered", now: own.start + second })
      assert.strictEqual((yield* claimOne(own, { now: own.start + second })).event.type, "message.read")
    }))

  it.effect("of a retry and the end of an attempt, whichever comes first, nothing is lost or done twice", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 16)
      const { deliveries, token } = yield* claim(own, { now: own.start + second })
      assert.strictEqual(deliveries.length, 16)
      const at = own.start + minute
      yield* Effect.forEach(
        deliveries.flatMap((one) => [
          Effect.asVoid(complete({ ...one, token }, { startedAt: own.start + second, outcome: "delivered" })),
          Effect.asVoid(retry(own, one.delivery.id, at))
        ]),
        (step) => step,
        { concurrency: "unbounded" }
      )
      const after = (yield* views(own)).map(({ delivery }) => delivery)
      for (const { attemptCount, nextAttemptAt, roundAttempts, status, trigger } of after) {
        assert.strictEqual(trigger, status === "delivered" || status === "pending" ? "manual" : status)
        assert.deepStrictEqual(
          [attemptCount, roundAttempts, nextAttemptAt],
          status === "delivered" ? [1, 1, null] : [1, 0, at]
        )
      }
      const waiting = after.filter(({ status }) => status === "pending").map(({ id }) => id)
      const again = yield* claim(own, { now: at })
      assert.sameMembers(again.deliveries.map(({ delivery }) => delivery.id), waiting)
    }))

  it.effect("a retried delivery that a resume had skipped delays none of its message's events", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own, { pausedAt: own.start })
      const { messageId } = yield* MessageFixture.sent(own, { now: own.start })
      yield* MessageFixture.report({ status: "delivered", at: own.start + hour, reference: messageId })
      const [skipped, next] = (yield* views(own)).map(({ delivery }) => delivery)
      const now = own.start + 2 * hour
      yield* WebhookStore.WebhookStore.use((store) =>
        store.resume({ workspaceId: own.workspace.id, now, replay: { since: own.start + minute } })
      )
      assert.strictEqual((yield* view(own, skipped!.id)).status, "skipped")
      const retried = yield* retry(own, skipped!.id, now)
      assert.deepStrictEqual([retried.status, retried.delivery.orderKey], ["pending", null])
      const first = yield* claim(own, { now })
      const more = yield* claim(own, { now: now + second })
      assert.sameMembers(
        [...first.deliveries, ...more.deliveries].map(({ delivery }) => delivery.id),
        [skipped!.id, next!.id]
      )
    }))

  it.effect("deliveries of another workspace, of a removed webhook and of tests cannot be retried", () =>
    Effect.gen(function*() {
      const store = yield* DeliveryStore.DeliveryStore
      const own = yield* withEvent
      const other = yield* world({ start: own.start })
      yield* putWebhook(other)
      const { claimed } = yield* tryOne(own, { startedAt: own.start, outcome: "delivered" })
      const { id } = claimed.delivery
      assert.deepStrictEqual(yield* store.retry(other.workspace.id, id, own.start), Option.none())
      assert.deepStrictEqual(
        yield* store.retry(own.workspace.id, yield* Fixture.id("dlv"), own.start),
        Option.none()
      )
      yield* record(own, 1, own.start + second)
      yield* WebhookStore.WebhookStore.use((webhooks) => webhooks.remove(own.workspace.id, own.start + second))
      const gone = yield* views(own)
      assert.deepStrictEqual(gone.map(({ status }) => status), ["delivered", "skipped"])
      for (const { delivery } of gone) {
        assert.deepStrictEqual(yield* store.retry(own.workspace.id, delivery.id, own.start + minute), Option.none())
      }
      // nor if there is a new webhook
      yield* putWebhook(own)
      for (const { delivery } of gone) {
        assert.deepStrictEqual(yield* store.retry(own.workspace.id, delivery.id, own.start + minute), Option.none())
      }
      assert.deepStrictEqual(yield* views(own), gone)
      const test = yield* DeliveryFixture.beginTest(own, { now: own.start + minute })
      yield* complete(test, { startedAt: own.start + minute, outcome: "delivered" })
      assert.deepStrictEqual(yield* store.retry(own.workspace.id, test.delivery.id, own.start + hour), Option.none())
    }))
}
