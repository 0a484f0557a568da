/**
 * Conformance of `SubscriptionStore`, and of the events that `EventStore.forget` keeps for it.
 */
import { assert } from "@effect/vitest"
import {
  CustomerRecords,
  type E164,
  Event,
  EventStore,
  type Id,
  Subscription,
  type SubscriptionStep,
  SubscriptionStore,
  type Time
} from "@wac/core"
import { Duration, Effect } from "effect"
import * as CustomerFixture from "../contacts/CustomerFixture.ts"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import { record } from "../webhooks/DeliveryFixture.ts"

const { day, hour, minute, second, world } = Fixture

const store = SubscriptionStore.SubscriptionStore

const keyOf = ({ workspace }: Fixture.World, name = "orders"): Subscription.Key => ({ workspaceId: workspace.id, name })

const open = (
  own: Fixture.World,
  options: { readonly name?: string; readonly types?: ReadonlyArray<Event.EventType> } = {}
) =>
  store.use(({ open }) =>
    open({ ...keyOf(own, options.name), types: options.types ?? Event.EventType.literals, now: own.start })
  )

type Options = Partial<Omit<SubscriptionStep.Work, "workspaceId">> & { readonly now: Time.Instant }

const work = (own: Fixture.World, options: Options) =>
  store.use(({ work }) =>
    work({
      ...keyOf(own),
      owner: "first",
      types: Event.EventType.literals,
      ended: [],
      running: [],
      room: 1,
      jitter: 0,
      ...options
    })
  )

/** Works on a subscription. Returns the events that it may handle now, each with the number of its attempt. */
const begun = (own: Fixture.World, options: Options) =>
  Effect.map(work(own, options), (worked) => {
    assert(worked._tag === "working")
    return worked.begun.map(({ attempt, event }) => [event.id, attempt] as const)
  })

const handled = (...ids: ReadonlyArray<Id.EventId>): ReadonlyArray<SubscriptionStep.Ended> =>
  ids.map((eventId) => ({ eventId, failure: null }))

const rejected = (...ids: ReadonlyArray<Id.EventId>): ReadonlyArray<SubscriptionStep.Ended> =>
  ids.map((eventId) => ({ eventId, failure: "no" }))

/** Handles everything that may be handled at a time, and returns it in order. */
const handleAll = (own: Fixture.World, options: Options) =>
  Effect.gen(function*() {
    const all: Array<Id.EventId> = []
    let ended = options.ended ?? []
    while (true) {
      const worked = yield* work(own, { ...options, ended })
      assert(worked._tag === "working")
      if (worked.begun.length === 0 && !worked.isMore) return all
      const ids = worked.begun.map(({ event }) => event.id)
      all.push(...ids)
      ended = handled(...ids)
    }
  })

/** A message that is sent, delivered and read: three events of one message, in order. */
const threeEvents = (own: Fixture.World, n = 1) =>
  Effect.gen(function*() {
    const { messageId } = yield* MessageFixture.sent(own, {
      now: own.start,
      message: MessageFixture.template({ to: MessageFixture.customer(n) })
    })
    yield* MessageFixture.report({ at: own.start + 1, reference: messageId, status: "read" })
    const { items } = yield* EventStore.EventStore.use((events) =>
      events.list(own.workspace.id, {}, { limit: 100, after: null })
    )
    return items.filter(({ orderKey }) => orderKey === messageId).map(({ id }) => id)
  })

const failed = (own: Fixture.World, limit = 100, after: string | null = null) =>
  store.use(({ failed }) => failed(keyOf(own), { limit, after }))

const standing = (own: Fixture.World) =>
  Effect.map(store.use(({ standings }) => standings(own.workspace.id)), ([first]) => first)

