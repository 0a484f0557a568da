/**
 * Conformance of `DeliveryStore`: who may attempt what, and when.
 */
import { assert } from "@effect/vitest"
import { DeliveryStore, EventStore, type Id, Webhook, WebhookStore } from "@wac/core"
import { Effect, Fiber, Option } from "effect"
import * as DeliveryFixture from "./DeliveryFixture.ts"
import * as Fixture from "./Fixture.ts"

const { claim, claimOne, complete, lease, record, tryOne, view, views } = DeliveryFixture
const { day, hour, minute, putWebhook, second, world } = Fixture

const idsOf = ({ deliveries }: DeliveryStore.Claimed) => deliveries.map(({ delivery }) => delivery.id)
const eventsOf = ({ deliveries }: DeliveryStore.Claimed) => deliveries.map(({ event }) => event.id)

/** A workspace with a webhook that has failed five times in a row, last at `start - 1 h`. */
const failingWorld = Effect.gen(function*() {
  const own = yield* world()
  yield* putWebhook(own, {
    health: {
      ...Webhook.unknownHealth,
      consecutiveFailures: Webhook.failingAfter,
      failuresSince: own.start - 2 * hour,
      lastFailure: { at: own.start - hour, message: "answered 500; only 200 counts" },
      lastAttemptAt: own.start - hour
    }
  })
  return own
})

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("an event's delivery is due when the event is recorded, with all that an attempt needs", () =>
    Effect.gen(function*() {
      const events = yield* EventStore.EventStore
      const own = yield* world()
      const webhook = yield* putWebhook(own, { envelope: "a" })
      const { command } = yield* Fixture.inbound(own)
      const early = yield* claim(own, { now: own.start - 1 })
      assert.deepStrictEqual(early.deliveries, [])
      assert.strictEqual(early.nextDueAt, own.start)

      const { delivery, event, secrets, url } = yield* claimOne(own, { now: own.start })
      assert.include(command.ids.deliveries, delivery.id)
      assert.deepStrictEqual(delivery, {
        id: delivery.id,
        workspaceId: own.workspace.id,
        webhookId: webhook.id,
        eventId: command.ids.events[0]!,
        eventType: "message.received",
        envelope: "a",
        orderKey: event.orderKey,
        sequence: event.sequence,
        status: "pending",
        trigger: "automatic",
        attemptCount: 0,
        roundAttempts: 0,
        firstAttemptAt: null,
        lastAttemptAt: null,
        nextAttemptAt: own.start,
        createdAt: own.start,
        completedAt: null
      })
      assert.deepStrictEqual(yield* events.get(own.workspace.id, event.id), Option.some(event))
      assert.strictEqual(url, webhook.url)
      assert.deepStrictEqual(secrets, webhook.secrets)
    }))

  it.effect("claimDue gives at most what it is asked for, the longest due first", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const events = yield* record(own, 5)
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + 4, limit: 2 })), events.slice(0, 2))
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + 3, limit: 9 })), events.slice(2, 4))
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + 4, limit: 9 })), events.slice(4))
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + 4, limit: 9 })), [])
    }))

  it.effect("a retry that has been due for longer goes before a first attempt while the webhook is not failing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const [old] = yield* record(own, 1)
      yield* tryOne(own, { startedAt: own.start })
      const [fresh] = yield* record(own, 1, own.start + minute)
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + minute, limit: 1 })), [old!])
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + minute, limit: 1 })), [fresh!])
    }))

  it.effect("racing claimers never get the same delivery, and together get all", () =>
    Effect.gen(function*() {
      const first = yield* world()
      const worlds = [first]
      for (let i = 0; i < 3; i++) worlds.push(yield* world({ start: first.start }))
      for (const one of worlds) {
        yield* putWebhook(one)
        yield* record(one, 12)
      }
      const now = first.start + minute
      const claimer = Effect.gen(function*() {
        const taken: Array<Id.DeliveryId> = []
        for (let empty = 0; empty < 3;) {
          const claimed = yield* claim(worlds, { now, limit: 5 })
          if (claimed.deliveries.length === 0) empty++
          taken.push(...idsOf(claimed))
          yield* Effect.yieldNow
        }
        return taken
      })
      const all = (yield* Effect.all(Array.from({ length: 6 }, () => claimer), { concurrency: "unbounded" })).flat()
      assert.strictEqual(new Set(all).size, all.length)
      assert.strictEqual(all.length, 48)
    }))

  it.effect("a claim ends with its lease: then another may claim, and the first one's record is refused", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 1)
      const first = yield* claimOne(own, { now: own.start })
      assert.deepStrictEqual((yield* claim(own, { now: own.start + lease - 1 })).deliveries, [])
      const second = yield* claimOne(own, { now: own.start + lease })
      assert.deepStrictEqual(second.delivery, first.delivery)
      const lost = yield* complete(first, { startedAt: own.start, outcome: "delivered", now: own.start + lease })
      assert.isFalse(lost.recorded)
      const untouched = yield* view(own, first.delivery.id)
      assert.deepStrictEqual([untouched.delivery, untouched.attempts], [first.delivery, []])
      const kept = yield* complete(second, { startedAt: own.start + lease, outcome: "delivered" })
      assert.isTrue(kept.recorded)
      const ended = yield* view(own, first.delivery.id)
      assert.deepStrictEqual([ended.status, ended.delivery.attemptCount], ["delivered", 1])
      assert.deepStrictEqual(ended.attempts, [kept.attempt])
    }))

  it.effect("release gives back without counting, whatever was there before, and only one's own claims", () =>
    Effect.gen(function*() {
      const store = yield* DeliveryStore.DeliveryStore
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 1)
      const first = yield* claimOne(own, { now: own.start })
      yield* store.release("nobody's token", [first.delivery.id])
      assert.deepStrictEqual((yield* claim(own, { now: own.start })).deliveries, [])
      yield* store.release(first.token, [first.delivery.id, yield* Fixture.id("dlv")])
      yield* store.release(first.token, [first.delivery.id])
      yield* store.release(first.token, [])
      const again = yield* claimOne(own, { now: own.start })
      assert.deepStrictEqual(again.delivery, first.delivery)
      yield* complete(again, { startedAt: own.start })

      const retry = yield* claimOne(own, { now: own.start + minute })
      assert.strictEqual(retry.delivery.attemptCount, 1)
      yield* store.release(first.token, [retry.delivery.id])
      assert.deepStrictEqual((yield* claim(own, { now: own.start + minute })).deliveries, [])
      yield* store.release(retry.token, [retry.delivery.id])
      const { delivery } = yield* view(own, retry.delivery.id)
      assert.deepStrictEqual(delivery, retry.delivery)
      assert.deepStrictEqual((yield* claimOne(own, { now: own.start + minute })).delivery, retry.delivery)
      const late = yield* complete(retry, { startedAt: own.start + minute, outcome: "delivered" })
      assert.isFalse(late.recorded)
    }))

  it.effect("of one message's events the next waits until its predecessor has ended, and then is due at once", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { messageId } = yield* Fixture.sent(own)
      yield* Fixture.report({ status: "read", at: own.start + 1, reference: messageId })
      const other = yield* Fixture.sent(own, { now: own.start + 2, message: Fixture.template() })
      const now = own.start + 3
      const firsts = yield* claim(own, { now })
      assert.deepStrictEqual(
        firsts.deliveries.map(({ delivery }) => [delivery.orderKey, delivery.sequence]),
        [[messageId, 1], [other.messageId, 1]]
      )
      const waiting = (yield* views(own)).map(({ delivery }) => delivery)
      assert.deepStrictEqual(
        waiting.map(({ nextAttemptAt, orderKey, sequence }) => [orderKey, sequence, nextAttemptAt]),
        [
          [messageId, 1, own.start],
          [messageId, 2, null],
          [messageId, 3, null],
          [other.messageId, 1, own.start + 2]
        ]
      )

      // while the first is tried again, nothing else of the message is due
      const first = { delivery: firsts.deliveries[0]!.delivery, token: firsts.token }
      yield* complete(first, { startedAt: now })
      yield* complete({ delivery: firsts.deliveries[1]!.delivery, token: firsts.token }, {
        startedAt: now,
        outcome: "delivered"
      })
      const retry = yield* claimOne(own, { now: now + hour })
      assert.strictEqual(retry.delivery.id, first.delivery.id)
      assert.deepStrictEqual((yield* claim(own, { now: now + hour })).deliveries, [])

      const endedAt = now + hour + second
      yield* complete(retry, { startedAt: now + hour, outcome: "delivered", now: endedAt })
      assert.strictEqual((yield* view(own, waiting[1]!.id)).delivery.nextAttemptAt, endedAt)
      assert.strictEqual((yield* view(own, waiting[2]!.id)).delivery.nextAttemptAt, null)
      assert.deepStrictEqual((yield* claim(own, { now: endedAt - 1 })).deliveries, [])
      const next = yield* claimOne(own, { now: endedAt })
      assert.deepStrictEqual([next.delivery.id, next.delivery.sequence], [waiting[1]!.id, 2])
      // its own T0 starts now
      yield* complete(next, { startedAt: endedAt + 5 })
      assert.strictEqual((yield* view(own, next.delivery.id)).delivery.firstAttemptAt, endedAt + 5)
    }))

  it.effect("an event recorded after its predecessor ended is due at once", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { messageId } = yield* Fixture.sent(own)
      yield* tryOne(own, { startedAt: own.start, outcome: "delivered" })
      yield* Fixture.report({ status: "delivered", at: own.start + hour, reference: messageId })
      const { delivery } = yield* claimOne(own, { now: own.start + hour })
      assert.deepStrictEqual([delivery.sequence, delivery.nextAttemptAt], [2, own.start + hour])
    }))

  it.effect("a predecessor that has no delivery is not waited for", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own, { eventTypes: ["message.read"] })
      const { messageId } = yield* Fixture.sent(own)
      yield* Fixture.report({ status: "read", at: own.start + 1, reference: messageId })
      const { delivery } = yield* claimOne(own, { now: own.start + 1 })
      assert.deepStrictEqual([delivery.eventType, delivery.sequence], ["message.read", 3])
    }))

  it.effect("webhooks take turns", () =>
    Effect.gen(function*() {
      const busy = yield* world()
      const calm = yield* world({ start: busy.start })
      const third = yield* world({ start: busy.start })
      for (const one of [busy, calm, third]) yield* putWebhook(one)
      yield* record(busy, 12)
      yield* record(calm, 2, busy.start + second)
      yield* record(third, 3, busy.start + 2 * second)
      const worlds = [busy, calm, third]
      const now = busy.start + minute
      const shares = (claimed: DeliveryStore.Claimed) =>
        worlds.map(({ workspace }) =>
          claimed.deliveries.filter(({ delivery }) => delivery.workspaceId === workspace.id).length
        )
      assert.deepStrictEqual(shares(yield* claim(worlds, { now, limit: 6 })), [2, 2, 2])
      assert.deepStrictEqual(shares(yield* claim(worlds, { now, limit: 4 })), [3, 0, 1])
      assert.deepStrictEqual(shares(yield* claim(worlds, { now, limit: 100 })), [7, 0, 0])
    }))

  it.effect("at most 16 attempts are in flight to one webhook, also with racing claimers", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 40)
      const now = own.start + second
      const claims = yield* Effect.all(Array.from({ length: 5 }, () => claim(own, { now, limit: 10 })), {
        concurrency: "unbounded"
      })
      // a racer that came too early may have been turned away: what is free is there for the next
      const rest = yield* claim(own, { now })
      const taken = [...claims, rest].flatMap(({ deliveries, token }) => deliveries.map((one) => ({ ...one, token })))
      assert.strictEqual(taken.length, 16)
      assert.strictEqual(new Set(taken.map(({ delivery }) => delivery.id)).size, 16)
      const none = yield* claim(own, { now })
      assert.deepStrictEqual(none.deliveries, [])
      // nothing but an ended attempt, or the end of a lease, can help
      if (none.nextDueAt !== null) assert.strictEqual(none.nextDueAt, now + lease)

      yield* complete(taken[0]!, { startedAt: now, outcome: "delivered" })
      assert.strictEqual((yield* claim(own, { now: now + second })).deliveries.length, 1)
      yield* Effect.flatMap(
        DeliveryStore.DeliveryStore,
        (store) => store.release(taken[1]!.token, [taken[1]!.delivery.id])
      )
      assert.strictEqual((yield* claim(own, { now: now + second })).deliveries.length, 1)
      // claims whose lease ended hold no place
      assert.strictEqual((yield* claim(own, { now: now + second + lease })).deliveries.length, 16)
    }))

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
      // now all wait as retries: the one due for longest comes first
      const three = yield* claimOne(own, { now: now + hour })
      assert.strictEqual(three.event.id, old!)
    }))

  it.effect("racing claimers of a failing webhook: one gets one", () =>
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

  it.effect("attempts to a failing webhook are at least a second apart, and nextDueAt says when", () =>
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

  it.effect("a webhook starts to fail with the fifth failure in a row; the first success ends it", () =>
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
      // four in a row: not failing, so all free places but the one in flight
      assert.strictEqual((yield* claim(own, { now: now + 1, limit: 3 })).deliveries.length, 3)
      yield* end(9, "status")
      assert.deepStrictEqual((yield* claim(own, { now: now + 10 * second })).deliveries, [])
    }))

  it.effect("recovery brings the waiting retries forward, those of before it only", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const events = yield* record(own, 6)
      // each has failed three times, so its next attempt is 25 s away; the webhook is failing from the fifth failure on
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
      // one that fails after the recovery waits for its own time again
      const [again] = due.deliveries
      const { attempt } = yield* complete({ ...again!, token: due.token }, { startedAt: recoveredAt })
      const endedAt = attempt.startedAt + attempt.durationMs
      const { delivery } = yield* view(own, again!.delivery.id)
      assert.strictEqual(delivery.nextAttemptAt, endedAt + 2 * minute)
      const later = yield* claim(own, { now: endedAt + 2 * minute - 1, limit: 100 })
      assert.notInclude(idsOf(later), delivery.id)
    }))

  it.effect("nextDueAt is the first time at which something waits to be attempted", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world({ start: own.start })
      yield* putWebhook(own)
      yield* putWebhook(other)
      yield* record(own, 1)
      yield* record(other, 1)
      const { deliveries, token } = yield* claim([own, other], { now: own.start })
      const mine = deliveries.find(({ delivery }) => delivery.workspaceId === own.workspace.id)!
      const theirs = deliveries.find(({ delivery }) => delivery.workspaceId === other.workspace.id)!
      yield* complete({ ...mine, token }, { startedAt: own.start, durationMs: 0 })
      yield* complete({ ...theirs, token }, { startedAt: own.start, durationMs: 500 })
      const both = [own, other]
      assert.strictEqual((yield* claim(both, { now: own.start + 600 })).nextDueAt, own.start + second)
      const one = yield* claim(both, { now: own.start + second })
      assert.strictEqual(one.deliveries.length, 1)
      assert.strictEqual(one.nextDueAt, own.start + 1500)
      // more is due than was asked for: ask again at once
      yield* DeliveryStore.DeliveryStore.use((store) => store.release(one.token, idsOf(one)))
      const more = yield* claim(both, { now: own.start + minute, limit: 1 })
      assert.strictEqual(more.deliveries.length, 1)
      assert.isNotNull(more.nextDueAt)
      assert.isAtMost(more.nextDueAt!, own.start + minute)
    }))

  it.effect("a paused webhook gets nothing, and nothing of it counts for nextDueAt", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own, { pausedAt: own.start })
      yield* record(own, 2)
      const early = yield* claim(own, { now: own.start - 1 })
      assert.notInclude([own.start, own.start + 1], early.nextDueAt)
      const late = yield* claim(own, { now: own.start + 25 * day })
      assert.deepStrictEqual(late.deliveries, [])
      if (late.nextDueAt !== null) assert.isAbove(late.nextDueAt, own.start + 25 * day)
      // setting it anew does not resume it
      yield* putWebhook(own, { url: "https://new.example/", updatedAt: own.start + 1 })
      assert.deepStrictEqual((yield* claim(own, { now: own.start + hour })).deliveries, [])
    }))

  it.effect("waiting deliveries go to the present URL, with the secrets that are live then", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const secret = (mark: number, expiresAt: number | null) => ({ sealed: Fixture.sealed(mark), expiresAt })
      const secrets = [
        secret(1, null),
        secret(2, own.start + hour),
        secret(3, own.start + minute),
        secret(4, own.start - 1)
      ]
      yield* putWebhook(own, { secrets })
      yield* record(own, 1)
      const first = yield* tryOne(own, { startedAt: own.start + second })
      assert.deepStrictEqual(first.claimed.secrets, secrets.slice(0, 3))
      yield* putWebhook(own, { url: "https://new.example/hook", updatedAt: own.start + 2 })
      const second_ = yield* claimOne(own, { now: own.start + minute })
      assert.strictEqual(second_.url, "https://new.example/hook")
      assert.deepStrictEqual(second_.secrets, secrets.slice(0, 2))
      yield* complete(second_, { startedAt: own.start + minute })
      const third = yield* claimOne(own, { now: own.start + hour })
      assert.deepStrictEqual(third.secrets, secrets.slice(0, 1))
    }))

  it.effect("claimDue does not see an event before it is due, however far it looks back", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 1, own.start + hour)
      const { deliveries, nextDueAt } = yield* claim(own, { now: own.start })
      assert.deepStrictEqual([deliveries.length, nextDueAt], [0, own.start + hour])
      yield* WebhookStore.WebhookStore.use((store) => store.remove(own.workspace.id, own.start))
      assert.notStrictEqual((yield* claim(own, { now: own.start })).nextDueAt, own.start + hour)
    }))

  it.effect("awaitHint suspends, and wakes when an event is recorded", () =>
    Effect.gen(function*() {
      const store = yield* DeliveryStore.DeliveryStore
      const own = yield* world()
      yield* putWebhook(own)
      // hints of what went before may still be under way
      let quiet = false
      for (let i = 0; i < 100 && !quiet; i++) {
        quiet = Option.isNone(yield* Effect.timeoutOption(store.awaitHint, "200 millis"))
      }
      assert.isTrue(quiet, "awaitHint never suspended")
      const waiting = yield* Effect.forkChild(store.awaitHint, { startImmediately: true })
      // a hint may be lost, but not hint after hint
      for (let i = 0; i < 100 && waiting.pollUnsafe() === undefined; i++) {
        yield* record(own, 1)
        yield* Effect.sleep("50 millis")
      }
      assert.isDefined(waiting.pollUnsafe(), "awaitHint did not wake")
      yield* Fiber.join(waiting)
    }))
}

/** Fails the delivery that has been due for longest; other claims are given back. */
const tryLongestDue = (own: Fixture.World, now: number) =>
  Effect.gen(function*() {
    const claimed = yield* claim(own, { now, limit: 1 })
    assert.strictEqual(claimed.deliveries.length, 1)
    yield* complete({ ...claimed.deliveries[0]!, token: claimed.token }, { startedAt: now })
  })
