/**
 * Conformance of `EventStore`: how events are listed in either direction, followed by readers and deleted.
 */
import { assert } from "@effect/vitest"
import { CustomerRecords, type Delivery, DeliveryStore, type Event, EventStore, type Id } from "@wac/core"
import { Effect, Fiber, Option } from "effect"
import * as CustomerFixture from "../contacts/CustomerFixture.ts"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as DeliveryFixture from "../webhooks/DeliveryFixture.ts"

const { day, hour, idAt, world } = Fixture
const { customer, inbound } = MessageFixture

type Filter = EventStore.LatestFilter

/** Follows the pages to the end. */
const follow = (
  { workspace }: Fixture.World,
  filter: Filter = {},
  limit = 100,
  order: "list" | "latest" = "list"
) =>
  Effect.gen(function*() {
    const store = yield* EventStore.EventStore
    const sizes: Array<number> = []
    const events: Array<Event.Event> = []
    let after: string | null = null
    do {
      const page: { readonly items: ReadonlyArray<Event.Event>; readonly next: string | null } = yield* store[order](
        workspace.id,
        filter,
        { limit, after }
      )
      sizes.push(page.items.length)
      events.push(...page.items)
      after = page.next
    } while (after !== null && sizes.length < 100)
    return { events, sizes }
  })

const idsOf = (events: ReadonlyArray<Event.Event>) => events.map(({ id }) => id)

