/**
 * Conformance of `OutboxStore` (contract §16). Where hosts can enqueue, the storage's own tests also run
 * {@link testsOfDoor}.
 */
import { assert } from "@effect/vitest"
import {
  CustomerRecords,
  CustomerStore,
  EventStore,
  Id,
  type Idempotency,
  type Message,
  MessageStore,
  OutboxEntry,
  type OutboxStep,
  OutboxStore,
  QueueStore,
  type Time
} from "@wac/core"
import { Context, Duration, Effect, Fiber, Option, Result } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"

const { day, hour, minute, second } = Fixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("hands out nothing that no host enqueued", () =>
    Effect.gen(function*() {
      const own = yield* Fixture.world()
      const store = yield* OutboxStore.OutboxStore
      assert.deepStrictEqual((yield* store.claim({ now: own.start, token: "one", limit: 10 })).entries, [])
      assert.isFalse(
        yield* store.end({
          now: own.start,
          token: "one",
          entry: { messageId: yield* Fixture.id("msg"), workspaceId: own.workspace.id },
          request: requestOf(own.workspace.id, "key"),
          end: { _tag: "Moved" },
          provider: own.number.provider,
          ids: { events: [], deliveries: [] }
        })
      )
      assert.deepStrictEqual(yield* store.list(own.workspace.id, { limit: 10, after: null }), { items: [], next: null })
      assert.strictEqual(yield* store.enqueuedUntil(own.workspace.id, own.start + 365 * day), 0)
      assert.deepStrictEqual(yield* store.forget(own.start), { removed: 0, isMore: false })
    }))

  it.effect("awaitHint suspends, and where hosts cannot enqueue it never wakes", () =>
    Effect.gen(function*() {
      const { awaitHint, enqueueFunction, oldestWaitingAt } = yield* OutboxStore.OutboxStore
      if (enqueueFunction === null) assert.isNull(yield* oldestWaitingAt)
      // hints of entries that others enqueued may still arrive
      const tries = enqueueFunction === null ? 1 : 100
      let quiet = false
      for (let i = 0; i < tries && !quiet; i++) {
        quiet = Option.isNone(yield* Effect.timeoutOption(awaitHint, "200 millis"))
      }
      assert.isTrue(quiet, "awaitHint never suspended")
    }))
}

/** A message that a host enqueues and commits. */
export interface Enqueued {
  readonly workspaceId: Id.WorkspaceId
  readonly key: string
  readonly message: unknown
}

/** The function by which a test enqueues like a host; it returns the message's id. */
export class Door extends Context.Service<Door, (enqueued: Enqueued) => Effect.Effect<string>>()(
  "@wac/testkit/outbox/OutboxStoreSuite/Door"
) {}

const requestOf = (workspaceId: Id.WorkspaceId, key: string): MessageStore.KeyedRequest => ({
  workspaceId,
  route: OutboxEntry.route,
  key: key as Idempotency.IdempotencyKey,
  fingerprint: "one"
})

const content = MessageFixture.template()

/** A workspace, with nothing in the outbox of others. */
const world = Effect.tap(Fixture.world(), ({ start }) =>
  OutboxStore.OutboxStore.use((store) =>
    Effect.gen(function*() {
      const now = start + 365 * day
      while (true) {
        const { entries } = yield* store.claim({ now, token: "others", limit: 1000 })
        if (entries.length === 0) return
        yield* Effect.forEach(entries, (entry) => end(now, entry, "others", { _tag: "Moved" }), { concurrency: 50 })
      }
    })
  ))

const enqueue = (own: Fixture.World, key: string) =>
  Effect.flatMap(Door, (door) => door({ workspaceId: own.workspace.id, key, message: content }))

const claim = (now: Time.Instant, token: string, limit = 10) =>
  Effect.map(
    OutboxStore.OutboxStore.use((store) => store.claim({ now, token, limit })),
    ({ entries }) => entries
  )

const keysOf = (entries: ReadonlyArray<OutboxEntry.OutboxEntry>): ReadonlyArray<string> => entries.map(({ key }) => key)

