/**
 * Conformance of `WebhookStore` and `DeliveryStore`: pausing and resuming a webhook, and what happens to held
 * deliveries.
 */
import { assert } from "@effect/vitest"
import { AttemptSlots, type Delivery, DeliveryStore, WebhookHealth, type WebhookStep, WebhookStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import type * as SeededRandom from "../SeededRandom.ts"
import * as DeliveryFixture from "./DeliveryFixture.ts"

const { claim, complete, eventsOf, record, tidy, tryOne, views } = DeliveryFixture
const { day, hour, minute, putWebhook, second, world } = Fixture

const pause = ({ workspace }: Fixture.World, now: number) =>
  WebhookStore.WebhookStore.use((store) => store.pause(workspace.id, now))

const resume = ({ workspace }: Fixture.World, now: number, replay: WebhookStep.Replay) =>
  WebhookStore.WebhookStore.use((store) => store.resume({ workspaceId: workspace.id, now, replay }))

const stateOf = ({ workspace }: Fixture.World) =>
  Effect.map(WebhookStore.WebhookStore.use((store) => store.get(workspace.id)), Option.getOrThrow)

const statuses = (own: Fixture.World) => Effect.map(views(own), (shown) => shown.map(({ status }) => status))

/** A workspace whose webhook is paused with that many held events, recorded 1 ms apart from `start`. */
const heldWorld = (count: number) =>
  Effect.gen(function*() {
    const own = yield* world()
    yield* putWebhook(own)
    yield* pause(own, own.start)
    return { own, events: yield* record(own, count) }
  })

/** Registers the tests. */
export const tests = (it: Fixture.It, runs: SeededRandom.Runs): void => {
  it.effect("a pause holds everything until a resume, and a second pause or resume changes nothing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      assert.deepStrictEqual(yield* pause(own, own.start), Option.none())
      assert.deepStrictEqual(yield* resume(own, own.start, "all"), Option.none())
      const webhook = yield* putWebhook(own)
      assert.deepStrictEqual(yield* resume(own, own.start, "none"), Option.some(webhook))
      const paused = { ...webhook, pausedAt: own.start + 1 }
      assert.deepStrictEqual(yield* pause(own, own.start + 1), Option.some(paused))
      assert.deepStrictEqual(yield* pause(own, own.start + 2), Option.some(paused))
      const events = yield* record(own, 3, own.start + 3)
      assert.deepStrictEqual((yield* claim(own, { now: own.start + day })).deliveries, [])
      assert.deepStrictEqual(yield* statuses(own), ["held", "held", "held"])
      const resumed = { ...webhook, resumedAt: own.start + day }
      assert.deepStrictEqual(yield* resume(own, own.start + day, "all"), Option.some(resumed))
      assert.deepStrictEqual(yield* resume(own, own.start + 2 * day, "none"), Option.some(resumed))
      assert.deepStrictEqual((yield* stateOf(own)).webhook, resumed)
      assert.deepStrictEqual(yield* statuses(own), ["pending", "pending", "pending"])
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + day })), events)
    }))

  it.effect("an attempt in flight during a pause ends like any other", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 2)
      const { deliveries, token } = yield* claim(own, { now: own.start + second })
      yield* pause(own, own.start + second + 1)
      const [one, two] = deliveries.map(({ delivery }) => ({ delivery, token }))
      const good = yield* complete(one!, { startedAt: own.start + second, outcome: "delivered" })
      const bad = yield* complete(two!, { startedAt: own.start + second })
      assert.isTrue(good.recorded && bad.recorded)
      assert.deepStrictEqual(yield* statuses(own), ["delivered", "held"])
      assert.strictEqual((yield* stateOf(own)).webhook.pausedAt, own.start + second + 1)
      assert.deepStrictEqual((yield* claim(own, { now: own.start + day })).deliveries, [])
    }))

  it.effect("a resume with none skips everything held, but nothing later, and attempts in flight are recorded", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 6)
      const inFlight = yield* claim(own, { now: own.start + 1, limit: 1 })
      yield* pause(own, own.start + second)
      const at = own.start + hour
      yield* resume(own, at, "none")
      const later = yield* record(own, 2, at)
      const check = Effect.gen(function*() {
        const shown = yield* views(own)
        assert.deepStrictEqual(
          shown.map(({ delivery, status }) => [status, delivery.status, delivery.completedAt, delivery.nextAttemptAt]),
          [
            ...Array.from({ length: 6 }, () => ["skipped", "skipped", at, null]),
            ["pending", "pending", null, at],
            ["pending", "pending", null, at + 1]
          ]
        )
        assert.deepStrictEqual(yield* views(own, { status: "skipped" }), shown.slice(0, 6))
        assert.deepStrictEqual(yield* views(own, { status: "pending" }), shown.slice(6))
        const { heldCount, oldestHeldAt } = yield* stateOf(own)
        assert.deepStrictEqual([heldCount, oldestHeldAt], [0, null])
      })
      yield* check
      const claimed = { delivery: inFlight.deliveries[0]!.delivery, token: inFlight.token }
      const { attempt, recorded } = yield* complete(claimed, { startedAt: own.start + 1, outcome: "status" })
      assert.isTrue(recorded)
      const late = yield* DeliveryFixture.view(own, claimed.delivery.id)
      assert.deepStrictEqual([late.status, late.delivery.attemptCount, late.attempts], ["skipped", 1, [attempt]])
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: at + 1 })), later)
      yield* tidy(at + minute, 4)
      yield* check
      // paused once more, only later events are held
      yield* pause(own, at + hour)
      const { heldCount, oldestHeldAt } = yield* stateOf(own)
      assert.deepStrictEqual([heldCount, oldestHeldAt], [2, at])
    }))

  it.effect("deliveries from before a step back of the clock are skipped for good", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 2, own.start + 3 * hour)
      yield* pause(own, own.start)
      yield* record(own, 1, own.start)
      yield* resume(own, own.start + minute, "none")
      yield* tidy(own.start + minute, 100)
      assert.deepStrictEqual(
        (yield* views(own)).map(({ delivery, status }) => [status, delivery.status]),
        Array.from({ length: 3 }, () => ["skipped", "skipped"])
      )
    }))

  it.effect("skipped deliveries are neither held nor due in a second pause and resume, even before they are tidied", () =>
    Effect.gen(function*() {
      const { own } = yield* heldWorld(5)
      yield* resume(own, own.start + hour, "none")
      yield* pause(own, own.start + hour + 1)
      const events = yield* record(own, 2, own.start + hour + 2)
      const { heldCount, oldestHeldAt } = yield* stateOf(own)
      assert.deepStrictEqual([heldCount, oldestHeldAt], [2, own.start + hour + 2])
      assert.strictEqual((yield* views(own, { status: "held" })).length, 2)
      yield* resume(own, own.start + 2 * hour, "all")
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: own.start + 2 * hour })), events)
    }))

  it.effect("a resume with since replays events recorded at or after it, and skips earlier ones", () =>
    Effect.gen(function*() {
      const { events, own } = yield* heldWorld(9)
      const at = own.start + hour
      yield* resume(own, at, { since: own.start + 4 })
      const expected = [...Array.from({ length: 4 }, () => "skipped"), ...Array.from({ length: 5 }, () => "pending")]
      assert.deepStrictEqual(yield* statuses(own), expected as ReadonlyArray<Delivery.DeliveryStatus>)
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: at })), events.slice(4))
      yield* tidy(at, 3)
      assert.deepStrictEqual(yield* statuses(own), expected as ReadonlyArray<Delivery.DeliveryStatus>)
    }))

  it.effect("a resume with since after all held events skips them all", () =>
    Effect.gen(function*() {
      const { own } = yield* heldWorld(3)
      yield* resume(own, own.start + hour, { since: own.start + minute })
      assert.deepStrictEqual(yield* statuses(own), ["skipped", "skipped", "skipped"])
      assert.deepStrictEqual((yield* claim(own, { now: own.start + hour })).deliveries, [])
    }))

  it.effect("skipped events of a message are not waited for, and the others keep their order", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* pause(own, own.start)
      const { messageId } = yield* MessageFixture.sent(own, { now: own.start + second })
      yield* MessageFixture.report({ status: "delivered", at: own.start + hour, reference: messageId })
      yield* MessageFixture.report({ status: "read", at: own.start + 2 * hour, reference: messageId })
      yield* resume(own, own.start + 3 * hour, { since: own.start + minute })
      const at = own.start + 3 * hour + second
      yield* tidy(at, 100)
      const next = yield* DeliveryFixture.claimOne(own, { now: at })
      assert.deepStrictEqual([next.delivery.orderKey, next.delivery.sequence], [messageId, 2])
      yield* complete(next, { startedAt: at, outcome: "delivered", now: at + second })
      const last = yield* DeliveryFixture.claimOne(own, { now: at + second })
      assert.strictEqual(last.delivery.sequence, 3)
    }))

  it.effect("a message's event recorded after skipped ones is due immediately", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* pause(own, own.start)
      const { messageId } = yield* MessageFixture.sent(own, { now: own.start + second })
      yield* resume(own, own.start + hour, "none")
      yield* MessageFixture.report({ status: "delivered", at: own.start + hour, reference: messageId })
      const { delivery } = yield* DeliveryFixture.claimOne(own, { now: own.start + hour })
      assert.deepStrictEqual([delivery.sequence, delivery.nextAttemptAt], [2, own.start + hour])
    }))

  it.effect("waiting retries are due with the resume, and start a new round", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 1)
      let now = own.start
      for (let i = 0; i < 4; i++) {
        const { attempt } = yield* tryOne(own, { startedAt: now })
        now = attempt.startedAt + 10 * minute
      }
      yield* pause(own, now)
      const at = now + second
      yield* resume(own, at, "all")
      assert.isNull((yield* stateOf(own)).oldestTriedAt)
      const { attempt, claimed } = yield* tryOne(own, { startedAt: at })
      assert.deepStrictEqual([attempt.number, claimed.delivery.roundAttempts], [5, 4])
      const { delivery } = yield* DeliveryFixture.view(own, claimed.delivery.id)
      const endedAt = at + DeliveryFixture.durationMs
      assert.deepStrictEqual(
        [delivery.attemptCount, delivery.roundAttempts, delivery.firstAttemptAt, delivery.nextAttemptAt],
        [5, 1, at, endedAt + second]
      )
      assert.strictEqual((yield* stateOf(own)).oldestTriedAt, at)
      // 24 hours from now, not from the very first attempt
      yield* tryOne(own, { startedAt: own.start + day + minute })
      assert.isNull((yield* stateOf(own)).webhook.pausedAt)
    }))

  it.effect("the backlog goes oldest first, eight at once and a hundred a second, beside new events", () =>
    Effect.gen(function*() {
      const { events, own } = yield* heldWorld(40)
      const at = own.start + hour
      yield* resume(own, at, "all")
      const first = yield* claim(own, { now: at })
      assert.deepStrictEqual(eventsOf(first), events.slice(0, 8))
      assert.isTrue(first.deliveries.every(({ isBacklog }) => isBacklog))
      const fresh = yield* record(own, 20, at)
      const beside = yield* claim(own, { now: at + 20 })
      assert.deepStrictEqual(eventsOf(beside), fresh.slice(0, 8))
      assert.isFalse(beside.deliveries.some(({ isBacklog }) => isBacklog))
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: at + 60 })), [])
      for (const one of first.deliveries) {
        yield* complete({ ...one, token: first.token }, { startedAt: at, outcome: "delivered", durationMs: 10 })
      }
      // eight have used their 80 ms
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: at + 79, limit: 1 })), fresh.slice(8, 9))
      const second = yield* claim(own, { now: at + 80, limit: 3 })
      assert.deepStrictEqual(eventsOf(second), events.slice(8, 11))
      assert.isAtMost(second.nextDueAt ?? Infinity, at + 110)
      const others = yield* claim(own, { now: at + 81 })
      assert.deepStrictEqual(eventsOf(others), fresh.slice(9, 13))
      assert.deepStrictEqual(eventsOf(yield* claim(own, { now: at + 110 })), [])
    }))

  if (runs !== "few") {
    it.effect("a backlog of hours drains at the bounded rate, however it is claimed", () =>
      Effect.gen(function*() {
        const { own } = yield* heldWorld(60)
        const at = own.start + hour
        yield* resume(own, at, "all")
        let done = 0
        for (let now = at; now < at + 500; now += 5) {
          const { deliveries, token } = yield* claim(own, { now })
          done += deliveries.length
          assert.isAtMost(done, (now - at) / 10 + 8)
          for (const one of deliveries) {
            yield* complete({ ...one, token }, { startedAt: now, outcome: "delivered", durationMs: 1 })
          }
        }
        assert.isAtLeast(done, 48)
      }))
  }

  it.effect("a resumed failing webhook gets one attempt at a time: new events, then its backlog", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const failing: WebhookHealth.WebhookHealth = {
        ...WebhookHealth.initial,
        consecutiveFailures: WebhookHealth.failingAfter,
        failuresSince: own.start - 2 * hour,
        lastFailure: { at: own.start - hour, message: "answered 500; only 200 counts" },
        lastAttemptAt: own.start - hour
      }
      yield* putWebhook(own, { health: failing, pausedAt: own.start - minute })
      const [held] = yield* record(own, 1)
      const at = own.start + hour
      assert.deepStrictEqual(
        Option.map(yield* resume(own, at, "all"), ({ health }) => health),
        Option.some(failing)
      )
      const [fresh] = yield* record(own, 1, at)
      const one = yield* tryOne(own, { startedAt: at })
      assert.strictEqual(one.claimed.event.id, fresh!)
      const two = yield* tryOne(own, { startedAt: at + minute })
      assert.strictEqual(two.claimed.event.id, held!)
    }))

  it.effect("a removal's skipped deliveries are tidied as well", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 5)
      yield* WebhookStore.WebhookStore.use((store) => store.remove(own.workspace.id, own.start + hour))
      const before = yield* views(own)
      yield* tidy(own.start + hour, 2)
      assert.deepStrictEqual(yield* views(own), before)
      assert.deepStrictEqual(before.map(({ delivery }) => delivery.completedAt), Array(5).fill(own.start + hour))
    }))

  it.effect("a claim takes up to its limits of healthy and of doubtful webhooks", () =>
    Effect.gen(function*() {
      const healthy = yield* world()
      const doubtful = yield* world({ start: healthy.start })
      const worlds = [doubtful, healthy]
      yield* putWebhook(healthy)
      const failed = { consecutiveFailures: 1, failuresSince: doubtful.start, lastSuccessAt: doubtful.start }
      yield* putWebhook(doubtful, { health: { ...WebhookHealth.initial, ...failed } })
      for (const own of worlds) yield* record(own, 9, own.start - (own === doubtful ? second : 0))
      const now = healthy.start + second
      const shares = ({ deliveries }: DeliveryStore.Claimed) =>
        worlds.map(({ workspace }) => deliveries.filter(({ delivery }) => delivery.workspaceId === workspace.id).length)
      assert.deepStrictEqual(shares(yield* claim(worlds, { now, limit: { healthy: 2, doubtful: 0 } })), [0, 2])
      assert.deepStrictEqual(shares(yield* claim(worlds, { now, limit: { healthy: 0, doubtful: 3 } })), [3, 0])
      // a doubtful webhook has four slots
      const last = yield* claim(worlds, { now, limit: 100 })
      assert.deepStrictEqual(shares(last), [1, 7])
      assert.deepStrictEqual(
        new Set(last.deliveries.map(({ delivery, standing }) => [delivery.workspaceId, standing].join())),
        new Set([[doubtful.workspace.id, "doubtful"].join(), [healthy.workspace.id, "healthy"].join()])
      )
    }))

  it.effect("a standing with a limit of 0 does not count for nextDueAt, and a new webhook has one slot until its first success", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own, { health: WebhookHealth.initial })
      yield* record(own, 20)
      const now = own.start + second
      const none = yield* claim(own, { now, limit: { healthy: 5, doubtful: 0 } })
      assert.deepStrictEqual(none.deliveries, [])
      assert.isAbove(none.nextDueAt ?? Infinity, now)
      const { deliveries, token } = yield* claim(own, { now })
      assert.strictEqual(deliveries.length, AttemptSlots.maxUnproven)
      assert.deepStrictEqual((yield* claim(own, { now: now + 1 })).deliveries, [])
      yield* complete({ ...deliveries[0]!, token }, { startedAt: now, outcome: "delivered" })
      assert.strictEqual((yield* claim(own, { now: now + 600 })).deliveries.length, AttemptSlots.maxInFlight)
    }))

  it.effect("backlog reports what waits", () =>
    Effect.gen(function*() {
      const store = yield* DeliveryStore.DeliveryStore
      const own = yield* world()
      const held = yield* world({ start: own.start })
      const before = yield* store.backlog(own.start)
      yield* putWebhook(own)
      yield* putWebhook(held)
      yield* pause(held, held.start)
      yield* record(own, 11, own.start + 7)
      yield* record(held, 2, held.start)
      const more = (by: ReadonlyArray<number>) => before.webhooksByBacklog.map((webhooks, i) => webhooks + by[i]!)
      // even while nothing is claimed, which is when it matters most
      const unseen = yield* store.backlog(own.start + 8)
      assert.deepStrictEqual([unseen.oldestDueAt, unseen.webhooksByBacklog], [own.start + 7, more([1, 1, 0])])
      yield* claim(own, { now: own.start + 8, limit: 1 })
      const after = yield* store.backlog(own.start + minute)
      assert.strictEqual(after.pausedWebhooks, before.pausedWebhooks + 1)
      assert.strictEqual(after.pending, before.pending + 13)
      assert.deepStrictEqual(after.webhooksByBacklog, more([1, 1, 0]))
      assert.strictEqual(after.failingWebhooks, before.failingWebhooks)
      assert.isAtLeast(after.oldestDueAt!, own.start + 7)
      assert.isAtMost(after.oldestDueAt!, own.start + 8)
      yield* resume(held, held.start + hour, "all")
      const resumed = yield* store.backlog(own.start + hour)
      assert.deepStrictEqual([resumed.pausedWebhooks, resumed.pending], [before.pausedWebhooks, before.pending + 13])
      assert.deepStrictEqual(resumed.webhooksByBacklog, more([2, 1, 0]))
    }))
}
