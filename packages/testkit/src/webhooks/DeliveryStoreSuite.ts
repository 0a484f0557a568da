/**
 * Conformance of `DeliveryStore`: how deliveries are listed.
 */
import { assert } from "@effect/vitest"
import { CustomerRecords, type Delivery, DeliveryStore, type Id, type Time, WebhookStore } from "@wac/core"
import { Clock, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import * as CustomerFixture from "../contacts/CustomerFixture.ts"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as DeliveryFixture from "./DeliveryFixture.ts"

const { claim, complete, record, tryOne, view, views } = DeliveryFixture
const { day, hour, putWebhook, world } = Fixture

const page = (
  { workspace }: Fixture.World,
  status: Delivery.DeliveryStatus | undefined,
  limit: number,
  after: string | null
) =>
  DeliveryStore.DeliveryStore.use((store) =>
    store.list(workspace.id, status === undefined ? {} : { status }, { limit, after })
  )

/**
 * Runs a test in a world that starts now, by a clock that stands still: a delivery's id carries the time at which it is
 * created, however slow the machine is. Ids of one source cannot carry an earlier time than those before, and other
 * tests run decades ahead, so the test has a source of its own.
 */
const inOneMoment = <A, E, R>(test: (own: Fixture.World) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const start = clock.currentTimeMillisUnsafe()
    return yield* Effect.flatMap(world({ start }), test).pipe(
      Effect.provideService(Clock.Clock, Fixture.clockAt(clock, () => start)),
      Effect.provide(Layer.fresh(SecureRandom.layerWebCrypto))
    )
  })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("old attempts are deleted, and their deliveries and later attempts stay", () =>
    Effect.gen(function*() {
      const store = yield* DeliveryStore.DeliveryStore
      const own = yield* world()
      yield* putWebhook(own)
      const ids = { ...(yield* Fixture.eventIds), deliveries: [Fixture.idAt("dlv", own.start)] }
      yield* MessageFixture.inbound(own, { ids })
      yield* tryOne(own, { startedAt: own.start })
      const { attempt } = yield* tryOne(own, { startedAt: own.start + 2 * hour, outcome: "delivered" })
      yield* Forgetting.all(store.forgetAttempts(own.start + hour))
      const { attempts, delivery } = yield* view(own, ids.deliveries[0]!)
      assert.deepStrictEqual(attempts, [attempt])
      assert.deepInclude(delivery, { status: "delivered", attemptCount: 2 })
    }))

  it.effect("list returns deliveries newest first, in pages without gap or repetition", () =>
    Effect.gen(function*() {
      const own = yield* world()
      assert.deepStrictEqual(yield* page(own, undefined, 10, null), { items: [], next: null })
      yield* putWebhook(own)
      const events = yield* record(own, 7)
      const seen: Array<string> = []
      const sizes: Array<number> = []
      let after: string | null = null
      do {
        const { items, next }: {
          readonly items: ReadonlyArray<DeliveryStore.DeliveryView>
          readonly next: string | null
        } = yield* page(own, undefined, 3, after)
        seen.push(...items.map(({ delivery }) => delivery.eventId))
        sizes.push(items.length)
        after = next
      } while (after !== null && sizes.length < 10)
      assert.deepStrictEqual(seen, events.toReversed())
      assert.deepStrictEqual(sizes, [3, 3, 1])
      assert.strictEqual((yield* page(own, undefined, 7, null)).next, null)
    }))

  it.effect("list filters by the shown status, in pages", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 6)
      const { deliveries, token } = yield* claim(own, { now: own.start + 1000, limit: 4 })
      for (const one of deliveries.slice(0, 3)) {
        yield* complete({ ...one, token }, { startedAt: own.start + 1000, outcome: "delivered" })
      }
      const of = (status: Delivery.DeliveryStatus) => Effect.map(views(own, { status }), (shown) => shown.length)
      assert.strictEqual(yield* of("delivered"), 3)
      // one of them is in flight
      assert.strictEqual(yield* of("pending"), 3)
      assert.strictEqual(yield* of("held"), 0)
      assert.strictEqual(yield* of("exhausted"), 0)
      const first = yield* page(own, "pending", 2, null)
      const second = yield* page(own, "pending", 2, first.next)
      assert.deepStrictEqual([first.items.length, second.items.length, second.next], [2, 1, null])
      assert.deepStrictEqual([...first.items, ...second.items], (yield* views(own, { status: "pending" })).toReversed())
      yield* WebhookStore.WebhookStore.use((store) => store.remove(own.workspace.id, own.start + hour))
      assert.strictEqual(yield* of("pending"), 0)
      assert.strictEqual(yield* of("skipped"), 3)
      assert.strictEqual(yield* of("delivered"), 3)
    }))

  it.effect("list filters by type, message, time and the last attempt, in pages", () =>
    inOneMoment(Effect.fnUntraced(function*(own) {
      yield* putWebhook(own)
      const { messageId } = yield* MessageFixture.sent(own, { now: own.start })
      const { messageId: other } = yield* MessageFixture.sent(own, { now: own.start + 10 })
      yield* MessageFixture.report({ status: "delivered", at: own.start + 20, reference: messageId })
      const { deliveries, token } = yield* claim(own, { now: own.start + 1000, limit: 10 })
      const ofMessage = (id: Id.MessageId) => deliveries.find(({ delivery }) => delivery.orderKey === id)!
      yield* complete({ ...ofMessage(messageId), token }, { startedAt: own.start + 1000, outcome: "delivered" })
      yield* complete({ ...ofMessage(other), token }, {
        startedAt: own.start + 1000,
        outcome: "status",
        attempt: { statusCode: 503 }
      })
      const found = (filter: DeliveryStore.DeliveryFilter) =>
        Effect.gen(function*() {
          const seen: Array<string> = []
          let after: string | null = null
          do {
            const { items, next }: {
              readonly items: ReadonlyArray<DeliveryStore.DeliveryView>
              readonly next: string | null
            } = yield* DeliveryStore.DeliveryStore.use((store) =>
              store.list(own.workspace.id, filter, { limit: 1, after })
            )
            seen.push(...items.map(({ delivery }) => `${delivery.eventType} ${delivery.orderKey}`))
            after = next
          } while (after !== null && seen.length < 10)
          return seen
        })
      const [sent, sentOther, delivered] = [
        `message.sent ${messageId}`,
        `message.sent ${other}`,
        `message.delivered ${messageId}`
      ]
      assert.deepStrictEqual(yield* found({ eventType: "message.sent" }), [sentOther, sent])
      assert.deepStrictEqual(yield* found({ messageId }), [delivered, sent])
      assert.deepStrictEqual(yield* found({ messageId, eventType: "message.sent" }), [sent])
      assert.deepStrictEqual(yield* found({ messageId: yield* Fixture.id("msg") }), [])
      assert.deepStrictEqual(yield* found({ outcome: "delivered" }), [sent])
      assert.deepStrictEqual(yield* found({ statusCode: 503 }), [sentOther])
      assert.deepStrictEqual(yield* found({ outcome: "status", statusCode: 503 }), [sentOther])
      assert.deepStrictEqual(yield* found({ outcome: "status", statusCode: 500 }), [])
      assert.deepStrictEqual(yield* found({ since: own.start + 10 }), [delivered, sentOther])
      assert.deepStrictEqual(yield* found({ until: own.start + 10 }), [sent])
      assert.deepStrictEqual(yield* found({ status: "pending", messageId }), [delivered])
      assert.deepStrictEqual(yield* found({ status: "pending", statusCode: 503 }), [sentOther])
      assert.deepStrictEqual(yield* found({ status: "delivered", eventType: "message.delivered" }), [])
    })))

  it.effect("a list shows the customer of each event and the outcome of the last attempt", () =>
    inOneMoment(Effect.fnUntraced(function*(own) {
      yield* putWebhook(own)
      const [written, wrote] = [MessageFixture.customer(7), MessageFixture.customer(8)]
      const { messageId } = yield* MessageFixture.sent(own, {
        now: own.start,
        message: MessageFixture.template({ to: written })
      })
      yield* MessageFixture.inbound(own, { now: own.start + 10, at: own.start, customer: wrote })
      type Shown = Pick<DeliveryStore.ListedDelivery, "customer" | "lastAttempt">
      const shown = (filter: DeliveryStore.DeliveryFilter = {}) =>
        Effect.map(
          views(own, filter),
          (deliveries) => deliveries.map(({ customer, lastAttempt }): Shown => ({ customer, lastAttempt }))
        )
      const of = (customer: string, lastAttempt: Shown["lastAttempt"]): Shown => ({ customer, lastAttempt })
      assert.deepStrictEqual(yield* shown(), [of(written, null), of(wrote, null)])
      const tryBoth = (
        startedAt: Time.Instant,
        ends: ReadonlyArray<Pick<DeliveryFixture.EndOptions, "attempt" | "outcome">>
      ) =>
        Effect.gen(function*() {
          const { deliveries, token } = yield* claim(own, { now: startedAt, limit: 2 })
          for (const one of deliveries) {
            const end = ends[one.event.type === "message.sent" ? 0 : 1]!
            yield* complete({ ...one, token }, { startedAt, ...end })
          }
        })
      yield* tryBoth(own.start + 1000, [
        { outcome: "status", attempt: { statusCode: 503 } },
        { outcome: "timeout", attempt: { statusCode: null, response: null } }
      ])
      const refused = of(written, { outcome: "status", statusCode: 503 })
      const late = of(wrote, { outcome: "timeout", statusCode: null })
      assert.deepStrictEqual(yield* shown(), [refused, late])
      assert.deepStrictEqual(yield* shown({ messageId }), [refused])
      assert.deepStrictEqual(yield* shown({ outcome: "timeout" }), [late])
      // the newest attempt counts
      yield* tryBoth(own.start + hour, [{ outcome: "delivered" }, { outcome: "delivered" }])
      const delivered = { outcome: "delivered", statusCode: 200 } as const
      assert.deepStrictEqual(yield* shown({ status: "delivered" }), [of(written, delivered), of(wrote, delivered)])
    })))

  it.effect("pending deliveries of a paused webhook are shown as held, from the pause on", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const webhook = yield* putWebhook(own)
      yield* record(own, 1)
      const { claimed } = yield* tryOne(own, { startedAt: own.start })
      const before = yield* view(own, claimed.delivery.id)
      assert.deepStrictEqual([before.status, before.webhook], ["pending", { id: webhook.id, pausedAt: null }])
      yield* tryOne(own, { startedAt: own.start + day })
      const pausedAt = own.start + day + DeliveryFixture.durationMs
      const after = yield* view(own, claimed.delivery.id)
      assert.deepStrictEqual([after.status, after.webhook], ["held", { id: webhook.id, pausedAt }])
      const listed = yield* views(own, { status: "held" })
      assert.deepStrictEqual(listed.map((one) => ({ ...one, attempts: after.attempts })), [after])
      assert.deepStrictEqual(yield* views(own, { status: "pending" }), [])
      assert.deepStrictEqual(yield* views(own), listed)
    }))

  it.effect.each(["pending", "held"] as const)(
    "a list of %s deliveries continues with the older ones after the cursor's delivery was erased",
    (shown) =>
      Effect.gen(function*() {
        const own = yield* world()
        yield* putWebhook(own, { pausedAt: shown === "held" ? own.start : null })
        const [kept, gone] = [MessageFixture.customer(1), MessageFixture.customer(2)]
        const recorded = Effect.fnUntraced(function*(after: number, customer: string) {
          const now = own.start + after
          const id = Fixture.idAt("dlv", now)
          // the id is created a little before the delivery
          const ids = { ...(yield* Fixture.eventIds), deliveries: [id] }
          yield* MessageFixture.inbound(own, { now: now + 5, at: own.start, customer, ids })
          return id
        })
        const oldest = yield* recorded(0, kept)
        const near = yield* recorded(4 * hour - 2, kept)
        const cursor = yield* recorded(4 * hour, gone)
        const young = yield* recorded(8 * hour, kept)
        const idsAfter = (status: Delivery.DeliveryStatus | undefined, after: string | null) =>
          Effect.map(page(own, status, 2, after), ({ items }) => items.map(({ delivery }) => delivery.id))
        const statuses = [undefined, shown]
        for (const status of statuses) assert.deepStrictEqual(yield* idsAfter(status, null), [young, cursor])
        yield* CustomerFixture.erase(own, CustomerRecords.namesOf(gone, []), "deliveries")
        for (const status of statuses) assert.deepStrictEqual(yield* idsAfter(status, cursor), [near, oldest])
      })
  )

  it.effect("deliveries of a removed webhook are shown with a webhook that is not paused", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const webhook = yield* putWebhook(own, { pausedAt: own.start })
      yield* record(own, 1)
      yield* WebhookStore.WebhookStore.use((store) => store.remove(own.workspace.id, own.start + hour))
      const [shown] = yield* views(own)
      assert.deepStrictEqual([shown!.status, shown!.webhook], ["skipped", { id: webhook.id, pausedAt: null }])
    }))

  it.effect("get finds a delivery without attempts, and nothing for an unknown id", () =>
    Effect.gen(function*() {
      const store = yield* DeliveryStore.DeliveryStore
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 1)
      const [shown] = yield* views(own)
      assert.deepStrictEqual(
        yield* store.get(own.workspace.id, shown!.delivery.id),
        Option.some({ ...shown!, attempts: [] })
      )
      assert.deepStrictEqual(yield* store.get(own.workspace.id, yield* Fixture.id("dlv")), Option.none())
    }))

  it.effect("a workspace sees only its own deliveries", () =>
    Effect.gen(function*() {
      const store = yield* DeliveryStore.DeliveryStore
      const own = yield* world()
      const other = yield* world({ start: own.start })
      yield* putWebhook(own)
      yield* putWebhook(other)
      yield* record(own, 2)
      const [shown] = yield* views(own)
      assert.deepStrictEqual(yield* store.get(other.workspace.id, shown!.delivery.id), Option.none())
      assert.deepStrictEqual(yield* views(other), [])
      const beyond = yield* page(other, undefined, 10, shown!.delivery.id)
      assert.deepStrictEqual(beyond.items, [])
    }))
}
