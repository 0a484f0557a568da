/**
 * Conformance of `MessageStore`: what is deleted by its age.
 */
import { assert } from "@effect/vitest"
import { type Id, Message, MessageStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"
import * as QueueFixture from "../queue/QueueFixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { day, hour, world } = Fixture

/** Accepts a send at a time, with an identifier from that time. */
const acceptedAt = (own: Fixture.World, now: number, message?: Message.OutboundMessage, mark?: string) =>
  Effect.gen(function*() {
    const store = yield* MessageStore.MessageStore
    const command = {
      ...(yield* MessageFixture.sendCommand(own, { now, ...(message === undefined ? {} : { message }) })),
      messageId: Fixture.idAt("msg", now, mark)
    }
    assert.strictEqual((yield* store.accept(command))._tag, "Claimed")
    return command
  })

const sentAt = (...given: Parameters<typeof acceptedAt>) =>
  Effect.tap(
    acceptedAt(...given),
    (command) => Effect.flatMap(MessageFixture.acceptedOutcome, (end) => MessageFixture.settle(command, end))
  )

/** Queues a message in a batch, which spends no token, at a time, with an identifier from that time, and sends it later. */
const sentLaterAt = (
  own: Fixture.World,
  now: number,
  sendAt: number,
  message: Message.OutboundMessage = MessageFixture.template(),
  mark?: string
) =>
  Effect.gen(function*() {
    const store = yield* MessageStore.MessageStore
    const command = {
      ...(yield* MessageFixture.sendCommand(own, { now, message, later: { sendAt, isInBatch: true } })),
      messageId: Fixture.idAt("msg", now, mark)
    }
    const { messageId, request } = command
    assert.strictEqual((yield* store.accept(command))._tag, "Queued")
    const queued = Option.getOrThrow(yield* store.get(own.workspace.id, messageId))
    const { command: claimed } = yield* QueueFixture.claim(own, { message: queued, request }, sendAt)
    yield* MessageFixture.settle(claimed, yield* MessageFixture.acceptedOutcome, sendAt)
    return { messageId, content: queued.content }
  })

const found = (own: Fixture.World, id: Id.MessageId) =>
  Effect.map(MessageStore.MessageStore.use((store) => store.get(own.workspace.id, id)), Option.getOrUndefined)

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("old messages are deleted once they have ended and their keys are forgotten", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const old = yield* sentAt(own, own.start)
      const waiting = yield* acceptedAt(own, own.start, undefined, "8")
      yield* MessageFixture.settle(waiting, yield* MessageFixture.notSentOutcome)
      const bound = yield* sentAt(own, own.start + 2 * hour)
      const young = yield* sentAt(own, own.start + 5 * hour)
      const forgetAll = Forgetting.all(store.forget(own.start + 4 * hour))
      const kept = Effect.map(
        Effect.forEach([old, waiting, bound, young], ({ messageId }) => found(own, messageId)),
        (messages) => messages.map((message) => message !== undefined)
      )
      yield* forgetAll
      assert.deepStrictEqual(yield* kept, [true, true, true, true], "keys are kept for a day")
      yield* store.sweep(own.start + day + hour)
      assert.isAtLeast(yield* forgetAll, 2)
      assert.deepStrictEqual(yield* kept, [false, false, true, true])
      yield* store.sweep(own.start + 2 * day)
      yield* forgetAll
      assert.deepStrictEqual(yield* kept, [false, false, false, true])
      assert.strictEqual((yield* MessageFixture.lookUp(old))._tag, "Unbound")
    }))

  it.effect("what old messages said is deleted once they have ended, and the messages stay as they are listed", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const content = MessageFixture.template({
        name: "order",
        bodyParams: ["7", "ready"],
        clientReference: "order-7"
      })
      const old = yield* sentAt(own, own.start, content)
      const waiting = yield* acceptedAt(own, own.start, content, "8")
      yield* MessageFixture.settle(waiting, yield* MessageFixture.notSentOutcome)
      const late = yield* acceptedAt(own, own.start, content, "9")
      const young = yield* sentAt(own, own.start + 5 * hour, content)
      const scheduled = yield* sentLaterAt(own, own.start, own.start + day, content, "A")
      const before = yield* found(own, old.messageId)
      assert.isAtLeast(yield* Forgetting.all(store.forgetBodies(own.start + 4 * hour)), 1)
      assert.deepStrictEqual(yield* found(own, old.messageId), { ...before!, content: Message.withoutBody(content) })
      assert.deepStrictEqual((yield* found(own, waiting.messageId))?.content, content)
      assert.deepStrictEqual((yield* found(own, young.messageId))?.content, content)
      assert.deepStrictEqual((yield* found(own, scheduled.messageId))?.content, scheduled.content)
      const { items } = yield* store.list(own.workspace.id, { clientReference: "order-7", to: [content.to] }, {
        limit: 10,
        after: null
      })
      assert.strictEqual(items.length, 5)
      assert.isTrue(
        yield* MessageFixture.report({ status: "read", at: own.start + 6 * hour, reference: old.messageId })
      )
      assert.strictEqual((yield* found(own, old.messageId))?.status, "read")
      // one that ends after others of its age were looked at
      yield* Forgetting.all(store.forgetBodies(own.start + 4 * hour + 2 * day))
      assert.deepStrictEqual((yield* found(own, late.messageId))?.content, content)
      assert.deepStrictEqual(
        (yield* found(own, scheduled.messageId))?.content,
        Message.withoutBody(scheduled.content)
      )
      yield* MessageFixture.settle(late, yield* MessageFixture.acceptedOutcome)
      assert.isAtLeast(yield* Forgetting.all(store.forgetBodies(own.start + 4 * hour + 4 * day)), 1)
      assert.deepStrictEqual((yield* found(own, late.messageId))?.content, Message.withoutBody(content))
    }))

  it.effect("a message that was sent long after it was accepted is kept from when it was sent", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const sendAt = own.start + 10 * day
      const { messageId } = yield* sentLaterAt(own, own.start, sendAt)
      yield* store.sweep(sendAt + day)
      yield* Forgetting.all(store.forget(sendAt))
      assert.isTrue(yield* MessageFixture.report({ status: "read", at: sendAt + day + hour, reference: messageId }))
      yield* Forgetting.all(store.forget(sendAt + hour))
      assert.isUndefined(yield* found(own, messageId))
    }))
}
