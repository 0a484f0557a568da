/**
 * Conformance of `DeliveryStore`: webhooks that fail or are slow, and how they recover.
 */
import { assert } from "@effect/vitest"
import { AttemptSlots, WebhookHealth, WebhookStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as DeliveryFixture from "./DeliveryFixture.ts"

const { claim, claimOne, complete, eventsOf, idsOf, record, tryOne, view } = DeliveryFixture
const { day, hour, minute, putWebhook, second, world } = Fixture

/** A workspace with a webhook that has failed five times in a row, last at `start - 1 h`. */
const failingWorld = Effect.gen(function*() {
  const own = yield* world()
  yield* putWebhook(own, {
    health: {
      ...WebhookHealth.initial,
      consecutiveFailures: WebhookHealth.failingAfter,
      failuresSince: own.start - 2 * hour,
      lastFailure: { at: own.start - hour, message: "answered 500; only 200 counts" },
      lastAttemptAt: own.start - hour
    }
  })
  return own
})

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a failing webhook gets one attempt at a time, first attempts before retries", () =>
    Effect.gen(function*() {
      const own = yield* failingWorld
      const [old] = yield* record(own, 1)
      yield* tryOne(own, { startedAt: own.start })
      const fresh = yield* record(own, 2, own.start + minute)
      const now = own.start + hour
      const one = yield* claim(own, { now })
      assert.deepStrictEqual(eventsOf(one), [fresh[0]!])
      const racing = yield* Effect.all(Array.from({ length: 4 }, () => claim(own, { now })), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(racing.flatMap(eventsOf), [])
      yield* complete({ ...one.deliveries[0]!, token: one.token }, { startedAt: now })
      const two = yield* tryOne(own, { startedAt: now + minute })
      assert.strictEqual(two.claimed.event.id, fresh[1]!)
      // now all are retries: the one due longest comes first
      const three = yield* claimOne(own, { now: now + hour })
      assert.strictEqual(three.event.id, old!)
    }))

  it.effect("the last attempt of a round goes before first attempts, and its failure pauses the webhook", () =>
    Effect.gen(function*() {
      const own = yield* failingWorld
      const [earlier, later] = yield* record(own, 2)
      yield* tryOne(own, { startedAt: own.start })
      const { claimed: { event } } = yield* tryOne(own, { startedAt: own.start + minute })
      assert.strictEqual(event.id, later!)
      // the later one has waited longer for its next attempt
      const again = yield* tryOne(own, { startedAt: own.start + 2 * minute })
      assert.strictEqual(again.claimed.event.id, earlier!)
      const end = own.start + day
      const fresh = yield* record(own, 3, end - hour)
      const before = yield* tryOne(own, { startedAt: end - 10 * second })
      assert.strictEqual(before.claimed.event.id, fresh[0]!)
      const last = yield* tryOne(own, { startedAt: end })
      assert.strictEqual(last.claimed.event.id, earlier!)
      const { pausedAt } = Option.getOrThrow(
        yield* WebhookStore.WebhookStore.use((store) => store.get(own.workspace.id))
      )
        .webhook
      assert.strictEqual(pausedAt, end + DeliveryFixture.durationMs)
      assert.deepStrictEqual((yield* claim(own, { now: end + day })).deliveries, [])
    }))

  it.effect("a round that a success has left behind waits for first attempts, however long it is over", () =>
    Effect.gen(function*() {
      const own = yield* failingWorld
      const [old] = yield* record(own, 1)
      yield* tryOne(own, { startedAt: own.start })
      yield* record(own, 6, own.start + minute)
      yield* tryOne(own, { startedAt: own.start + minute, outcome: "delivered" })
      // failing again, by first attempts and by the old one, which the recovery brought forward
      let now = own.start + hour
      for (let i = 0; i < 6; i++) {
        yield* tryLongestDue(own, now)
        now += minute
      }
      const [fresh] = yield* record(own, 1, own.start + day)
      const { claimed: { event } } = yield* tryOne(own, { startedAt: own.start + day + minute })
      assert.deepStrictEqual([event.id, event.id === old], [fresh, false])
    }))

  it.effect("of racing claimers of a failing webhook, one gets one delivery", () =>
    Effect.gen(function*() {
      const own = yield* failingWorld
      yield* record(own, 10)
      const claims = yield* Effect.all(
        Array.from({ length: 8 }, () => claim(own, { now: own.start + minute, limit: 3 })),
        { concurrency: "unbounded" }
      )
      const last = yield* claim(own, { now: own.start + minute })
      assert.strictEqual([...claims, last].flatMap(eventsOf).length, 1)
    }))

  it.effect("attempts at a failing webhook are at least a second apart, and nextDueAt returns when", () =>
    Effect.gen(function*() {
      const own = yield* failingWorld
      yield* record(own, 3)
      const now = own.start + minute
      yield* tryOne(own, { startedAt: now })
      const endedAt = now + DeliveryFixture.durationMs
      const early = yield* claim(own, { now: endedAt })
      assert.deepStrictEqual(early.deliveries, [])
      assert.strictEqual(early.nextDueAt, endedAt + second)
      assert.deepStrictEqual((yield* claim(own, { now: endedAt + second - 1 })).deliveries, [])
      yield* claimOne(own, { now: endedAt + second })
    }))

  it.effect("a webhook is failing from the fifth failure in a row until the first success", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 30)
      const now = own.start + minute
      const { deliveries, token } = yield* claim(own, { now, limit: 10 })
      const end = (i: number, outcome: "status" | "delivered") =>
        complete({ ...deliveries[i]!, token }, { startedAt: now, outcome, durationMs: i })
      for (let i = 0; i < 4; i++) yield* end(i, "status")
      yield* end(4, "delivered")
      for (let i = 5; i < 9; i++) yield* end(i, "status")
      // four in a row are not failing, so all slots are free except the one in flight
      assert.strictEqual((yield* claim(own, { now: now + 1, limit: 3 })).deliveries.length, 3)
      yield* end(9, "status")
      assert.deepStrictEqual((yield* claim(own, { now: now + 10 * second })).deliveries, [])
    }))

  it.effect("recovery brings forward the retries that waited before it, and no others", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const events = yield* record(own, 6)
      // each has failed three times, so its next attempt is 25 s away; the webhook is failing from the fifth failure
      let now = own.start + second
      for (let round = 0; round < 3; round++) {
        for (let i = 0; i < events.length; i++) {
          yield* tryLongestDue(own, now)
          now += 2 * second
        }
      }
      const [fresh] = yield* record(own, 1, now)
      const success = yield* tryOne(own, { startedAt: now, outcome: "delivered" })
      assert.strictEqual(success.claimed.event.id, fresh!)
      const recoveredAt = now + DeliveryFixture.durationMs
      assert.deepStrictEqual((yield* claim(own, { now: recoveredAt - 1 })).deliveries, [])
      const due = yield* claim(own, { now: recoveredAt })
      assert.sameMembers(eventsOf(due), [...events])
      // a retry that fails after the recovery waits for its own time again
      const [again] = due.deliveries
      const { attempt } = yield* complete({ ...again!, token: due.token }, { startedAt: recoveredAt })
      const endedAt = attempt.startedAt + attempt.durationMs
      const { delivery } = yield* view(own, again!.delivery.id)
      assert.strictEqual(delivery.nextAttemptAt, endedAt + 2 * minute)
      const later = yield* claim(own, { now: endedAt + 2 * minute - 1, limit: 100 })
      assert.notInclude(idsOf(later), delivery.id)
    }))

  it.effect("a slow webhook is doubtful, with all its slots, until it succeeds ten seconds after its last slow success", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 40)
      const now = own.start + second
      const doubtful = { healthy: 0, doubtful: 100 }
      const healthy = { healthy: 100, doubtful: 0 }
      const { deliveries: [first], token } = yield* claim(own, { now, limit: { healthy: 1, doubtful: 0 } })
      const slowly = { outcome: "delivered", durationMs: 1000 } as const
      yield* complete({ ...first!, token }, { startedAt: now, ...slowly })
      const slowAt = now + 1000
      assert.deepStrictEqual((yield* claim(own, { now: slowAt, limit: healthy })).deliveries, [])
      const slow = yield* claim(own, { now: slowAt, limit: doubtful, lease: minute })
      assert.deepStrictEqual(
        slow.deliveries.map(({ standing }) => standing),
        Array(AttemptSlots.maxInFlight).fill("doubtful")
      )
      const [one, two, ...others] = slow.deliveries.map((delivery) => ({ ...delivery, token: slow.token }))
      // a success a millisecond shorter is not slow, but comes too soon to end the slow state
      yield* complete(one!, { startedAt: slowAt + 9000, outcome: "delivered", durationMs: 999 })
      assert.strictEqual((yield* claim(own, { now: slowAt + 10_000, limit: healthy })).deliveries.length, 0)
      yield* complete(two!, { startedAt: slowAt + 9001, outcome: "delivered", durationMs: 999 })
      const trusted = yield* claim(own, { now: slowAt + 10_000, limit: healthy })
      assert.deepStrictEqual(trusted.deliveries.map(({ standing }) => standing), ["healthy", "healthy"])
      // many at once, in whatever order: the last slow one counts
      const ends = others.map((claimed, i) => ({ claimed, startedAt: slowAt + 20_000 - i * 100, isSlow: i >= 4 }))
      const results = yield* Effect.forEach(
        ends,
        ({ claimed, isSlow, startedAt }) =>
          complete(claimed, { startedAt, ...(isSlow ? slowly : { outcome: "delivered" }) }),
        { concurrency: "unbounded" }
      )
      assert.isTrue(results.every(({ recorded }) => recorded))
      const again = yield* claim(own, { now: slowAt + 30_000, limit: doubtful })
      assert.isAbove(again.deliveries.length, 0)
      const { health } = Option.getOrThrow(
        yield* WebhookStore.WebhookStore.use((store) => store.get(own.workspace.id))
      ).webhook
      assert.deepStrictEqual([health.slowAt, health.lastSuccessAt], [slowAt + 20_600, slowAt + 20_600])
    }))
}

/** Fails the delivery that has been due longest. Other claims are released. */
const tryLongestDue = (own: Fixture.World, now: number) =>
  Effect.gen(function*() {
    const claimed = yield* claim(own, { now, limit: 1 })
    assert.strictEqual(claimed.deliveries.length, 1)
    yield* complete({ ...claimed.deliveries[0]!, token: claimed.token }, { startedAt: now })
  })
