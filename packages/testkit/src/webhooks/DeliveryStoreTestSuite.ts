/**
 * Conformance of `DeliveryStore`: tests and probes of a webhook.
 */
import { assert } from "@effect/vitest"
import { DeliveryStore, EventStore, WebhookStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as DeliveryFixture from "./DeliveryFixture.ts"

const { claim, complete, record, tryOne, view, views } = DeliveryFixture
const { day, hour, minute, putWebhook, second, world } = Fixture

const begun = DeliveryFixture.beginTest

const stateOf = ({ workspace }: Fixture.World) =>
  Effect.map(WebhookStore.WebhookStore.use((store) => store.get(workspace.id)), Option.getOrThrow)

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("beginTest records the event and claims its delivery, whatever types the webhook subscribes to", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const webhook = yield* putWebhook(own, {
        envelope: "b",
        eventTypes: ["message.sent"],
        secrets: [
          { sealed: Fixture.sealed(5), expiresAt: null },
          { sealed: Fixture.sealed(4), expiresAt: own.start + second },
          { sealed: Fixture.sealed(3), expiresAt: own.start }
        ]
      })
      const { delivery, event, token: _, ...rest } = yield* begun(own, { now: own.start })
      assert.deepStrictEqual(rest, {
        url: webhook.url,
        secrets: webhook.secrets.slice(0, 2),
        standing: "healthy",
        at: own.start,
        isBacklog: false
      })
      assert.deepStrictEqual(delivery, {
        id: delivery.id,
        workspaceId: own.workspace.id,
        webhookId: webhook.id,
        eventId: event.id,
        eventType: "webhook.test",
        envelope: "b",
        orderKey: null,
        sequence: null,
        status: "pending",
        trigger: "test",
        attemptCount: 0,
        roundAttempts: 0,
        firstAttemptAt: null,
        lastAttemptAt: null,
        nextAttemptAt: null,
        createdAt: own.start,
        completedAt: null
      })
      const events = yield* EventStore.EventStore.use((store) =>
        store.list(own.workspace.id, {}, { limit: 10, after: null })
      )
      assert.deepStrictEqual(events.items, [event])
      const shown = yield* view(own, delivery.id)
      assert.deepStrictEqual([shown.delivery, shown.status, shown.attempts], [delivery, "pending", []])
      assert.deepStrictEqual((yield* views(own)).map(({ delivery }) => delivery.id), [delivery.id])
      assert.deepStrictEqual(yield* views(own, { status: "pending" }), [])
    }))

  it.effect("beginTest leaves nothing behind without a webhook", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const command = yield* DeliveryFixture.test(own, { now: own.start })
      assert.deepStrictEqual(yield* DeliveryStore.DeliveryStore.use((store) => store.beginTest(command)), Option.none())
      const events = yield* EventStore.EventStore.use((store) =>
        store.list(own.workspace.id, {}, { limit: 10, after: null })
      )
      assert.deepStrictEqual([events.items, yield* views(own)], [[], []])
    }))

  it.effect("a test runs while the webhook is paused, is not held and does not end the pause", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own, { pausedAt: own.start })
      yield* record(own, 1)
      const probe = yield* begun(own, { now: own.start + second, trigger: "probe" })
      assert.strictEqual((yield* view(own, probe.delivery.id)).status, "pending")
      assert.strictEqual((yield* stateOf(own)).heldCount, 1)
      assert.deepStrictEqual((yield* views(own, { status: "held" })).length, 1)
      const { attempt, recorded } = yield* complete(probe, { startedAt: own.start + second, outcome: "delivered" })
      assert.isTrue(recorded)
      assert.strictEqual(attempt.trigger, "probe")
      const endedAt = own.start + second + DeliveryFixture.durationMs
      const shown = yield* view(own, probe.delivery.id)
      assert.deepStrictEqual(shown.delivery, {
        ...probe.delivery,
        status: "delivered",
        attemptCount: 1,
        roundAttempts: 1,
        firstAttemptAt: own.start + second,
        lastAttemptAt: endedAt,
        completedAt: endedAt
      })
      assert.deepStrictEqual(shown.attempts, [attempt])
      const { webhook } = yield* stateOf(own)
      assert.deepStrictEqual([webhook.pausedAt, webhook.health.lastSuccessAt], [own.start, endedAt])
      assert.deepStrictEqual((yield* claim(own, { now: own.start + day })).deliveries, [])
    }))

  it.effect("a failed test is over, and does not count against the webhook", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 1)
      yield* tryOne(own, { startedAt: own.start })
      const before = yield* stateOf(own)
      for (let i = 1; i <= 6; i++) {
        const test = yield* begun(own, { now: own.start + i * 100 })
        assert.isTrue((yield* complete(test, { startedAt: own.start + i * 100, outcome: "timeout" })).recorded)
        const { delivery, status } = yield* view(own, test.delivery.id)
        assert.deepStrictEqual(
          [status, delivery.attemptCount, delivery.nextAttemptAt, delivery.completedAt],
          ["exhausted", 1, null, own.start + i * 100 + DeliveryFixture.durationMs]
        )
      }
      assert.deepStrictEqual(yield* stateOf(own), before)
      const { deliveries } = yield* claim(own, { now: own.start + 25 * day })
      assert.deepStrictEqual(deliveries.map(({ delivery }) => delivery.eventType), ["message.received"])
    }))

  it.effect("a successful test shows that the receiver has recovered", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 5)
      const { deliveries, token } = yield* claim(own, { now: own.start + second })
      for (const one of deliveries) yield* complete({ ...one, token }, { startedAt: own.start + second })
      const waiting = { now: own.start + second + 200 }
      assert.deepStrictEqual((yield* claim(own, waiting)).deliveries, [])
      const test = yield* begun(own, waiting)
      yield* complete(test, { startedAt: waiting.now, outcome: "delivered", durationMs: 50 })
      const { consecutiveFailures, recoveredAt } = (yield* stateOf(own)).webhook.health
      assert.deepStrictEqual([consecutiveFailures, recoveredAt], [0, waiting.now + 50])
      // so the waiting retries come forward
      assert.strictEqual((yield* claim(own, { now: waiting.now + 50 })).deliveries.length, 5)
    }))

  it.effect("a test whose lease ended, or that was released, ends without an attempt", () =>
    Effect.gen(function*() {
      const store = yield* DeliveryStore.DeliveryStore
      const own = yield* world()
      yield* putWebhook(own, { pausedAt: own.start })
      const lost = yield* begun(own, { now: own.start })
      const given = yield* begun(own, { now: own.start })
      const kept = yield* begun(own, { now: own.start + second })
      yield* store.release(given.token, [given.delivery])
      const end = own.start + DeliveryFixture.lease
      assert.deepStrictEqual((yield* claim(own, { now: end })).deliveries, [])
      for (const { delivery: { id } } of [lost, given]) {
        const { delivery, status } = yield* view(own, id)
        assert.deepStrictEqual([status, delivery.attemptCount, delivery.completedAt], ["exhausted", 0, end])
      }
      assert.strictEqual((yield* view(own, kept.delivery.id)).status, "pending")
      for (const test of [lost, given]) {
        assert.isFalse((yield* complete(test, { startedAt: own.start, outcome: "delivered" })).recorded)
        assert.strictEqual((yield* view(own, test.delivery.id)).status, "exhausted")
      }
      assert.isTrue((yield* complete(kept, { startedAt: own.start + second })).recorded)
    }))

  it.effect("a removal skips a test in progress, whose attempt is recorded", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const test = yield* begun(own, { now: own.start })
      yield* WebhookStore.WebhookStore.use((store) => store.remove(own.workspace.id, own.start + second))
      const { delivery, status } = yield* view(own, test.delivery.id)
      assert.deepStrictEqual([status, delivery.status, delivery.completedAt], [
        "skipped",
        "skipped",
        own.start + second
      ])
      assert.isTrue((yield* complete(test, { startedAt: own.start, outcome: "status" })).recorded)
      assert.deepStrictEqual((yield* claim(own, { now: own.start + hour })).deliveries, [])
      const late = yield* view(own, test.delivery.id)
      assert.deepStrictEqual([late.status, late.delivery.attemptCount], ["skipped", 1])
    }))

  it.effect("a test in progress is neither held nor skipped by a resume", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 1)
      const test = yield* begun(own, { now: own.start })
      const webhooks = yield* WebhookStore.WebhookStore
      yield* webhooks.pause(own.workspace.id, own.start)
      yield* webhooks.resume({ workspaceId: own.workspace.id, now: own.start, replay: "none" })
      assert.deepStrictEqual((yield* claim(own, { now: own.start + second })).deliveries, [])
      assert.deepStrictEqual((yield* views(own)).map(({ status }) => status), ["skipped", "pending"])
      assert.isTrue((yield* complete(test, { startedAt: own.start, outcome: "delivered" })).recorded)
      assert.strictEqual((yield* view(own, test.delivery.id)).status, "delivered")
    }))

  it.effect("a test in flight takes a slot", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 20)
      const test = yield* begun(own, { now: own.start + minute })
      const first = yield* claim(own, { now: own.start + minute })
      const again = yield* claim(own, { now: own.start + minute })
      assert.deepStrictEqual([first.deliveries.length, again.deliveries.length], [15, 0])
      yield* complete(test, { startedAt: own.start + minute, durationMs: 10 })
      assert.strictEqual((yield* claim(own, { now: own.start + minute + 10 })).deliveries.length, 1)
    }))
}