/** Records a customer's message at `now` under an event id, and returns the id. */
const recorded = (own: Fixture.World, now: number, eventId?: Id.EventId, from = customer(1)) =>
  Effect.gen(function*() {
    const fresh = yield* Fixture.eventIds
    const ids = eventId === undefined ? fresh : { ...fresh, events: [eventId, ...fresh.events] }
    const { command } = yield* inbound(own, { now, at: own.start, ids, customer: from })
    return command.ids.events[0]!
  })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a workspace without events has an empty list", () =>
    Effect.gen(function*() {
      const own = yield* world()
      assert.deepStrictEqual(yield* follow(own), { events: [], sizes: [0] })
    }))

  it.effect("list returns events oldest first, with or without a webhook", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const ids: Array<Id.EventId> = []
      for (let i = 0; i < 3; i++) ids.push(yield* recorded(own, own.start + i))
      yield* Fixture.putWebhook(own)
      for (let i = 3; i < 6; i++) ids.push(yield* recorded(own, own.start + i))
      const { events } = yield* follow(own)
      assert.deepStrictEqual(idsOf(events), ids)
      assert.deepStrictEqual(events.map(({ createdAt }) => createdAt - own.start), [0, 1, 2, 3, 4, 5])
    }))

  it.effect("get and list return the same event", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const own = yield* world()
      yield* MessageFixture.sent(own, { message: MessageFixture.template({ clientReference: "order “7”\n\u{1F4E6}" }) })
      const { events } = yield* follow(own)
      assert.strictEqual(events.length, 1)
      assert.deepStrictEqual(yield* store.get(own.workspace.id, events[0]!.id), Option.some(events[0]!))
      assert.strictEqual(events[0]!.data["client_reference"], "order “7”\n\u{1F4E6}")
      assert.deepStrictEqual(yield* store.get(own.workspace.id, yield* Fixture.id("evt")), Option.none())
    }))

  it.effect("since selects events at or after it, and type those of one type", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const one = yield* recorded(own, own.start)
      const { messageId } = yield* MessageFixture.sent(own, { now: own.start + 1, message: MessageFixture.template() })
      yield* MessageFixture.report({ status: "delivered", at: own.start + 2, reference: messageId })
      const two = yield* recorded(own, own.start + 3)
      const typesOf = (filter: Filter) =>
        Effect.map(follow(own, filter), ({ events }) => events.map(({ type }) => type))
      const all = ["message.received", "message.sent", "message.delivered", "message.received"]
      assert.deepStrictEqual(yield* typesOf({}), all)
      assert.deepStrictEqual(yield* typesOf({ since: own.start }), all)
      assert.deepStrictEqual(yield* typesOf({ since: own.start + 1 }), all.slice(1))
      assert.deepStrictEqual(yield* typesOf({ since: own.start + 3 }), all.slice(3))
      assert.deepStrictEqual(yield* typesOf({ since: own.start + 4 }), [])
      assert.deepStrictEqual(yield* typesOf({ type: "message.delivered" }), ["message.delivered"])
      assert.deepStrictEqual(yield* typesOf({ type: "campaign.completed" }), [])
      const received = yield* follow(own, { type: "message.received" })
      assert.deepStrictEqual(idsOf(received.events), [one, two])
      const late = yield* follow(own, { type: "message.received", since: own.start + 1 })
      assert.deepStrictEqual(idsOf(late.events), [two])
    }))

  it.effect("pages follow each other without gap or repetition, with any filter", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const ids: Array<Id.EventId> = []
      for (let i = 0; i < 8; i++) {
        ids.push(yield* recorded(own, own.start + i))
        yield* MessageFixture.sent(own, { now: own.start + i, message: MessageFixture.template({ to: customer(i) }) })
      }
      const received = yield* follow(own, { type: "message.received" }, 3)
      assert.deepStrictEqual(received.sizes, [3, 3, 2])
      assert.deepStrictEqual(idsOf(received.events), ids)
      const later = yield* follow(own, { type: "message.received", since: own.start + 4 }, 2)
      assert.deepStrictEqual(later.sizes, [2, 2])
      assert.deepStrictEqual(idsOf(later.events), ids.slice(4))
      const all = yield* follow(own, {}, 5)
      assert.deepStrictEqual(all.sizes, [5, 5, 5, 1])
      assert.strictEqual(new Set(idsOf(all.events)).size, 16)
    }))

  it.effect("latest returns the same events newest first, with any filter and page size", () =>
    Effect.gen(function*() {
      const own = yield* world()
      assert.deepStrictEqual(yield* follow(own, {}, 10, "latest"), { events: [], sizes: [0] })
      for (let i = 0; i < 8; i++) {
        yield* recorded(own, own.start + i)
        yield* MessageFixture.sent(own, { now: own.start + i, message: MessageFixture.template({ to: customer(i) }) })
      }
      const filters: ReadonlyArray<Filter> = [
        {},
        { type: "message.received" },
        { since: own.start + 3 },
        { type: "message.sent", since: own.start + 5 },
        { type: "campaign.completed" },
        { since: own.start + 8 }
      ]
      for (const filter of filters) {
        const forwards = yield* follow(own, filter)
        for (const limit of [1, 3, 100]) {
          const { events } = yield* follow(own, filter, limit, "latest")
          assert.deepStrictEqual(events, forwards.events.toReversed())
        }
      }
    }))

  it.effect("latest returns what was recorded before a time, with any filter and page size", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const hours = 60 * 60 * 1000
      const at = [0, 1, 2, 3 * hours, 3 * hours + 1, 6 * hours].map((since) => own.start + since)
      const ids: Array<Id.EventId> = []
      for (const time of at) ids.push(yield* recorded(own, time))
      for (const limit of [1, 2, 100]) {
        const found = (filter: Filter) =>
          Effect.map(follow(own, filter, limit, "latest"), ({ events }) => idsOf(events).toReversed())
        assert.deepStrictEqual(yield* found({ until: at[0]! }), [])
        assert.deepStrictEqual(yield* found({ until: at[2]! }), ids.slice(0, 2))
        assert.deepStrictEqual(yield* found({ until: at[4]! }), ids.slice(0, 4))
        assert.deepStrictEqual(yield* found({ until: at[5]! + 1 }), ids)
        assert.deepStrictEqual(yield* found({ since: at[1]!, until: at[4]! }), ids.slice(1, 4))
        assert.deepStrictEqual(yield* found({ type: "message.sent", until: at[4]! }), [])
      }
    }))

  it.effect("latest finds a message's events, newest first", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { messageId } = yield* MessageFixture.sent(own, { now: own.start })
      yield* MessageFixture.sent(own, { now: own.start + 1 })
      yield* MessageFixture.report({ status: "delivered", at: own.start + 2, reference: messageId })
      yield* MessageFixture.report({ status: "read", at: own.start + 3, reference: messageId })
      const found = (filter: EventStore.LatestFilter, limit = 1) =>
        Effect.map(follow(own, filter, limit, "latest"), ({ events }) => events.map(({ type }) => type))
      const life = ["message.read", "message.delivered", "message.sent"]
      for (const limit of [1, 2, 10]) assert.deepStrictEqual(yield* found({ messageId }, limit), life)
      assert.deepStrictEqual(yield* found({ messageId, type: "message.sent" }), ["message.sent"])
      assert.deepStrictEqual(yield* found({ messageId, until: own.start + 3 }), life.slice(1))
      assert.deepStrictEqual(yield* found({ messageId: yield* Fixture.id("msg") }), [])
      const other = yield* world()
      assert.deepStrictEqual((yield* follow(other, { messageId }, 10, "latest")).events, [])
    }))

  it.effect("latest continues with the older events after the cursor's event was erased with its customer", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const own = yield* world()
      const record = (at: number, from: string) => recorded(own, at, idAt("evt", at), from)
      const [kept, gone] = [customer(1), customer(2)]
      const oldest = yield* record(own.start, kept)
      const old = yield* record(own.start + 2 * hour, kept)
      const near = yield* record(own.start + 4 * hour - 1, kept)
      const cursor = yield* record(own.start + 4 * hour, gone)
      const young = yield* record(own.start + 6 * hour, kept)
      yield* record(own.start + 9 * hour, kept)
      const filters: ReadonlyArray<Filter> = [{ until: own.start + 7 * hour }, {
        until: own.start + 7 * hour,
        type: "message.received"
      }]
      for (const filter of filters) {
        const first = yield* store.latest(own.workspace.id, filter, { limit: 2, after: null })
        assert.deepStrictEqual([idsOf(first.items), first.next], [[young, cursor], cursor])
      }
      yield* CustomerFixture.erase(own, CustomerRecords.namesOf(gone, []), "events")
      for (const filter of [{}, ...filters]) {
        const second = yield* store.latest(own.workspace.id, filter, { limit: 2, after: cursor })
        assert.deepStrictEqual(idsOf(second.items), [near, old])
        const third = yield* store.latest(own.workspace.id, filter, { limit: 2, after: second.next })
        assert.deepStrictEqual([idsOf(third.items), third.next], [[oldest], null])
      }
    }))

  it.effect("list continues from the place of an event that was erased since, and repeats none before it", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const own = yield* world()
      const [kept, gone] = [customer(1), customer(2)]
      const first = yield* recorded(own, own.start, yield* Fixture.id("evt"), kept)
      const second = yield* recorded(own, own.start + 1, yield* Fixture.id("evt"), gone)
      const found = yield* store.list(own.workspace.id, {}, { limit: 10, after: null })
      assert.deepStrictEqual(idsOf(found.items), [first, second])
      const newest = yield* store.latest(own.workspace.id, {}, { limit: 1, after: null })
      assert.deepStrictEqual(idsOf(newest.items), [second])
      assert.strictEqual(newest.places.length, 1)
      yield* CustomerFixture.erase(own, CustomerRecords.namesOf(gone, []), "events")
      const rest = (place: string | undefined) =>
        Effect.map(
          store.list(own.workspace.id, {}, { limit: 10, after: second, place }),
          ({ items }) => idsOf(items)
        )
      for (const { places } of [found, newest]) assert.deepStrictEqual(yield* rest(places.at(-1)), [])
      const third = yield* recorded(own, own.start + 2, yield* Fixture.id("evt"), kept)
      for (const { places } of [found, newest]) assert.deepStrictEqual(yield* rest(places.at(-1)), [third])
      // of another place before it
      assert.deepStrictEqual(yield* rest(found.places[0]), [third])
      // the event itself counts if it is there
      const { items } = yield* store.list(own.workspace.id, {}, { limit: 10, after: third, place: found.places[0] })
      assert.deepStrictEqual(idsOf(items), [])
    }))

  it.effect("latest misses no older event if the cursor's id was created before its neighbours were recorded", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const own = yield* world()
      const ids = [1, 2, 3].map((time) => idAt("evt", own.start + time))
      for (const id of ids) yield* recorded(own, own.start + 10, id, customer(id === ids[1] ? 2 : 1))
      yield* CustomerFixture.erase(own, CustomerRecords.namesOf(customer(2), []), "events")
      const { items } = yield* store.latest(own.workspace.id, {}, { limit: 10, after: ids[1]! })
      assert.include(idsOf(items), ids[0])
    }))

  it.effect("list misses no later event if the cursor's event was erased and the later one has an older id", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const own = yield* world()
      const [erased, later] = [idAt("evt", own.start + 2), idAt("evt", own.start + 1)] as const
      yield* recorded(own, own.start + 10, erased, customer(2))
      yield* recorded(own, own.start + 11, later)
      yield* CustomerFixture.erase(own, CustomerRecords.namesOf(customer(2), []), "events")
      const { items } = yield* store.list(own.workspace.id, {}, { limit: 10, after: erased })
      assert.deepStrictEqual(idsOf(items), [later])
    }))

  it.effect("latest finds a message's events before a deleted one", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const own = yield* world()
      const { messageId } = yield* MessageFixture.sent(own, { now: own.start })
      yield* MessageFixture.report({ status: "delivered", at: own.start + 4 * hour, reference: messageId })
      const found = (after: string) =>
        Effect.map(
          store.latest(own.workspace.id, { messageId }, { limit: 10, after }),
          ({ items }) => items.map(({ type }) => type)
        )
      assert.deepStrictEqual(yield* found(idAt("evt", own.start + 2 * hour)), ["message.sent"])
      assert.deepStrictEqual(yield* found(idAt("evt", own.start - 2 * hour)), [])
    }))

  it.effect("latest returns nothing after an event that is older than all others, and for another list's cursor", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const own = yield* world()
      yield* recorded(own, own.start)
      for (const after of [idAt("evt", own.start - 2 * hour), idAt("msg", own.start + 2 * hour)]) {
        const page = yield* store.latest(own.workspace.id, {}, { limit: 10, after })
        assert.deepStrictEqual(page, { items: [], places: [], next: null })
      }
    }))

  it.effect("following the pages does not skip an event whose id and time are older than what was read", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const own = yield* world()
      // two processes: the first one got its id and time, and was slow to commit
      const slow = yield* Fixture.id("evt")
      const first = yield* recorded(own, own.start + 5)
      const second = yield* recorded(own, own.start + 5)
      const page = yield* store.list(own.workspace.id, {}, { limit: 1, after: null })
      assert.deepStrictEqual(idsOf(page.items), [first])
      assert.strictEqual(page.next, first)
      yield* recorded(own, own.start, slow)
      const rest = yield* store.list(own.workspace.id, {}, { limit: 100, after: page.next })
      assert.sameMembers(idsOf(rest.items), [second, slow])
      // a reader that starts over sees all of them once
      const { events } = yield* follow(own, {}, 1)
      assert.sameMembers(idsOf(events), [first, second, slow])
    }))

  it.effect("a reader that follows while many write misses nothing", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const own = yield* world()
      const ids = yield* Effect.replicateEffect(Fixture.id("evt"), 80)
      const shuffled = ids.map((id, i) => ({ id, place: (i * 37) % 80 })).sort((a, b) => a.place - b.place)
      const writers = yield* Effect.forkChild(
        Effect.forEach(
          shuffled,
          ({ id, place }) =>
            Effect.andThen(
              Effect.replicateEffect(Effect.yieldNow, place % 7, { discard: true }),
              recorded(own, own.start + place, id)
            ),
          { concurrency: 16, discard: true }
        )
      )
      const seen: Array<Id.EventId> = []
      let after: string | null = null
      let ended = false
      while (true) {
        const wasEnded = ended
        const page: { readonly items: ReadonlyArray<Event.Event> } = yield* store.list(
          own.workspace.id,
          {},
          { limit: 5, after }
        )
        seen.push(...idsOf(page.items))
        after = page.items.at(-1)?.id ?? after
        ended = writers.pollUnsafe() !== undefined
        if (wasEnded && page.items.length === 0) break
        yield* Effect.yieldNow
      }
      yield* Fiber.join(writers)
      assert.strictEqual(seen.length, 80)
      assert.sameMembers(seen, ids as Array<Id.EventId>)
    }))

  it.effect("old events are deleted with their deliveries, but none from the oldest on that is still to be delivered", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const deliveries = yield* DeliveryStore.DeliveryStore
      const own = yield* world()
      yield* Fixture.putWebhook(own)
      const recordedAt = Effect.fnUntraced(function*(at: number) {
        const fresh = yield* Fixture.eventIds
        const ids = { events: [idAt("evt", at), ...fresh.events], deliveries: [idAt("dlv", at), ...fresh.deliveries] }
        yield* inbound(own, { now: at, at: own.start, ids })
        return ids.events[0]!
      })
      const tryAll = Effect.fnUntraced(function*(at: number, outcome: Delivery.AttemptOutcome) {
        const { deliveries, token } = yield* DeliveryFixture.claim(own, { now: at })
        for (const one of deliveries) yield* DeliveryFixture.complete({ ...one, token }, { startedAt: at, outcome })
        return deliveries.length
      })
      const forgetAll = (before: number) => Forgetting.all(store.forget(before, before))
      const { start } = own
      yield* recordedAt(start)
      assert.strictEqual(yield* tryAll(start, "delivered"), 1)
      const open = yield* recordedAt(start + 3 * hour)
      assert.strictEqual(yield* tryAll(start + 3 * hour, "status"), 1)
      const behind = yield* recordedAt(start + 3 * hour + 500)
      assert.strictEqual(yield* tryAll(start + 3 * hour + 600, "delivered"), 1)
      const young = yield* recordedAt(start + 6 * day)

      assert.isAtLeast(yield* forgetAll(start + 5 * day), 1)
      assert.deepStrictEqual(idsOf((yield* follow(own)).events), [open, behind, young])
      assert.deepStrictEqual(idsOf((yield* follow(own, {}, 100, "latest")).events), [young, behind, open])
      const old = idAt("dlv", start)
      assert.deepStrictEqual(yield* deliveries.get(own.workspace.id, old), Option.none())
      assert.deepStrictEqual((yield* DeliveryFixture.view(own, idAt("dlv", start + 3 * hour))).attempts.length, 1)

      assert.strictEqual(yield* tryAll(start + 6 * day, "delivered"), 2)
      yield* forgetAll(start + 5 * day)
      assert.deepStrictEqual(idsOf((yield* follow(own)).events), [young])
      assert.strictEqual((yield* DeliveryFixture.views(own)).length, 1)
      assert.deepStrictEqual(yield* store.get(own.workspace.id, behind), Option.none())
      // whoever follows the events from a deleted one misses nothing that is kept
      const after = yield* store.list(own.workspace.id, {}, { limit: 100, after: behind })
      assert.deepStrictEqual(idsOf(after.items), [young])
    }))

  it.effect("a workspace sees only its own events", () =>
    Effect.gen(function*() {
      const store = yield* EventStore.EventStore
      const own = yield* world()
      const other = yield* world({ start: own.start })
      const event = yield* recorded(own, own.start)
      assert.isTrue(Option.isSome(yield* store.get(own.workspace.id, event)))
      assert.deepStrictEqual(yield* store.get(other.workspace.id, event), Option.none())
      assert.deepStrictEqual((yield* follow(other)).events, [])
      assert.deepStrictEqual((yield* follow(other, {}, 100, "latest")).events, [])
      const foreign = yield* recorded(other, own.start)
      const beyond = yield* store.list(other.workspace.id, {}, { limit: 100, after: event })
      assert.deepStrictEqual(idsOf(beyond.items).filter((id) => id !== foreign), [])
    }))
}
