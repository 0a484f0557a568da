/**
 * Conformance of `QueueStore` (contract §15): which messages are handed out and when, and what becomes of them.
 */
import { assert } from "@effect/vitest"
import { Limits, Message, MessageStore, QueueStore, QueueWorkStep, WorkspaceStore } from "@wac/core"
import { Duration, Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as QueueFixture from "./QueueFixture.ts"

const { day, hour, minute, second } = Fixture
const { due, ended, queued, workAll } = QueueFixture

/** A workspace, and a queue that no other test holds. */
const world = Effect.tap(Fixture.world(), () => QueueStore.QueueStore.use((store) => store.release(null)))

const idsOf = (claimed: ReadonlyArray<QueueWorkStep.Queued>) => claimed.map(({ message: { id } }) => id)

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("messages are handed out from their times on, in their order, and to one process", () =>
    Effect.gen(function*() {
      const own = yield* world
      const at = own.start + minute
      const second_ = yield* queued(own, { later: { sendAt: at + 2 } })
      const first = yield* queued(own, { later: { sendAt: at } })
      yield* queued(own, { later: { sendAt: at + hour } })
      assert.deepStrictEqual(yield* due(own, at - 1), [])
      const claimed = yield* due(own, at + 2)
      assert.deepStrictEqual(idsOf(claimed), [first.message.id, second_.message.id])
      assert.deepStrictEqual(claimed[0], {
        message: first.message,
        request: first.command.request,
        tries: 0,
        sendUntil: at + day,
        slot: claimed[0]!.slot
      })
      assert.deepStrictEqual(yield* due(own, at + 3), [])
      const lease = Duration.toMillis(QueueWorkStep.lease)
      // what a process took and did not end is taken again
      assert.deepStrictEqual(yield* due(own, at + lease), [])
      assert.sameMembers(idsOf(yield* due(own, at + 2 + lease)), idsOf(claimed))
    }))

  it.effect("a number's messages leave at four fifths of its rate", () =>
    Effect.gen(function*() {
      const own = yield* world
      const at = own.start + minute
      const limits = Limits.standard
      yield* Effect.forEach(Array.from({ length: 100 }), () => queued(own, { later: { sendAt: at } }), {
        concurrency: "unbounded"
      })
      const slots: Array<number> = []
      for (let now = at; slots.length < 100; now += 100) {
        assert.isBelow(now, at + 5 * second, "it never ends")
        for (const { claimed } of yield* workAll(own, now, limits)) {
          for (const { slot } of claimed) {
            assert.isAtLeast(slot, now)
            slots.push(slot)
          }
        }
      }
      // 80 a second, of which requests keep a fifth
      slots.forEach((slot, i) => assert.approximately(slot - slots[0]!, i * 1000 / 64, 1e-3))
    }))

  it.effect("a number with many messages does not delay those of another", () =>
    Effect.gen(function*() {
      const [busy, own] = [yield* world, yield* world]
      const at = Math.max(busy.start, own.start) + minute
      yield* Effect.forEach(Array.from({ length: 300 }), () => queued(busy, { later: { sendAt: at } }), {
        concurrency: "unbounded"
      })
      const one = yield* queued(own, { later: { sendAt: at } })
      const claimed = (yield* workAll(own, at, Limits.standard)).flatMap(({ claimed }) => claimed)
      assert.deepStrictEqual(idsOf(claimed), [one.message.id])
    }))

  it.effect("processes that work at once never take a message twice", () =>
    Effect.gen(function*() {
      const own = yield* world
      const at = own.start + minute
      const all = yield* Effect.forEach(
        Array.from({ length: 60 }),
        () => queued(own, { later: { sendAt: at } }),
        { concurrency: "unbounded" }
      )
      const claimed: Array<string> = []
      for (let now = at; claimed.length < all.length; now += second) {
        assert.isBelow(now, at + 20 * second, "it never ends")
        const worked = yield* Effect.forEach([1, 2, 3], () => QueueFixture.work(now, Limits.standard, 10), {
          concurrency: "unbounded"
        })
        for (const one of worked) if (one?.phoneNumberId === own.number.id) claimed.push(...idsOf(one.claimed))
      }
      assert.sameMembers(claimed, all.map(({ message: { id } }) => id))
    }))

  it.effect("one piece of work hands out at most as many messages as its caller asks for", () =>
    Effect.gen(function*() {
      const own = yield* world
      const at = own.start + minute
      const all = yield* Effect.replicateEffect(queued(own, { later: { sendAt: at } }), 3)
      const pieces = [
        yield* QueueFixture.work(at, Fixture.roomy, 2),
        yield* QueueFixture.work(at + second, Fixture.roomy, 2)
      ]
      const claimed = pieces.map((piece) => idsOf(piece?.phoneNumberId === own.number.id ? piece.claimed : []))
      assert.deepStrictEqual(claimed.map(({ length }) => length), [2, 1])
      assert.sameMembers(claimed.flat(), all.map(({ message: { id } }) => id))
    }))

  it.effect("a message whose last time has come is handed out as expired, and delays no message that is sent", () =>
    Effect.gen(function*() {
      const own = yield* world
      const at = own.start + minute
      const late = yield* queued(own, { later: { sendAt: at, sendUntil: at + hour } })
      const timely = yield* queued(own, { later: { sendAt: at, sendUntil: at + hour + 1 } })
      const worked = yield* workAll(own, at + hour, Limits.standard)
      assert.deepStrictEqual(worked.flatMap(({ expired }) => idsOf(expired)), [late.message.id])
      const claimed = worked.flatMap(({ claimed }) => claimed)
      assert.deepStrictEqual(idsOf(claimed), [timely.message.id])
      assert.strictEqual(claimed[0]!.slot, at + hour)
    }))

  it.effect("a message that was not sent is due again, and one that missed its slot at once", () =>
    Effect.gen(function*() {
      const own = yield* world
      const at = own.start + minute
      yield* queued(own, { later: { sendAt: at, sendUntil: at + hour } })
      const [first] = yield* due(own, at)
      yield* ended(first!, at, { _tag: "Missed" })
      const [missed] = yield* due(own, at + second)
      assert.deepInclude(missed, { message: first!.message, tries: 0 })
      yield* ended(missed!, at + second, { _tag: "Again", after: Duration.seconds(5), until: at + hour })
      assert.deepStrictEqual(yield* due(own, at + 6 * second - 1), [])
      const [again] = yield* due(own, at + 6 * second)
      assert.deepInclude(again, { message: first!.message, tries: 1 })
      yield* ended(again!, at + minute, { _tag: "Again", after: Duration.hours(3), until: at + hour })
      const pieces = yield* workAll(own, at + hour)
      assert.deepStrictEqual(pieces.flatMap(({ claimed }) => claimed), [])
      assert.deepStrictEqual(
        pieces.flatMap(({ expired }) => expired.map(({ message: { id }, tries }) => [id, tries])),
        [
          [first!.message.id, 2]
        ]
      )
    }))

  it.effect("a message that is given back is due at the given time again, before those that were due after it", () =>
    Effect.gen(function*() {
      const own = yield* world
      const at = own.start + minute
      const all = yield* Effect.forEach([0, 1, 2], (n) => queued(own, { later: { sendAt: at + n } }))
      const [first, second_, third] = yield* due(own, at + 2)
      yield* ended(second_!, at + 3, { _tag: "Missed" })
      yield* ended(third!, at + 3, { _tag: "Missed", dueAt: at + 2 })
      yield* ended(first!, at + 3, { _tag: "Missed", dueAt: at })
      const again = yield* due(own, at + 3)
      assert.deepStrictEqual(idsOf(again), [0, 2, 1].map((n) => all[n]!.message.id))
      assert.deepStrictEqual(again.map(({ tries }) => tries), [0, 0, 0])
    }))

  it.effect("after messages of a number are given back, messages of other numbers that were due before that come first", () =>
    Effect.gen(function*() {
      const [own, other] = [yield* world, yield* world]
      const at = Math.max(own.start, other.start) + minute
      yield* queued(own, { later: { sendAt: at } })
      const [taken] = yield* due(own, at)
      yield* queued(other, { later: { sendAt: at + second } })
      yield* ended(taken!, at + 2 * second, { _tag: "Missed", dueAt: at })
      const numbers: Array<string> = []
      const both = [other.number.id, own.number.id]
      for (let pieces = 0; numbers.length < 2; pieces++) {
        assert.isBelow(pieces, 500, "work never ends")
        const worked = yield* QueueFixture.work(at + 2 * second)
        if (worked === undefined) break
        if (worked.claimed.length > 0 && both.includes(worked.phoneNumberId)) numbers.push(worked.phoneNumberId)
      }
      assert.deepStrictEqual(numbers, both)
    }))

  it.effect("a message that fails has its event, leaves the queue, and its key answers as before", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world
      const at = own.start + minute
      const { command } = yield* queued(own, { later: { sendAt: at } })
      const [one] = yield* due(own, at)
      yield* ended(one!, at, { _tag: "Failed", error: Message.notSentInTime })
      yield* ended(one!, at, { _tag: "Failed", error: Message.notSentInTime })
      assert.deepInclude(yield* MessageFixture.messageOf(command), {
        status: "failed",
        failedAt: at,
        error: Message.notSentInTime
      })
      assert.deepStrictEqual((yield* MessageFixture.eventsOf(own)).map(({ type }) => type), ["message.failed"])
      assert.deepStrictEqual(yield* due(own, at + hour), [])
      assert.deepInclude(yield* store.lookUp(command.request, at + day - 1), { _tag: "Answered" })
      assert.deepStrictEqual(yield* store.lookUp(command.request, at + day), { _tag: "Unbound" })
    }))

  it.effect("a message that is being sent does not fail before its claim has ended", () =>
    Effect.gen(function*() {
      const own = yield* world
      const at = own.start + minute
      yield* queued(own, { later: { sendAt: at } })
      const [one] = yield* due(own, at)
      const { command } = yield* QueueFixture.claim(own, one!, at)
      yield* ended(one!, at, { _tag: "Failed", error: Message.notSentInTime })
      assert.strictEqual((yield* MessageFixture.messageOf(command)).status, "sending")
      assert.isTrue(yield* MessageFixture.settle(command, yield* MessageFixture.notSentOutcome, at))
      assert.deepStrictEqual(idsOf(yield* due(own, command.leaseUntil)), [one!.message.id])
    }))

  it.effect("a message that was sent leaves the queue", () =>
    Effect.gen(function*() {
      const own = yield* world
      const at = own.start + minute
      yield* queued(own, { later: { sendAt: at } })
      yield* queued(own, { later: { sendAt: at } })
      const [one, other] = yield* due(own, at)
      const { command } = yield* QueueFixture.claim(own, one!, at)
      assert.isTrue(yield* MessageFixture.settle(command, yield* MessageFixture.acceptedOutcome, at))
      yield* ended(other!, at, { _tag: "Done" })
      assert.deepStrictEqual(yield* due(own, at + hour), [])
    }))

  it.effect("the backlog tells how many messages of a workspace wait, and since when one is due", () =>
    Effect.gen(function*() {
      const store = yield* QueueStore.QueueStore
      const [own, other] = [yield* world, yield* world]
      const at = own.start
      const backlog = (now: number) => store.backlog(own.workspace.id, now)
      const all = (yield* store.backlog(null, at)).queued
      assert.deepStrictEqual(yield* backlog(at), { at, queued: 0, oldestDueAt: null, heldSince: null })
      yield* queued(other)
      const one = yield* queued(own, { later: { sendAt: at + hour } })
      yield* queued(own, { later: { sendAt: at + 2 * hour } })
      assert.deepInclude(yield* backlog(at), { queued: 2, oldestDueAt: null })
      assert.deepInclude(yield* backlog(at + 3 * hour), { oldestDueAt: at + hour, at: at + 3 * hour })
      assert.strictEqual((yield* store.backlog(null, at)).queued - all, 3)
      yield* QueueFixture.cancel(one, at)
      assert.deepInclude(yield* backlog(at + 3 * hour), { queued: 1, oldestDueAt: at + 2 * hour })
      assert.lengthOf(yield* due(own, at + 3 * hour), 1)
      assert.deepInclude(yield* backlog(at + 3 * hour), { queued: 1, oldestDueAt: null })
    }))

  it.effect("in a restored copy the queue is held until a person releases it, and after a pause it is not", () =>
    Effect.gen(function*() {
      const store = yield* QueueStore.QueueStore
      const [own, other] = [yield* world, yield* world]
      const at = Math.max(own.start, other.start) + minute
      const heldSince = ({ workspace: { id } }: Fixture.World) =>
        Effect.all([store.heldSince(id), Effect.map(store.backlog(id, at), ({ heldSince }) => heldSince)])
      const one = yield* queued(own, { later: { sendAt: at } })
      const another = yield* queued(other, { later: { sendAt: at } })
      assert.deepStrictEqual(yield* heldSince(own), [null, null])
      yield* store.beat({ now: own.start, last: null, isRestored: false })
      const slept = at + hour
      assert.isFalse((yield* store.beat({ now: slept, last: null, isRestored: false })).isHolding)
      assert.strictEqual((yield* store.backlog(null, slept)).heldSince, null)
      assert.isTrue((yield* store.beat({ now: slept, last: null, isRestored: true })).isHolding)
      assert.strictEqual((yield* store.backlog(null, slept)).heldSince, slept)
      // also after further heartbeats
      assert.isFalse((yield* store.beat({ now: slept + second, last: slept, isRestored: false })).isHolding)
      assert.strictEqual((yield* store.backlog(null, slept + second)).heldSince, slept)
      assert.strictEqual(yield* QueueFixture.work(slept), undefined)
      // workspaces of other tests were created after this hold
      assert.notStrictEqual(yield* store.nextAt, at)
      // each workspace by itself
      assert.isTrue(yield* store.release(other.workspace.id))
      assert.isFalse(yield* store.release(other.workspace.id))
      assert.deepStrictEqual(yield* heldSince(other), [null, null])
      assert.deepStrictEqual(yield* heldSince(own), [slept, slept])
      assert.deepStrictEqual(idsOf(yield* due(other, slept)), [another.message.id])
      assert.deepStrictEqual(yield* due(own, slept), [])
      assert.isTrue(yield* store.release(null))
      assert.isFalse(yield* store.release(null))
      assert.strictEqual(yield* store.nextAt, at)
      assert.deepStrictEqual(idsOf(yield* due(own, slept)), [one.message.id])
      // a process that wrote a heartbeat finds an earlier one
      assert.isTrue((yield* store.beat({ now: slept + day, last: slept + day, isRestored: false })).isHolding)
      assert.deepStrictEqual(yield* heldSince(other), [slept + day, slept + day])
      assert.isTrue(yield* store.release(null))
    }))
  it.effect("a workspace that is created after the hold of a restored copy is not held", () =>
    Effect.gen(function*() {
      const store = yield* QueueStore.QueueStore
      const own = yield* world
      const at = own.start + minute
      yield* queued(own, { later: { sendAt: at } })
      yield* store.beat({ now: at, last: null, isRestored: true })
      const fresh = yield* Fixture.world({ start: at + second })
      const one = yield* queued(fresh, { later: { sendAt: at + minute } })
      assert.strictEqual((yield* store.backlog(fresh.workspace.id, at + minute)).heldSince, null)
      assert.strictEqual(yield* store.heldSince(fresh.workspace.id), null)
      assert.isFalse(yield* store.release(fresh.workspace.id))
      assert.strictEqual(yield* store.nextAt, at + minute)
      assert.deepStrictEqual(idsOf(yield* due(fresh, at + minute)), [one.message.id])
      assert.deepStrictEqual(yield* due(own, at + minute), [])
      assert.isTrue(yield* store.release(null))
    }))

  it.effect("nothing is held any more once each workspace was released separately", () =>
    Effect.gen(function*() {
      const store = yield* QueueStore.QueueStore
      const [own, other] = [yield* world, yield* world]
      const at = Math.max(own.start, other.start) + minute
      yield* store.beat({ now: at, last: null, isRestored: true })
      assert.isTrue(yield* store.release(own.workspace.id))
      assert.strictEqual((yield* store.backlog(null, at)).heldSince, at)
      for (const { id } of yield* WorkspaceStore.WorkspaceStore.use(({ list }) => list)) yield* store.release(id)
      assert.strictEqual((yield* store.backlog(null, at)).heldSince, null)
      assert.isFalse(yield* store.release(null))
    }))
}
