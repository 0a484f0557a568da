/**
 * Conformance of `DeliveryStore`: what may be claimed, by whom and when.
 */
import { assert } from "@effect/vitest"
import { DeliveryStore, EventStore, type Id, WebhookStore } from "@wac/core"
import { Effect, Fiber, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as DeliveryFixture from "./DeliveryFixture.ts"

const { claim, claimOne, complete, eventsOf, idsOf, lease, record, tryOne, view } = DeliveryFixture
const { day, hour, minute, putWebhook, second, world } = Fixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("an event's delivery is due when the event is recorded, with everything that an attempt needs", () =>
    Effect.gen(function*() {
      const events = yield* EventStore.EventStore
      const own = yield* world()
      const webhook = yield* putWebhook(own, { envelope: "a" })
      const { command } = yield* MessageFixture.inbound(own)
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
      assert.strictEqual(event.trace, Fixture.trace)
      assert.deepStrictEqual(yield* events.get(own.workspace.id, event.id), Option.some(event))
      assert.strictEqual(url, webhook.url)
      assert.deepStrictEqual(secrets, webhook.secrets)
    }))

  it.effect("claimDue returns at most its limit, the delivery due longest first", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const events = yield* record(own, 5)
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + 4, limit: 2 })), events.slice(0, 2))
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + 3, limit: 9 })), events.slice(2, 4))
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + 4, limit: 9 })), events.slice(4))
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + 4, limit: 9 })), [])
    }))

  it.effect("while the webhook is not failing, retries and first attempts go in the order of their due times", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const [old] = yield* record(own, 1)
      yield* tryOne(own, { startedAt: own.start })
      // no retry is due sooner than a second later
      const [first] = yield* record(own, 1, own.start + second / 2)
      const [fresh] = yield* record(own, 1, own.start + minute)
      for (const next of [first, old, fresh]) {
        assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + minute, limit: 1 })), [next!])
      }
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

  it.effect("a claim ends with its lease: another claimer may take over, and the first one's record is refused", () =>
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

  it.effect("release gives a claim back without counting it, and only the token's own claims", () =>
    Effect.gen(function*() {
      const store = yield* DeliveryStore.DeliveryStore
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 1)
      const first = yield* claimOne(own, { now: own.start })
      yield* store.release("nobody's token", [first.delivery])
      assert.deepStrictEqual((yield* claim(own, { now: own.start })).deliveries, [])
      yield* store.release(first.token, [first.delivery, { ...first.delivery, id: yield* Fixture.id("dlv") }])
      yield* store.release(first.token, [first.delivery])
      yield* store.release(first.token, [])
      const again = yield* claimOne(own, { now: own.start })
      assert.deepStrictEqual(again.delivery, first.delivery)
      yield* complete(again, { startedAt: own.start })

      const retry = yield* claimOne(own, { now: own.start + minute })
      assert.strictEqual(retry.delivery.attemptCount, 1)
      yield* store.release(first.token, [retry.delivery])
      assert.deepStrictEqual((yield* claim(own, { now: own.start + minute })).deliveries, [])
      yield* store.release(retry.token, [retry.delivery])
      const { delivery } = yield* view(own, retry.delivery.id)
      assert.deepStrictEqual(delivery, retry.delivery)
      assert.deepStrictEqual((yield* claimOne(own, { now: own.start + minute })).delivery, retry.delivery)
      const late = yield* complete(retry, { startedAt: own.start + minute, outcome: "delivered" })
      assert.isFalse(late.recorded)
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

  it.effect("at most 16 attempts are in flight to one webhook, even with racing claimers", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 40)
      const now = own.start + second
      const claims = yield* Effect.all(Array.from({ length: 5 }, () => claim(own, { now, limit: 10 })), {
        concurrency: "unbounded"
      })
      // a racer that came too early may have got nothing: the rest is free for the next one
      const rest = yield* claim(own, { now })
      const taken = [...claims, rest].flatMap(({ deliveries, token }) => deliveries.map((one) => ({ ...one, token })))
      assert.strictEqual(taken.length, 16)
      assert.strictEqual(new Set(taken.map(({ delivery }) => delivery.id)).size, 16)
      const none = yield* claim(own, { now })
      assert.deepStrictEqual(none.deliveries, [])
      // only an ended attempt or lease frees a slot
      if (none.nextDueAt !== null) assert.strictEqual(none.nextDueAt, now + lease)

      yield* complete(taken[0]!, { startedAt: now, outcome: "delivered" })
      assert.strictEqual((yield* claim(own, { now: now + second })).deliveries.length, 1)
      yield* Effect.flatMap(
        DeliveryStore.DeliveryStore,
        (store) => store.release(taken[1]!.token, [taken[1]!.delivery])
      )
      assert.strictEqual((yield* claim(own, { now: now + second })).deliveries.length, 1)
      // claims whose lease ended hold no slot
      assert.strictEqual((yield* claim(own, { now: now + second + lease })).deliveries.length, 16)
    }))

  it.effect("nextDueAt is the first time at which a waiting delivery may be attempted", () =>
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
      // more is due than was asked for, so claim again immediately
      yield* DeliveryStore.DeliveryStore.use((store) =>
        store.release(one.token, one.deliveries.map(({ delivery }) => delivery))
      )
      const more = yield* claim(both, { now: own.start + minute, limit: 1 })
      assert.strictEqual(more.deliveries.length, 1)
      assert.isNotNull(more.nextDueAt)
      assert.isAtMost(more.nextDueAt!, own.start + minute)
    }))

  it.effect("a paused webhook gets nothing, and does not count for nextDueAt", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own, { pausedAt: own.start })
      yield* record(own, 2)
      const early = yield* claim(own, { now: own.start - 1 })
      assert.notInclude([own.start, own.start + 1], early.nextDueAt)
      const late = yield* claim(own, { now: own.start + 25 * day })
      assert.deepStrictEqual(late.deliveries, [])
      if (late.nextDueAt !== null) assert.isAbove(late.nextDueAt, own.start + 25 * day)
      // setting it again does not resume it
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

  it.effect("claimDue does not return an event before it is due, however slow the caller's clock", () =>
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
      // hints of earlier events may still arrive
      let quiet = false
      for (let i = 0; i < 100 && !quiet; i++) {
        quiet = Option.isNone(yield* Effect.timeoutOption(store.awaitHint, "200 millis"))
      }
      assert.isTrue(quiet, "awaitHint never suspended")
      const waiting = yield* Effect.forkChild(store.awaitHint, { startImmediately: true })
      // a hint may be lost, but not every one
      for (let i = 0; i < 100; i++) {
        yield* record(own, 1)
        if (Option.isSome(yield* Effect.timeoutOption(Fiber.join(waiting), "50 millis"))) return
      }
      assert.fail("awaitHint did not wake")
    }))
}