/** Sets an event aside: it fails at its first try and 24 hours later. */
const setAside = (own: Fixture.World, id: Id.EventId) =>
  Effect.gen(function*() {
    const now = own.start + minute
    assert.deepStrictEqual(yield* begun(own, { now }), [[id, 1]])
    yield* work(own, { now, ended: rejected(id), room: 0 })
    assert.deepStrictEqual(yield* begun(own, { now: now + day }), [[id, 2]])
    yield* work(own, { now: now + day, ended: rejected(id), room: 0 })
  })

const eraseEvents = (own: Fixture.World, customer: E164.E164) =>
  CustomerFixture.erase(own, CustomerRecords.namesOf(customer, []), "events")

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a subscription hands out every event since the name was first used, in the order of recording", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* record(own, 2)
      yield* open(own)
      const ids = yield* record(own, 5, own.start + 10)
      yield* open(own)
      assert.deepStrictEqual(yield* handleAll(own, { now: own.start + minute }), ids)
      assert.deepStrictEqual(yield* handleAll(own, { now: own.start + minute, owner: "second" }), [])
      const later = yield* record(own, 3, own.start + 20)
      assert.deepStrictEqual(yield* handleAll(own, { now: own.start + minute, owner: "second", room: 2 }), later)
    }))

  it.effect("a subscription hands out the types that it was opened with, and only of its workspace", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      yield* open(own, { types: ["message.received"] })
      yield* threeEvents(own)
      yield* record(other, 2)
      const ids = yield* record(own, 2)
      assert.deepStrictEqual(yield* handleAll(own, { now: own.start + minute, room: 5 }), ids)
    }))

  it.effect("a subscription hands out the events of an added type from then on, and none of before", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const now = own.start + minute
      yield* open(own, { types: ["message.received"] })
      yield* threeEvents(own)
      assert.lengthOf(yield* begun(own, { now, room: 5 }), 0)
      yield* open(own)
      assert.lengthOf(yield* begun(own, { now, room: 5 }), 0)
      const further = yield* threeEvents(own, 2)
      assert.deepStrictEqual(yield* handleAll(own, { now, room: 5 }), further)
    }))

  it.effect("while types are added, no event of the earlier types is skipped", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const now = own.start + minute
      yield* open(own, { types: ["message.received"] })
      yield* threeEvents(own)
      const unhandled = yield* record(own, 2)
      yield* open(own)
      yield* open(own, { types: ["message.received", "message.sent"] })
      assert.deepStrictEqual(yield* handleAll(own, { now, room: 5 }), unhandled)
    }))

  it.effect("once a subscription has further types, a process without them records ends, and begins and skips nothing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const types = ["message.received"] as const
      yield* open(own, { types })
      const [first, second] = yield* record(own, 2)
      const now = own.start + minute
      assert.deepStrictEqual(yield* begun(own, { now, types }), [[first!, 1]])
      yield* open(own)
      const further = yield* threeEvents(own)
      const [last] = yield* record(own, 1, own.start + 10)
      assert.lengthOf(yield* begun(own, { now, types, running: [first!], room: 2 }), 0)
      assert.lengthOf(yield* begun(own, { now, types, ended: handled(first!), room: 2 }), 0)
      assert.strictEqual((yield* work(own, { now, types }))._tag, "held")
      assert.deepStrictEqual(
        yield* handleAll(own, { now, owner: "second" }),
        [second!, ...further, last!]
      )
    }))

  it.effect("each name has a place of its own", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own, { name: "orders" })
      yield* open(own, { name: "billing" })
      const ids = yield* record(own, 2)
      assert.deepStrictEqual(yield* handleAll(own, { now: own.start + minute }), ids)
      assert.deepStrictEqual(yield* handleAll(own, { now: own.start + minute, name: "billing" }), ids)
    }))

  it.effect("work begins no more than there is room for", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const ids = yield* record(own, 4)
      const now = own.start + minute
      assert.lengthOf(yield* begun(own, { now, room: 0 }), 0)
      assert.deepStrictEqual(yield* begun(own, { now, room: 3 }), ids.slice(0, 3).map((id) => [id, 1] as const))
      assert.deepStrictEqual(
        yield* begun(own, { now, running: [ids[0]!, ids[2]!], ended: handled(ids[1]!), room: 1 }),
        [[ids[3]!, 1]]
      )
    }))

  it.effect("work hands out the events of a message one at a time, in their order", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const [sent, delivered, read] = yield* threeEvents(own)
      const [other] = yield* record(own, 1)
      const now = own.start + minute
      const worked = yield* work(own, { now, room: 3 })
      assert(worked._tag === "working" && worked.isMore)
      assert.deepStrictEqual(worked.begun.map(({ event }) => event.id), [sent!])
      assert.deepStrictEqual(yield* begun(own, { now, running: [sent!], room: 2 }), [[other!, 1]])
      assert.deepStrictEqual(yield* begun(own, { now, running: [other!], ended: handled(sent!), room: 2 }), [
        [delivered!, 1]
      ])
      assert.deepStrictEqual(yield* begun(own, { now, ended: handled(delivered!, other!), room: 2 }), [[read!, 1]])
      assert.lengthOf(yield* begun(own, { now, ended: handled(read!), room: 2 }), 0)
    }))

  it.effect("an event that failed is tried again with growing delays, and holds up its own message only", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const [sent, delivered] = yield* threeEvents(own)
      const others = yield* record(own, 2)
      let now = own.start + minute
      assert.deepStrictEqual(yield* begun(own, { now }), [[sent!, 1]])
      assert.deepStrictEqual(yield* begun(own, { now, ended: rejected(sent!), room: 5 }), others.map((id) => [id, 1]))
      yield* work(own, { now, ended: handled(...others), room: 0 })
      for (const [attempt, delay] of [[2, second], [3, 5 * second], [4, 25 * second], [5, 2 * minute]] as const) {
        const worked = yield* work(own, { now, room: 5 })
        assert(worked._tag === "working")
        assert.deepStrictEqual([worked.begun, worked.nextIn], [[], delay])
        assert.lengthOf(yield* begun(own, { now: now + delay - 1, room: 5 }), 0)
        now += delay
        assert.deepStrictEqual(yield* begun(own, { now, room: 5 }), [[sent!, attempt]])
        yield* work(own, { now, ended: rejected(sent!), room: 0 })
      }
      now += 10 * minute
      assert.deepStrictEqual(yield* begun(own, { now, room: 5 }), [[sent!, 6]])
      assert.deepStrictEqual(yield* begun(own, { now, ended: handled(sent!), room: 5 }), [[delivered!, 1]])
    }))

  it.effect("an event that fails 24 hours after its first try is set aside, and its message goes on", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const [sent, delivered] = yield* threeEvents(own)
      yield* setAside(own, sent!)
      const now = own.start + minute + day
      const { items: [first, ...rest] } = yield* failed(own)
      assert.lengthOf(rest, 0)
      assert.deepStrictEqual(
        [first!.event.id, first!.event.type, first!.attempts, first!.failedAt, first!.failure],
        [sent, "message.sent", 2, now, "no"]
      )
      assert.deepStrictEqual((yield* standing(own))!.failed, 1)
      assert.deepStrictEqual(yield* begun(own, { now }), [[delivered!, 1]])
    }))

  it.effect("what was set aside is listed, retried for another 24 hours, or discarded", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const ids = yield* record(own, 3)
      const now = own.start + minute
      yield* begun(own, { now, room: 3 })
      yield* work(own, { now, ended: rejected(...ids), room: 0 })
      yield* begun(own, { now: now + day, room: 3 })
      yield* work(own, { now: now + day, ended: rejected(...ids), room: 0 })
      const page = yield* failed(own, 2)
      assert.deepStrictEqual(page.items.map(({ event }) => event.id), ids.slice(0, 2))
      assert.deepStrictEqual((yield* failed(own, 2, page.next)).items.map(({ event }) => event.id), ids.slice(2))

      const later = now + 2 * day
      const { discard, retry } = yield* store
      assert.strictEqual(yield* retry({ ...keyOf(own), eventId: ids[1]!, now: later }), 1)
      assert.strictEqual(yield* retry({ ...keyOf(own), eventId: ids[1]!, now: later }), 0)
      assert.deepStrictEqual(yield* begun(own, { now: later, room: 3 }), [[ids[1]!, 3]])
      yield* work(own, { now: later, ended: rejected(ids[1]!), room: 0 })
      assert.deepStrictEqual(yield* begun(own, { now: later + second, room: 3 }), [[ids[1]!, 4]])
      yield* work(own, { now: later + second, ended: handled(ids[1]!), room: 0 })

      assert.strictEqual(yield* discard({ ...keyOf(own), eventId: ids[0]! }), 1)
      assert.strictEqual(yield* discard({ ...keyOf(own), eventId: ids[0]! }), 0)
      assert.strictEqual(yield* discard({ ...keyOf(own), eventId: null }), 1)
      assert.lengthOf((yield* failed(own)).items, 0)
      assert.strictEqual(yield* retry({ ...keyOf(own), eventId: null, now: later }), 0)
      assert.lengthOf(yield* begun(own, { now: later + day, room: 3 }), 0)
    }))

  it.effect("a retried event and the later ones of its message are not handled at the same time", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const [sent, delivered, read] = yield* threeEvents(own)
      yield* setAside(own, sent!)
      const now = own.start + 2 * day
      const { retry } = yield* store
      assert.deepStrictEqual(yield* begun(own, { now, room: 3 }), [[delivered!, 1]])
      yield* retry({ ...keyOf(own), eventId: null, now })
      assert.lengthOf(yield* begun(own, { now, running: [delivered!], room: 2 }), 0)
      assert.deepStrictEqual(yield* begun(own, { now, ended: handled(delivered!), room: 2 }), [[sent!, 3]])
      assert.lengthOf(yield* begun(own, { now, running: [sent!], room: 2 }), 0)
      assert.deepStrictEqual(yield* begun(own, { now, ended: handled(sent!), room: 2 }), [[read!, 1]])
    }))

  it.effect("a later event of a message waits for each earlier one, also beside one that is retried", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const [sent, delivered, read] = yield* threeEvents(own)
      yield* setAside(own, sent!)
      const now = own.start + 2 * day
      const { retry } = yield* store
      assert.deepStrictEqual(yield* begun(own, { now }), [[delivered!, 1]])
      yield* work(own, { now, ended: rejected(delivered!), room: 0 })
      yield* retry({ ...keyOf(own), eventId: sent!, now })
      assert.deepStrictEqual(yield* begun(own, { now, room: 3 }), [[sent!, 3]])
      assert.lengthOf(yield* begun(own, { now, ended: handled(sent!), room: 3 }), 0)
      const later = now + second
      assert.deepStrictEqual(yield* begun(own, { now: later, room: 3 }), [[delivered!, 2]])
      assert.deepStrictEqual(yield* begun(own, { now: later, ended: handled(delivered!), room: 3 }), [[read!, 1]])
    }))

  it.effect("an event that was not taken up yet waits for each earlier one of its message", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const [sent, delivered, read] = yield* threeEvents(own)
      yield* setAside(own, sent!)
      const now = own.start + 2 * day
      const { retry } = yield* store
      // the last one is not taken up before there is room for it
      assert.deepStrictEqual(yield* begun(own, { now, room: 1 }), [[delivered!, 1]])
      yield* retry({ ...keyOf(own), eventId: sent!, now: now + minute })
      assert.lengthOf(yield* begun(own, { now, ended: handled(delivered!), room: 3 }), 0)
      assert.deepStrictEqual(yield* begun(own, { now: now + minute, room: 3 }), [[sent!, 3]])
      assert.deepStrictEqual(yield* begun(own, { now: now + minute, ended: handled(sent!), room: 3 }), [[read!, 1]])
    }))

  it.effect("one process at a time handles events, until it has nothing to handle or its lease ends", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const ids = yield* record(own, 3)
      const now = own.start + minute
      assert.deepStrictEqual(yield* begun(own, { now }), [[ids[0]!, 1]])
      const end = now + Duration.toMillis(Subscription.lease)
      assert.strictEqual((yield* work(own, { now: end - 1, owner: "second" }))._tag, "held")
      // the lease is extended by every report
      yield* begun(own, { now: end - 1, running: [ids[0]!], room: 0 })
      assert.strictEqual((yield* work(own, { now: end, owner: "second" }))._tag, "held")
      yield* begun(own, { now: end, ended: handled(ids[0]!), room: 0 })
      assert.deepStrictEqual(yield* begun(own, { now: end, owner: "second" }), [[ids[1]!, 1]])
      assert.strictEqual((yield* work(own, { now: end }))._tag, "held")
    }))

  it.effect("what a lost process was handling is tried again, told as such, and its late end changes nothing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const [sent, delivered] = yield* threeEvents(own)
      const now = own.start + minute
      assert.deepStrictEqual(yield* begun(own, { now }), [[sent!, 1]])
      const later = now + Duration.toMillis(Subscription.lease)
      assert.lengthOf(yield* begun(own, { now: later, owner: "second", room: 3 }), 0)
      assert.deepStrictEqual(yield* begun(own, { now: later + second, owner: "second", room: 3 }), [[sent!, 2]])
      for (const lost of [{ ended: handled(sent!) }, { running: [sent!] }]) {
        assert.strictEqual((yield* work(own, { now: later + second, ...lost }))._tag, "lost")
      }
      assert.deepStrictEqual(
        yield* begun(own, { now: later + second, owner: "second", ended: handled(sent!), room: 3 }),
        [[delivered!, 1]]
      )
    }))

  it.effect("a report whose answer was lost can be repeated", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const ids = yield* record(own, 2)
      const now = own.start + minute
      yield* begun(own, { now })
      assert.deepStrictEqual(yield* begun(own, { now, ended: handled(ids[0]!) }), [[ids[1]!, 1]])
      // the caller does not know of the second event
      assert.lengthOf(yield* begun(own, { now, ended: handled(ids[0]!) }), 0)
      assert.deepStrictEqual(yield* begun(own, { now: now + second }), [[ids[1]!, 2]])
    }))

  it.effect("work skips no event that was being recorded meanwhile, and gives no two processes the same", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const now = own.start + minute
      const seen: Array<Id.EventId> = []
      let isRecorded = false
      const writers = Effect.forEach(
        Array.from({ length: 40 }, (_, i) => i),
        (i) => record(own, 1, own.start + i),
        { concurrency: 8 }
      )
      const worker = (owner: string) =>
        Effect.gen(function*() {
          let ended: ReadonlyArray<SubscriptionStep.Ended> = []
          while (true) {
            const wasRecorded = isRecorded
            const worked = yield* work(own, { now, owner, ended, room: 3 })
            const ids = worked._tag === "working" ? worked.begun.map(({ event }) => event.id) : []
            seen.push(...ids)
            ended = handled(...ids)
            if (wasRecorded && worked._tag === "working" && ids.length === 0 && !worked.isMore) return
            yield* Effect.yieldNow
          }
        })
      const [written] = yield* Effect.all([
        Effect.ensuring(writers, Effect.sync(() => isRecorded = true)),
        worker("first"),
        worker("second")
      ], { concurrency: "unbounded" })
      assert.lengthOf(seen, 40)
      assert.sameMembers(seen, written.flat())
    }))

  it.effect("release gives back the owner's claim only", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const [id] = yield* record(own, 1)
      const now = own.start + minute
      const { release } = yield* store
      yield* begun(own, { now })
      yield* release(keyOf(own), "second")
      assert.strictEqual((yield* work(own, { now, owner: "second" }))._tag, "held")
      yield* release(keyOf(own), "first")
      assert.lengthOf(yield* begun(own, { now, owner: "second" }), 0)
      assert.deepStrictEqual(yield* begun(own, { now: now + second, owner: "second" }), [[id!, 2]])
    }))

  it.effect("remove deletes a subscription, which then begins anew", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      yield* record(own, 2)
      const now = own.start + minute
      yield* begun(own, { now })
      const { remove } = yield* store
      assert.isTrue(yield* remove(keyOf(own)))
      assert.isFalse(yield* remove(keyOf(own)))
      assert.strictEqual((yield* work(own, { now }))._tag, "removed")
      assert.isUndefined(yield* standing(own))
      yield* open(own)
      const later = yield* record(own, 1, own.start + 10)
      assert.deepStrictEqual(yield* handleAll(own, { now }), later)
    }))

  it.effect("a standing tells how old the oldest unhandled event of the types is, apart from those set aside", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own, { types: ["message.received"] })
      assert.deepStrictEqual(yield* standing(own), { name: "orders", oldestUnhandledAt: null, failed: 0 })
      yield* threeEvents(own)
      assert.isNull((yield* standing(own))!.oldestUnhandledAt)
      const ids = yield* record(own, 2, own.start + 10)
      assert.strictEqual((yield* standing(own))!.oldestUnhandledAt, own.start + 10)
      const now = own.start + minute
      const types = ["message.received"] as const
      yield* begun(own, { now, types, room: 2 })
      assert.strictEqual((yield* standing(own))!.oldestUnhandledAt, own.start + 10)
      yield* begun(own, { now, types, ended: handled(ids[0]!), running: [ids[1]!], room: 0 })
      assert.strictEqual((yield* standing(own))!.oldestUnhandledAt, own.start + 11)
      yield* begun(own, { now, types, ended: rejected(ids[1]!), room: 0 })
      assert.strictEqual((yield* standing(own))!.oldestUnhandledAt, own.start + 11)
      yield* begun(own, { now: now + day, types })
      yield* begun(own, { now: now + day, types, ended: rejected(ids[1]!), room: 0 })
      assert.deepStrictEqual(yield* standing(own), { name: "orders", oldestUnhandledAt: null, failed: 1 })
    }))

  it.effect("the oldest unhandled event of all workspaces is no newer than that of one", () =>
    Effect.gen(function*() {
      const store = yield* SubscriptionStore.SubscriptionStore
      const own = yield* world()
      yield* open(own)
      // older than those of other tests
      const [oldest] = yield* record(own, 1, own.start - 400 * day)
      assert.strictEqual(yield* store.oldestUnhandledAt, own.start - 400 * day)
      yield* begun(own, { now: own.start, room: 1 })
      yield* begun(own, { now: own.start, ended: handled(oldest!), room: 0 })
      const at = yield* store.oldestUnhandledAt
      assert.isTrue(at === null || at > own.start - 400 * day)
    }))

  it.effect("events stay until their subscriptions have handled them, but not without end", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const [first, second, third] = yield* Effect.forEach(
        [0, 3 * hour, 6 * hour],
        (after) => Effect.map(record(own, 1, own.start + after), ([id]) => id!)
      )
      const events = yield* EventStore.EventStore
      const left = Effect.map(
        events.list(own.workspace.id, {}, { limit: 100, after: null }),
        ({ items }) => items.map(({ id }) => id)
      )
      const now = own.start + 6 * hour
      const forget = (before: Time.Instant, unhandledBefore: Time.Instant) =>
        Forgetting.all(events.forget(before, unhandledBefore))
      yield* forget(now + day, own.start - day)
      assert.deepStrictEqual(yield* left, [first, second, third])

      yield* begun(own, { now })
      yield* begun(own, { now, ended: handled(first!), room: 0 })
      yield* forget(now + day, own.start - day)
      assert.deepStrictEqual(yield* left, [second, third])

      yield* begun(own, { now })
      yield* forget(now + day, own.start - day)
      assert.deepStrictEqual(yield* left, [second, third])
      yield* begun(own, { now, ended: rejected(second!), room: 0 })
      yield* begun(own, { now: now + day })
      yield* begun(own, { now: now + day, ended: rejected(second!), room: 0 })
      assert.lengthOf((yield* failed(own)).items, 1)
      // one that was set aside is not waited for
      yield* forget(now + day, own.start - day)
      assert.deepStrictEqual(yield* left, [third])
      assert.lengthOf((yield* failed(own)).items, 0)

      yield* forget(now + day, now + day)
      assert.deepStrictEqual(yield* left, [])
      const [fourth] = yield* record(own, 1, now + hour)
      assert.deepStrictEqual(yield* begun(own, { now: now + 2 * day }), [[fourth!, 1]])
    }))

  it.effect("if an event is deleted unhandled, the later ones of its message go on", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const { messageId } = yield* MessageFixture.sent(own, { now: own.start, message: MessageFixture.template() })
      const later = own.start + 6 * hour
      yield* MessageFixture.report({ at: later, reference: messageId, status: "delivered" })
      const worked = yield* work(own, { now: later })
      assert(worked._tag === "working")
      const [{ event: sent }] = worked.begun as readonly [SubscriptionStep.Begun]
      assert.lengthOf(yield* begun(own, { now: later, ended: rejected(sent.id), room: 3 }), 0)
      const { forget } = yield* EventStore.EventStore
      yield* Forgetting.all(forget(later + day, own.start + 3 * hour))
      const next = yield* work(own, { now: later + minute, room: 3 })
      assert(next._tag === "working")
      assert.deepStrictEqual(next.begun.map(({ attempt, event }) => [event.type, attempt]), [["message.delivered", 1]])
    }))

  it.effect("if a customer is erased, their events are over, whatever their state, and those of others go on", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const [sent, delivered] = yield* threeEvents(own)
      yield* setAside(own, sent!)
      const now = own.start + 2 * day
      // the second one waits to be tried again, and the third one is held behind it
      assert.deepStrictEqual(yield* begun(own, { now, room: 2 }), [[delivered!, 1]])
      yield* work(own, { now, ended: rejected(delivered!), room: 0 })
      const [other] = yield* threeEvents(own, 2)
      assert.strictEqual((yield* eraseEvents(own, MessageFixture.customer(1))).erased, 3)

      assert.lengthOf((yield* failed(own)).items, 0)
      const { retry } = yield* store
      assert.strictEqual(yield* retry({ ...keyOf(own), eventId: null, now }), 0)
      assert.deepStrictEqual(yield* begun(own, { now: now + day, room: 3 }), [[other!, 1]])
      assert.strictEqual((yield* standing(own))!.failed, 0)
    }))

  it.effect("a customer can be erased while one of their events is handled, and its end is accepted", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* open(own)
      const [sent] = yield* threeEvents(own)
      const now = own.start + minute
      assert.deepStrictEqual(yield* begun(own, { now, room: 3 }), [[sent!, 1]])
      assert.strictEqual((yield* eraseEvents(own, MessageFixture.customer(1))).erased, 3)
      const [other] = yield* threeEvents(own, 2)
      assert.deepStrictEqual(yield* begun(own, { now, running: [sent!], room: 2 }), [[other!, 1]])
      for (const ended of [handled(sent!), rejected(sent!)]) {
        assert.lengthOf(yield* begun(own, { now, ended, running: [other!], room: 2 }), 0)
      }
    }))
}
