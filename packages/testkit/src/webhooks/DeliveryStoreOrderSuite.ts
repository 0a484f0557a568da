/**
 * Conformance of `DeliveryStore`: the events of one message are delivered one after another.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as DeliveryFixture from "./DeliveryFixture.ts"

const { claim, claimOne, complete, tryOne, view, views } = DeliveryFixture
const { hour, putWebhook, second, world } = Fixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("each event of a message waits for the previous one to end, and then is due immediately", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { messageId } = yield* MessageFixture.sent(own)
      yield* MessageFixture.report({ status: "read", at: own.start + 1, reference: messageId })
      const other = yield* MessageFixture.sent(own, { now: own.start + 2, message: MessageFixture.template() })
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

      // while the first one is retried, nothing else of the message is due
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
      // its own T0 is now
      yield* complete(next, { startedAt: endedAt + 5 })
      assert.strictEqual((yield* view(own, next.delivery.id)).delivery.firstAttemptAt, endedAt + 5)
    }))

  it.effect("an event recorded after its predecessor ended is due immediately", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { messageId } = yield* MessageFixture.sent(own)
      yield* tryOne(own, { startedAt: own.start, outcome: "delivered" })
      yield* MessageFixture.report({ status: "delivered", at: own.start + hour, reference: messageId })
      const { delivery } = yield* claimOne(own, { now: own.start + hour })
      assert.deepStrictEqual([delivery.sequence, delivery.nextAttemptAt], [2, own.start + hour])
    }))

  it.effect("a predecessor without a delivery is not waited for", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own, { eventTypes: ["message.read"] })
      const { messageId } = yield* MessageFixture.sent(own)
      yield* MessageFixture.report({ status: "read", at: own.start + 1, reference: messageId })
      const { delivery } = yield* claimOne(own, { now: own.start + 1 })
      assert.deepStrictEqual([delivery.eventType, delivery.sequence], ["message.read", 3])
    }))
}
