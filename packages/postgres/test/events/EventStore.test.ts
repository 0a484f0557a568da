/**
 * Events that are read while others are being committed, on a server with overlapping transactions.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { CustomerRecords, Event, EventStore, type Id, type Page, SubscriptionStore } from "@wac/core"
import { CustomerFixture, Fixture, MessageFixture, SeededRandom } from "@wac/testkit"
import { Effect, Fiber } from "effect"
import * as DeliveryProcesses from "../webhooks/DeliveryProcesses.ts"

const { hour, minute, world } = Fixture
const { blocked, open, record } = DeliveryProcesses

type Filter = EventStore.EventFilter

const list = ({ workspace }: Fixture.World, after: string | null, limit = 100, filter: Filter = {}) =>
  EventStore.EventStore.use((store) => store.list(workspace.id, filter, { limit, after }))

const timesOf = ({ start }: Fixture.World, { items }: Page.Page<Event.Event>) =>
  items.map(({ createdAt }) => createdAt - start)

/** Records an event, identified by its time. */
const recordAt = (own: Fixture.World, after: number) => record(own, { now: own.start + after })

layer(DeliveryProcesses.layer, { excludeTestServices: true })("events in transactions", (it) => {
  it.effect("an event is not read while an older transaction may still precede it; then all are read in order", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* recordAt(own, 1)
      const slow = yield* open(recordAt(own, 2))
      yield* recordAt(own, 3)
      const first = yield* list(own, null)
      assert.deepStrictEqual([timesOf(own, first), first.next], [[1], null])
      const cursor = first.items.at(-1)!.id
      assert.deepStrictEqual((yield* list(own, cursor)).items, [])
      yield* slow.commit
      assert.deepStrictEqual(timesOf(own, yield* list(own, cursor)), [2, 3])
      assert.deepStrictEqual(timesOf(own, yield* list(own, null, 2)), [1, 2])
    }))

  it.effect("a transaction that began later may end earlier", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const first = yield* open(recordAt(own, 1))
      const second = yield* open(recordAt(own, 2))
      const third = yield* open(recordAt(own, 3))
      yield* third.commit
      assert.deepStrictEqual(timesOf(own, yield* list(own, null)), [])
      yield* first.commit
      const page = yield* list(own, null)
      assert.deepStrictEqual(timesOf(own, page), [1])
      yield* second.commit
      assert.deepStrictEqual(timesOf(own, yield* list(own, page.items[0]!.id)), [2, 3])
    }))

  it.effect("a reader waits briefly for transactions that were writing when it came", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const slow = yield* open(recordAt(own, 1))
      yield* recordAt(own, 2)
      const reading = yield* Effect.forkChild(list(own, null), { startImmediately: true })
      yield* Effect.sleep("30 millis")
      yield* slow.commit
      assert.deepStrictEqual(timesOf(own, yield* Fiber.join(reading)), [1, 2])
    }))

  it.effect.each(
    [
      [
        "deleted for their age",
        ({ start }: Fixture.World) =>
          EventStore.EventStore.use(({ forget }) => forget(start + 2 * hour, start + 2 * hour))
      ],
      [
        "erased with their customer",
        (own: Fixture.World) =>
          CustomerFixture.erase(own, CustomerRecords.namesOf(MessageFixture.customer(1), []), "events")
      ]
    ] as const
  )(
    "an event that a subscription takes up while events are %s leaves no entry without its event",
    ([, remove]) =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const own = yield* world()
        const { open: subscribe, work } = yield* SubscriptionStore.SubscriptionStore
        const subscription = { workspaceId: own.workspace.id, name: "orders", types: Event.EventType.literals }
        yield* subscribe({ ...subscription, now: own.start })
        yield* record(own, { now: own.start + 1, data: { from: MessageFixture.customer(1) } })
        const taking = yield* open(client`
        with subscription as (select s.* from wac.subscriptions s where s.workspace_id = ${own.workspace.id} for no key update)
        insert into wac.subscription_entries (workspace_id, name, event_id, place, recorded_at, state, attempts, round_attempts,
          next_at)
        select s.workspace_id, s.name, e.id, e.position, e.created_at, 'waiting', 0, 0, e.created_at
        from subscription s join wac.events e on e.workspace_id = s.workspace_id`)
        const removing = yield* Effect.forkChild(remove(own))
        yield* blocked
        yield* taking.commit
        yield* Fiber.join(removing)
        assert.deepStrictEqual((yield* list(own, null)).items, [])
        assert.deepInclude(
          yield* work({
            ...subscription,
            now: own.start + 3 * hour,
            owner: "first",
            ended: [],
            running: [],
            room: 1,
            jitter: 0
          }),
          { _tag: "working", begun: [] }
        )
      })
  )

  it.effect("a long transaction that records nothing delays no reader", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      const foreign = yield* open(client`update wac.workspaces set name = 'renamed' where id = ${own.workspace.id}`)
      yield* recordAt(own, 1)
      yield* recordAt(own, 2)
      assert.deepStrictEqual(timesOf(own, yield* list(own, null)), [1, 2])
      yield* foreign.commit
    }))

  it.effect("following the pages skips nothing while many transactions commit in any order, whatever the filter", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      const random = SeededRandom.make(7)
      const types = ["message.received", "message.sent", "message.failed"] as const
      const written = new Map<Id.EventId, Event.EventType>()
      const writer = Effect.gen(function*() {
        for (let i = 0; i < 25; i++) {
          const type = random.pick(types)
          yield* client.withTransaction(Effect.gen(function*() {
            const now = own.start + random.below(minute)
            yield* record(own, { now, type }, { now, type })
            yield* Effect.sleep(random.below(20))
          }))
        }
      })
      const follow = (filter: Filter) =>
        Effect.gen(function*() {
          const seen: Array<Event.Event> = []
          let wasEnded = false
          while (true) {
            const { items } = yield* list(own, seen.at(-1)?.id ?? null, 1 + random.below(9), filter)
            seen.push(...items)
            if (items.length === 0 && wasEnded) return seen
            wasEnded = ended
          }
        })
      let ended = false
      const readers = yield* Effect.forkChild(
        Effect.all([follow({}), follow({ type: "message.failed" }), follow({ since: own.start + minute / 2 })], {
          concurrency: "unbounded"
        })
      )
      yield* Effect.all(Array.from({ length: 6 }, () => writer), { concurrency: "unbounded" })
      ended = true
      const [all, failed, late] = yield* Fiber.join(readers)
      for (
        const row of yield* client<{ id: Id.EventId; type: Event.EventType }>`
        select id, type from wac.events where workspace_id = ${own.workspace.id}`
      ) written.set(row.id, row.type)
      assert.strictEqual(written.size, 300)
      const same = (events: ReadonlyArray<Event.Event>, keep: (event: Event.Event) => boolean) =>
        assert.deepStrictEqual(events.map(({ id }) => id), all.filter(keep).map(({ id }) => id))
      assert.sameMembers(all.map(({ id }) => id), [...written.keys()])
      assert.strictEqual(new Set(all.map(({ id }) => id)).size, all.length)
      same(failed, ({ type }) => type === "message.failed")
      same(late, ({ createdAt }) => createdAt >= own.start + minute / 2)
    }))

  it.effect("a since filter finds everything at or after it, even if clocks differ by minutes", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const random = SeededRandom.make(3)
      const times = Array.from({ length: 300 }, (_, i) => i * minute + random.below(50 * minute) - 25 * minute)
      for (const time of times) yield* recordAt(own, time)
      for (const since of [-hour, 0, 37 * minute, 2 * hour, 3 * hour + 1, 5 * hour, 6 * hour]) {
        const found: Array<number> = []
        let after: string | null = null
        do {
          const page: Page.Page<Event.Event> = yield* list(own, after, 40, { since: own.start + since })
          found.push(...timesOf(own, page))
          after = page.next
        } while (after !== null)
        assert.deepStrictEqual(found, times.filter((time) => time >= since))
      }
    }))

  it.effect("a cursor whose event was deleted continues at the oldest event that is left", () =>
    Effect.gen(function*() {
      const own = yield* world()
      for (const time of [1, 2, 3]) yield* recordAt(own, time)
      const gone = Fixture.idAt("evt", own.start)
      assert.deepStrictEqual(timesOf(own, yield* list(own, gone)), [1, 2, 3])
      assert.deepStrictEqual(timesOf(own, yield* list(own, gone, 2, { since: own.start + 2 })), [2, 3])
    }))
})