const end = (
  now: Time.Instant,
  { key, messageId, workspaceId }: Pick<OutboxEntry.OutboxEntry, "key" | "messageId" | "workspaceId">,
  token: string,
  end: OutboxStep.EndEntry["end"],
  provider = "none"
) =>
  Effect.gen(function*() {
    const store = yield* OutboxStore.OutboxStore
    return yield* store.end({
      now,
      entry: { messageId, workspaceId },
      token,
      request: requestOf(workspaceId, key),
      end,
      provider,
      ids: { events: [yield* Fixture.id("evt")], deliveries: [yield* Fixture.id("dlv")] }
    })
  })

const failure: Message.MessageError = { code: "forbidden", reason: "template_not_found", message: "no such template" }

/** Registers the tests of a storage whose outbox hosts can reach. */
export const testsOfDoor = (it: Fixture.FoundedIt<Door>): void => {
  it.effect("hands entries out in the order of their arrival, those of a workspace to one process at a time", () =>
    Effect.gen(function*() {
      const [own, other] = [yield* world, yield* world]
      const ids = []
      for (const key of ["a", "b", "c"]) ids.push(yield* enqueue(own, key))
      const { oldestWaitingAt } = yield* OutboxStore.OutboxStore
      const oldest = yield* oldestWaitingAt
      const [first] = yield* claim(own.start, "one", 1)
      assert.strictEqual(oldest, first!.enqueuedAt)
      assert.deepStrictEqual(first && { ...first, enqueuedAt: 0 }, {
        messageId: ids[0] as Id.MessageId,
        workspaceId: own.workspace.id,
        key: "a" as Idempotency.IdempotencyKey,
        message: content,
        sendAt: null,
        sendUntil: null,
        enqueuedAt: 0,
        tries: 0
      })
      yield* enqueue(other, "d")
      assert.deepStrictEqual(keysOf(yield* claim(own.start + second, "two")), ["d"])
      assert.isTrue(yield* end(own.start + second, first!, "one", { _tag: "Moved" }))
      assert.deepStrictEqual(keysOf(yield* claim(own.start + 2 * second, "two")), ["b", "c"])
      // what a process took and did not end is taken again, in its place
      const lease = Duration.toMillis(OutboxStore.lease)
      assert.deepStrictEqual(yield* claim(own.start + second + lease - 1, "three"), [])
      const again = [
        yield* claim(own.start + 2 * second + lease, "three"),
        yield* claim(own.start + 2 * second + lease, "three")
      ]
      assert.sameDeepMembers(again.map(keysOf), [["b", "c"], ["d"]])
      assert.isFalse(
        yield* end(own.start + 2 * second + lease, { ...first!, key: first!.key }, "two", { _tag: "Moved" })
      )
    }))

  it.effect("lists a workspace's entries that are not queued yet, in the order of their arrival", () =>
    Effect.gen(function*() {
      const [own, other] = [yield* world, yield* world]
      for (const key of ["a", "b", "c", "d"]) yield* enqueue(own, key)
      yield* enqueue(other, "e")
      // a is queued, b is being queued, c is tried again
      const entries = yield* claim(own.start, "one", 6)
      const [a, , c] = entries.filter(({ workspaceId }) => workspaceId === own.workspace.id)
      assert.isTrue(yield* end(own.start, a!, "one", { _tag: "Moved" }))
      assert.isTrue(yield* end(own.start, c!, "one", { _tag: "Again", after: Duration.minutes(1) }))
      const { list } = yield* OutboxStore.OutboxStore
      const first = yield* list(own.workspace.id, { limit: 2, after: null })
      assert.deepStrictEqual(keysOf(first.items), ["b", "c"])
      assert.deepStrictEqual(first.items[1], { ...c!, message: { to: content.to, type: content.type }, tries: 1 })
      const last = yield* list(own.workspace.id, { limit: 2, after: first.next })
      assert.deepStrictEqual([keysOf(last.items), last.next], [["d"], null])
    }))

  it.effect("a list of entries has of each message only the fields that are listed, if they can be", () =>
    Effect.gen(function*() {
      const own = yield* world
      const door = yield* Door
      const from = own.number.phoneNumber
      const messages = [
        { ...content, from, client_reference: "order-1" },
        { to: { name: "Ann" }, type: ["text"], from: 1, text: { body: "x".repeat(10_000) } },
        { to: "1".repeat(100_000), type: "2".repeat(100_000), client_reference: "3".repeat(100_000) },
        { to: null, type: null }
      ]
      for (const [key, message] of messages.entries()) {
        yield* door({ workspaceId: own.workspace.id, key: `${key}`, message })
      }
      const { list } = yield* OutboxStore.OutboxStore
      const { items } = yield* list(own.workspace.id, { limit: 10, after: null })
      assert.deepStrictEqual(items.map(({ message }) => message), [
        { to: content.to, type: content.type, from, client_reference: "order-1" },
        {},
        {},
        {}
      ])
    }))

  it.effect("counts a workspace's entries that are not queued yet and were enqueued until a time", () =>
    Effect.gen(function*() {
      const [own, other] = [yield* world, yield* world]
      for (const key of ["a", "b", "c"]) yield* enqueue(own, key)
      yield* enqueue(other, "d")
      const { enqueuedUntil, list } = yield* OutboxStore.OutboxStore
      const { items } = yield* list(own.workspace.id, { limit: 10, after: null })
      const times = items.map(({ enqueuedAt }) => enqueuedAt)
      const count = (until: Time.Instant) => enqueuedUntil(own.workspace.id, until)
      assert.strictEqual(yield* count(times[0]! - 1), 0)
      for (const until of times) {
        assert.strictEqual(yield* count(until), times.filter((at) => at <= until).length)
      }
      // those that a process is just queueing too, and those that are tried again
      const entries = yield* claim(own.start, "one", 6)
      const [a, b] = entries.filter(({ workspaceId }) => workspaceId === own.workspace.id)
      assert.isTrue(yield* end(own.start, a!, "one", { _tag: "Moved" }))
      assert.isTrue(yield* end(own.start, b!, "one", { _tag: "Again", after: Duration.minutes(1) }))
      assert.strictEqual(yield* count(times[2]!), 2)
    }))

  it.effect("awaitHint wakes when a host commits an entry", () =>
    Effect.gen(function*() {
      const { awaitHint } = yield* OutboxStore.OutboxStore
      const own = yield* world
      const waiting = yield* Effect.forkChild(awaitHint, { startImmediately: true })
      // a hint may be lost, but not every one
      for (let i = 0; i < 100; i++) {
        yield* enqueue(own, `key-${i}`)
        if (Option.isSome(yield* Effect.timeoutOption(Fiber.join(waiting), "50 millis"))) return
      }
      assert.fail("awaitHint did not wake")
    }))

  it.effect("processes that claim at once never take an entry twice", () =>
    Effect.gen(function*() {
      const own = yield* world
      const worlds = [own, yield* world, yield* world]
      for (const [i, each] of worlds.entries()) {
        for (let n = 0; n < 5; n++) yield* enqueue(each, `${i} ${n}`.replace(" ", "-"))
      }
      const taken: Array<string> = []
      while (taken.length < 15) {
        const claims = yield* Effect.forEach(
          Array.from({ length: 10 }, (_, i) => `claimer ${i}`),
          (token) => Effect.map(claim(own.start, token, 5), (entries) => ({ entries, token })),
          { concurrency: "unbounded" }
        )
        assert.isAbove(Math.max(...claims.map(({ entries }) => entries.length)), 0)
        for (const { entries, token } of claims) {
          taken.push(...keysOf(entries))
          for (const entry of entries) yield* end(own.start, entry, token, { _tag: "Moved" })
        }
      }
      assert.strictEqual(taken.length, 15)
      assert.strictEqual(new Set(taken).size, 15)
    }))

  it.effect("a workspace with many entries delays no other, and leaves the others to other processes", () =>
    Effect.gen(function*() {
      const worlds = [yield* world, yield* world, yield* world]
      const [busy, one, two] = worlds as [Fixture.World, Fixture.World, Fixture.World]
      // more than what one claim looks at
      yield* Effect.forEach(Array.from({ length: 2100 }, (_, n) => n), (n) => enqueue(busy, `busy-${n}`))
      yield* enqueue(one, "one")
      yield* enqueue(two, "two")
      // of three workspaces two, then the third
      const claims = [yield* claim(busy.start, "first"), yield* claim(busy.start, "second")]
      assert.deepStrictEqual(yield* claim(busy.start, "third"), [])
      const ofBusy = claims.findIndex((entries) => entries.some(({ key }) => key.startsWith("busy")))
      assert.deepStrictEqual(
        keysOf(claims[ofBusy]!).filter((key) => key.startsWith("busy")),
        Array.from({ length: ofBusy === 0 ? 5 : 10 }, (_, n) => `busy-${n}`)
      )
      assert.sameMembers(claims.flatMap(keysOf).filter((key) => !key.startsWith("busy")), ["one", "two"])
    }))

  it.effect("the workspaces take turns", () =>
    Effect.gen(function*() {
      const worlds = [yield* world, yield* world, yield* world, yield* world]
      for (const [i, each] of worlds.entries()) {
        for (let n = 0; n < 100; n++) yield* enqueue(each, `${i}-${n}`)
      }
      const places = new Map<string, number>()
      for (let claims = 1; claims <= 4; claims++) {
        const entries = yield* claim(worlds[0]!.start, "one", 4)
        assert.strictEqual(entries.length, 4)
        for (const entry of entries) {
          const [i, n] = entry.key.split("-")
          // none overtakes another of its workspace
          assert.strictEqual(Number(n), places.get(i!) ?? 0)
          places.set(i!, Number(n) + 1)
          yield* end(worlds[0]!.start, entry, "one", { _tag: "Moved" })
        }
        if (claims === 2) assert.deepStrictEqual([...places.values()], [2, 2, 2, 2])
      }
      assert.deepStrictEqual([...places.values()], [4, 4, 4, 4])
    }))

  it.effect("what is to be tried again comes after its time", () =>
    Effect.gen(function*() {
      const own = yield* world
      yield* enqueue(own, "a")
      const [entry] = yield* claim(own.start, "one")
      assert.isTrue(yield* end(own.start, entry!, "one", { _tag: "Again", after: Duration.minutes(1) }))
      assert.deepStrictEqual(yield* claim(own.start + minute - 1, "two"), [])
      yield* enqueue(own, "b")
      const again = yield* claim(own.start + minute, "two")
      assert.deepStrictEqual(again.map(({ key, tries }) => [`${key}`, tries]), [["a", 1], ["b", 0]])
    }))

  it.effect("however many entries wait for another try, one behind them that is due is taken", () =>
    Effect.gen(function*() {
      const own = yield* world
      yield* Effect.forEach(Array.from({ length: 2001 }, (_, n) => n), (n) => enqueue(own, `blocked-${n}`))
      for (;;) {
        const entries = yield* claim(own.start, "one", 1000)
        if (entries.length === 0) break
        const again = { _tag: "Again", after: Duration.minutes(15) } as const
        yield* Effect.forEach(entries, (entry) => end(own.start, entry, "one", again), { concurrency: 50 })
      }
      yield* enqueue(own, "free")
      assert.deepStrictEqual(keysOf(yield* claim(own.start + second, "two")), ["free"])
      assert.deepStrictEqual(keysOf(yield* claim(own.start + hour, "two", 3)), ["blocked-0", "blocked-1", "free"])
    }))

  it.effect("however many entries are due for another try, entries that were not tried yet have half of their workspace's share", () =>
    Effect.gen(function*() {
      const own = yield* world
      yield* Effect.forEach(Array.from({ length: 40 }, (_, n) => n), (n) => enqueue(own, `blocked-${n}`))
      const again = { _tag: "Again", after: Duration.minutes(15) } as const
      const tried = yield* claim(own.start, "one", 40)
      yield* Effect.forEach(tried, (entry) => end(own.start, entry, "one", again))
      yield* enqueue(own, "free")
      // in the order of arrival, as ever
      assert.deepStrictEqual(keysOf(yield* claim(own.start + hour, "two", 3)), ["blocked-0", "blocked-1", "free"])
      const lease = Duration.toMillis(OutboxStore.lease)
      yield* Effect.forEach(Array.from({ length: 40 }, (_, n) => n), (n) => enqueue(own, `free-${n}`))
      assert.deepStrictEqual(
        keysOf(yield* claim(own.start + hour + lease, "two", 4)),
        ["blocked-2", "blocked-3", "free", "free-0"]
      )
    }))

  it.effect("with more workspaces than a claim takes entries, each workspace's share has an entry due for another try", () =>
    Effect.gen(function*() {
      const worlds = [yield* world, yield* world, yield* world]
      const { start } = worlds[0]!
      for (const own of worlds) yield* enqueue(own, "tried")
      for (let ended = 0; ended < worlds.length;) {
        const entries = yield* claim(start, "one")
        const again = { _tag: "Again", after: Duration.minutes(15) } as const
        for (const entry of entries) yield* end(start, entry, "one", again)
        ended += entries.length
      }
      for (const own of worlds) {
        for (let n = 0; n < 3; n++) yield* enqueue(own, `fresh-${n}`)
      }
      for (const _ of worlds) {
        assert.deepStrictEqual(keysOf(yield* claim(start + hour, "two", 2)), ["tried", "fresh-0"])
      }
      assert.deepStrictEqual(yield* claim(start + hour, "two", 2), [])
    }))

  it.effect("however many workspaces have only entries that wait for another try, an entry of another is taken", () =>
    Effect.gen(function*() {
      const own = yield* world
      const door = yield* Door
      // more than one claim looks at
      const others = 401
      for (let n = 0; n < others; n++) {
        yield* door({ workspaceId: yield* Fixture.id("ws"), key: "blocked", message: content })
      }
      const again = { _tag: "Again", after: Duration.minutes(10) } as const
      for (let ended = 0; ended < others;) {
        const entries = yield* claim(own.start, "one", 1000)
        yield* Effect.forEach(entries, (entry) => end(own.start, entry, "one", again), { concurrency: 50 })
        ended += entries.length
      }
      // the turn is behind it, so that it comes after all others
      yield* enqueue(own, "first")
      for (const key of ["first", "second"]) {
        const entries = yield* claim(own.start + second, "two", 1)
        assert.deepStrictEqual(keysOf(entries), [key])
        yield* end(own.start + second, entries[0]!, "two", { _tag: "Moved" })
        if (key === "first") yield* enqueue(own, "second")
      }
      assert.deepStrictEqual(yield* claim(own.start + second, "two"), [])
      // and the others take turns again
      assert.strictEqual((yield* claim(own.start + hour, "three", 1000)).length, 200)
    }))

  it.effect("an entry that fails is a failed message with its event and its key", () =>
    Effect.gen(function*() {
      const own = yield* world
      const id = yield* enqueue(own, "a")
      const [entry] = yield* claim(own.start, "one")
      const { provider } = own.number
      const fails = { _tag: "Failed", error: failure, content } as const
      assert.isFalse(yield* end(own.start, entry!, "another", fails, provider))
      assert.isTrue(yield* end(own.start, entry!, "one", fails, provider))
      assert.isFalse(yield* end(own.start, entry!, "one", fails, provider))
      const messages = yield* MessageStore.MessageStore
      const message = Option.getOrThrow(yield* messages.get(own.workspace.id, id as Id.MessageId))
      assert.deepStrictEqual(
        [message.status, message.error, message.failedAt, message.content, message.phoneNumberId, message.from],
        ["failed", failure, own.start, content, own.number.id, own.number.phoneNumber]
      )
      const events = yield* EventStore.EventStore
      const { items } = yield* events.list(own.workspace.id, {}, { limit: 10, after: null })
      assert.deepStrictEqual(items.map(({ data, type }) => [type, data["message_id"]]), [["message.failed", id]])
      // the key is answered, for 24 hours
      const request = requestOf(own.workspace.id, "a")
      assert.strictEqual((yield* messages.lookUp(request, own.start + day - 1))._tag, "Answered")
      assert.strictEqual((yield* messages.lookUp(request, own.start + day))._tag, "Unbound")
      assert.deepStrictEqual(yield* claim(own.start + hour, "two"), [])
    }))

  it.effect("an entry that waited for hours becomes a message of the time when it was enqueued, and is listed there", () =>
    Effect.gen(function*() {
      const own = yield* world
      const messages = yield* MessageStore.MessageStore
      const failedId = (yield* enqueue(own, "a")) as Id.MessageId
      const queuedId = (yield* enqueue(own, "b")) as Id.MessageId
      const now = Id.timeOf(queuedId) + 6 * hour
      const [failing, queuing] = yield* claim(now, "one")
      const { provider } = own.number
      yield* end(now, failing!, "one", { _tag: "Failed", error: failure, content }, provider)
      const later = Result.getOrThrow(OutboxEntry.laterOf(queuing!, now))
      const command = yield* MessageFixture.sendCommand(own, {
        now,
        apiKeyId: null,
        key: "b",
        route: OutboxEntry.route,
        later
      })
      assert.strictEqual((yield* messages.accept({ ...command, messageId: queuedId }))._tag, "Queued")
      for (const [id, sendAt] of [[failedId, now], [queuedId, now]] as const) {
        const message = Option.getOrThrow(yield* messages.get(own.workspace.id, id))
        const found = [message.createdAt, message.statusAt, message.sendAt]
        assert.deepStrictEqual(found, [Id.timeOf(id), now, sendAt])
      }
      const listed = (filter: MessageStore.MessageFilter) =>
        Effect.map(
          messages.list(own.workspace.id, filter, { limit: 10, after: null }),
          ({ items }) => items.map(({ id }) => id)
        )
      assert.deepStrictEqual(yield* listed({ since: Id.timeOf(failedId) }), [queuedId, failedId])
      assert.deepStrictEqual(yield* listed({ since: Id.timeOf(queuedId) + 1 }), [])
      assert.deepStrictEqual(yield* listed({ until: now }), [queuedId, failedId])
    }))

  it.effect("a message fails without a number, and not without a workspace", () =>
    Effect.gen(function*() {
      const own = yield* world
      const messages = yield* MessageStore.MessageStore
      const id = yield* enqueue(own, "a")
      const stray = yield* Effect.flatMap(Door, (door) =>
        Effect.flatMap(Fixture.id("ws"), (workspaceId) => door({ workspaceId, key: "a", message: content })))
      // one workspace after the other
      for (const entry of [...yield* claim(own.start, "one"), ...yield* claim(own.start, "one")]) {
        assert.isTrue(
          yield* end(own.start, entry, "one", {
            _tag: "Failed",
            error: failure,
            content: { ...content, from: "+15550000000" as never }
          }, own.number.provider)
        )
        const found = yield* messages.get(entry.workspaceId, entry.messageId)
        assert.strictEqual(Option.isSome(found), entry.messageId === id)
        if (Option.isSome(found)) {
          assert.strictEqual(found.value.from, "")
        }
      }
      assert.notStrictEqual(stray, id)
      assert.deepStrictEqual(yield* claim(own.start + hour, "two"), [])
    }))

  it.effect("what was queued before does not fail", () =>
    Effect.gen(function*() {
      const own = yield* world
      const id = yield* enqueue(own, "a")
      const [entry] = yield* claim(own.start, "one")
      const command = yield* MessageFixture.sendCommand(own, {
        apiKeyId: null,
        key: "a",
        route: OutboxEntry.route,
        later: {}
      })
      const messages = yield* MessageStore.MessageStore
      const accepted = yield* messages.accept({ ...command, messageId: id as Id.MessageId })
      assert.strictEqual(accepted._tag, "Queued")
      assert.isTrue(
        yield* end(own.start, entry!, "one", { _tag: "Failed", error: failure, content }, own.number.provider)
      )
      const message = Option.getOrThrow(yield* messages.get(own.workspace.id, id as Id.MessageId))
      assert.strictEqual(message.status, "queued")
    }))

  it.effect("a message is cancelled while it is in the outbox, unless a process is queueing it", () =>
    Effect.gen(function*() {
      const own = yield* world
      const messages = yield* MessageStore.MessageStore
      const id = (yield* enqueue(own, "a")) as Id.MessageId
      const cancel = (
        now: Time.Instant,
        { boundTo = null, workspaceId = own.workspace.id }: Partial<
          Pick<MessageStore.CancelSend, "boundTo" | "workspaceId">
        > = {}
      ) =>
        Effect.map(
          messages.cancel({
            now,
            workspaceId,
            messageId: id,
            boundTo,
            enqueued: { ...MessageFixture.enqueued, provider: own.number.provider }
          }),
          Option.map(Result.match({
            onFailure: ({ reason }): string | undefined => reason,
            onSuccess: ({ status }) => status
          }))
        )
      const [entry] = yield* claim(own.start, "one")
      assert.deepStrictEqual(yield* cancel(own.start), Option.some("in_progress"))
      yield* end(own.start, entry!, "one", { _tag: "Again", after: Duration.hours(1) })
      assert.deepStrictEqual(yield* cancel(own.start, { workspaceId: yield* Fixture.id("ws") }), Option.none())
      assert.deepStrictEqual(
        yield* cancel(own.start, { boundTo: [yield* Fixture.id("pn")] }),
        Option.some("sender_not_available")
      )
      for (const now of [own.start + second, own.start + minute]) {
        assert.deepStrictEqual(yield* cancel(now), Option.some("cancelled"))
      }
      const message = Option.getOrThrow(yield* messages.get(own.workspace.id, id))
      assert.deepStrictEqual(
        [message.status, message.statusAt, message.content, message.phoneNumberId, message.from],
        ["cancelled", own.start + second, content, own.number.id, own.number.phoneNumber]
      )
      // its key is answered, for 24 hours, and it is neither queued nor counted
      const request = requestOf(own.workspace.id, "a")
      assert.strictEqual((yield* messages.lookUp(request, own.start + day))._tag, "Answered")
      assert.strictEqual((yield* messages.lookUp(request, own.start + day + minute))._tag, "Unbound")
      assert.deepStrictEqual(yield* claim(own.start + 2 * hour, "two"), [])
      assert.strictEqual(yield* enqueue(own, "a"), id)
      const events = yield* EventStore.EventStore
      assert.deepStrictEqual((yield* events.list(own.workspace.id, {}, { limit: 10, after: null })).items, [])
    }))

  it.effect("a message whose process is gone can be cancelled once its claim has ended, and that process cannot queue it late", () =>
    Effect.gen(function*() {
      const own = yield* world
      const messages = yield* MessageStore.MessageStore
      const id = (yield* enqueue(own, "a")) as Id.MessageId
      const cancel = (now: Time.Instant) =>
        Effect.map(
          messages.cancel({
            now,
            workspaceId: own.workspace.id,
            messageId: id,
            boundTo: null,
            enqueued: { ...MessageFixture.enqueued, provider: own.number.provider }
          }),
          Option.map(Result.match({
            onFailure: ({ reason }): string | undefined => reason,
            onSuccess: ({ status }) => status
          }))
        )
      const [entry] = yield* claim(own.start, "one")
      const over = own.start + Duration.toMillis(OutboxStore.lease)
      assert.deepStrictEqual(yield* cancel(over - 1), Option.some("in_progress"))
      assert.deepStrictEqual(yield* cancel(over), Option.some("cancelled"))
      // the process goes on, as after it stood still
      const command = yield* MessageFixture.sendCommand(own, {
        now: over + second,
        apiKeyId: null,
        key: "a",
        route: OutboxEntry.route,
        later: {}
      })
      const late = yield* messages.accept({ ...command, messageId: id, request: requestOf(own.workspace.id, "a") })
      assert.strictEqual(late._tag, "Answered")
      for (const lateEnd of [{ _tag: "Moved" }, { _tag: "Failed", error: failure, content }] as const) {
        assert.isFalse(yield* end(over + second, entry!, "one", lateEnd, own.number.provider))
      }
      assert.deepStrictEqual(yield* claim(over + hour, "two"), [])
      assert.strictEqual(Option.getOrThrow(yield* messages.get(own.workspace.id, id)).status, "cancelled")
      const queue = yield* QueueStore.QueueStore
      assert.strictEqual((yield* queue.backlog(own.workspace.id, over + hour)).queued, 0)
    }))

  it.effect("a message that is cancelled after hours in the outbox has the time when it was enqueued", () =>
    Effect.gen(function*() {
      const own = yield* world
      const messages = yield* MessageStore.MessageStore
      const id = (yield* enqueue(own, "a")) as Id.MessageId
      const now = Id.timeOf(id) + 6 * hour
      const cancelled = yield* messages.cancel({
        now,
        workspaceId: own.workspace.id,
        messageId: id,
        boundTo: null,
        enqueued: { ...MessageFixture.enqueued, provider: own.number.provider }
      })
      const { createdAt, sendAt, statusAt } = Result.getOrThrow(Option.getOrThrow(cancelled))
      assert.deepStrictEqual([createdAt, statusAt, sendAt], [Id.timeOf(id), now, now])
      const stored = Option.getOrThrow(yield* messages.get(own.workspace.id, id))
      assert.strictEqual(stored.createdAt, Id.timeOf(id))
    }))

  it.effect("a customer's entries are found and erased, with what they said; what is queued keeps its key", () =>
    Effect.gen(function*() {
      const own = yield* world
      const customers = yield* CustomerStore.CustomerStore
      const names = CustomerRecords.namesOf(content.to, [])
      const step = { workspaceId: own.workspace.id, names, place: "outbox", after: null } as const
      const erase = customers.erase({ ...step, now: own.start, hashes: MessageFixture.hashesFor(names.keys) })
      const keys = Effect.map(
        customers.find(step),
        ({ found }) => found.map((one) => one.place === "outbox" ? `${one.entry.key}` : one.place)
      )
      const moved = yield* enqueue(own, "a")
      const [first] = yield* claim(own.start, "one")
      yield* end(own.start, first!, "one", { _tag: "Moved" })
      yield* enqueue(own, "b")
      yield* claim(own.start, "one")
      yield* enqueue(own, "c")
      yield* Effect.flatMap(Door, (door) =>
        door({
          workspaceId: own.workspace.id,
          key: "d",
          message: { ...content, to: MessageFixture.customer(2) }
        }))
      assert.deepStrictEqual(yield* keys, ["a", "b", "c"])
      // what a process has taken is waited for
      assert.deepInclude(yield* erase, { erased: 2, busy: 1, next: null })
      assert.deepStrictEqual(yield* keys, ["b"])
      assert.strictEqual(yield* enqueue(own, "a"), moved)
      assert.notInclude(yield* keys, "a")
    }))

  it.effect("an entry is kept as long as the key of its message, and deleted within a day after that", () =>
    Effect.gen(function*() {
      const own = yield* world
      const store = yield* OutboxStore.OutboxStore
      const { entries: _ } = yield* store.claim({ now: own.start, token: "none", limit: 1 })
      while ((yield* store.forget(own.start + 400 * day)).removed > 0);
      yield* enqueue(own, "a")
      yield* enqueue(own, "b")
      const [failing] = yield* claim(own.start, "one")
      yield* end(own.start, failing!, "one", { _tag: "Failed", error: failure, content }, own.number.provider)
      assert.deepStrictEqual(yield* store.forget(own.start + 1), { removed: 0, isMore: false })
      const messages = yield* MessageStore.MessageStore
      yield* messages.sweep(own.start + day)
      assert.deepStrictEqual(yield* store.forget(own.start + 1), { removed: 0, isMore: false })
      assert.deepStrictEqual(yield* store.forget(own.start + 1 + day), { removed: 0, isMore: false })
      assert.deepStrictEqual(yield* store.forget(own.start + 2 + day), { removed: 1, isMore: false })
    }))

  it.effect("many entries whose keys are kept do not delay the deletion of others", () =>
    Effect.gen(function*() {
      const own = yield* world
      const store = yield* OutboxStore.OutboxStore
      const messages = yield* MessageStore.MessageStore
      while ((yield* store.forget(own.start + 400 * day)).removed > 0);
      yield* Effect.forEach(Array.from({ length: 600 }, (_, n) => n), (n) => enqueue(own, `kept-${n}`))
      yield* Effect.forEach(
        yield* claim(own.start, "one", 600),
        (entry) => end(own.start, entry, "one", { _tag: "Failed", error: failure, content }, own.number.provider),
        { concurrency: 50 }
      )
      yield* enqueue(own, "moved")
      const [moved] = yield* claim(own.start + second, "one")
      yield* end(own.start + second, moved!, "one", { _tag: "Moved" })
      const before = own.start + minute
      assert.deepStrictEqual(yield* store.forget(before), { removed: 0, isMore: true })
      assert.deepStrictEqual(yield* store.forget(before), { removed: 1, isMore: false })
      assert.deepStrictEqual(yield* store.forget(before), { removed: 0, isMore: false })
      yield* messages.sweep(own.start + day)
      let removed = 0
      while (removed < 600) removed += (yield* store.forget(before + day + 1)).removed
      assert.strictEqual(removed, 600)
    }))
}
