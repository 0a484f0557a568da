/**
 * Conformance of `MessageStore.sweep`: conclusions from silence, at their exact times.
 */
import { assert } from "@effect/vitest"
import { Message, MessageStore, Time } from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as DeliveryFixture from "../webhooks/DeliveryFixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { day, hour, minute, putWebhook, second, world } = Fixture
const { claimed, customer, eventsOf, lookUp, messageOf, report, settle } = MessageFixture

/** Sweeps. Everything due is the test's own, because what others left lies in its future. */
const sweep = (now: number) =>
  Effect.map(
    MessageStore.MessageStore.use((store) => store.sweep(now)),
    ({ failed, unknown }) => ({ failed, unknown })
  )

const nothing = { unknown: 0, failed: 0 }

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a claim whose lease ended becomes unknown, and not a millisecond before", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { accepted, command } = yield* claimed(own)
      const end = own.start + 30 * second
      assert.deepStrictEqual(yield* sweep(end - 1), nothing)
      assert.deepStrictEqual(yield* messageOf(command), accepted.message)
      assert.deepStrictEqual(yield* sweep(end), { unknown: 1, failed: 0 })
      assert.deepStrictEqual(yield* messageOf(command), { ...accepted.message, status: "unknown", statusAt: end })
      assert.deepStrictEqual(yield* eventsOf(own), [])
      assert.deepStrictEqual(yield* sweep(end), nothing)
    }))

  it.effect("a message that stays unknown for ten minutes fails, with an event", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { command } = yield* claimed(own)
      yield* sweep(own.start + 30 * second)
      const end = own.start + 30 * second + 10 * minute
      const before = yield* messageOf(command)
      assert.deepStrictEqual(yield* sweep(end - 1), nothing)
      assert.deepStrictEqual(yield* messageOf(command), before)
      assert.deepStrictEqual(yield* sweep(end), { unknown: 0, failed: 1 })
      assert.deepStrictEqual(yield* messageOf(command), {
        ...before,
        status: "failed",
        statusAt: end,
        failedAt: end,
        error: Message.deliveryUnknown,
        sequence: 1
      })
      const events = yield* eventsOf(own)
      assert.deepStrictEqual(
        events.map(({ createdAt, data, orderKey, sequence, type }) => ({ createdAt, data, orderKey, sequence, type })),
        [{
          createdAt: end,
          type: "message.failed",
          orderKey: command.messageId,
          sequence: 1,
          data: {
            message_id: command.messageId,
            provider_message_id: null,
            to: customer(1),
            status: "failed",
            failed_at: Time.iso(end),
            error: { ...Message.deliveryUnknown },
            sequence: 1
          }
        }]
      )
      const shown = yield* DeliveryFixture.views(own)
      assert.deepStrictEqual(
        shown.map(({ delivery }) => [delivery.eventId, delivery.status, delivery.nextAttemptAt]),
        [[events[0]!.id, "pending", end]]
      )
      assert.deepStrictEqual(yield* sweep(end), nothing)
      assert.deepStrictEqual(yield* sweep(end + hour), nothing)
    }))

  it.effect("the ten minutes count from when the message became unknown", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      const at = own.start + 8 * second
      yield* settle(command, { _tag: "Unknown" }, at)
      assert.deepStrictEqual(yield* sweep(at + 10 * minute - 1), nothing)
      assert.deepStrictEqual(yield* sweep(at + 10 * minute), { unknown: 0, failed: 1 })
    }))

  it.effect("a report in time keeps the message from failing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      yield* settle(command, { _tag: "Unknown" })
      const { providerMessageId } = yield* MessageFixture.acceptedOutcome
      yield* report({ status: "sent", at: own.start + minute, reference: command.messageId, providerMessageId })
      assert.deepStrictEqual(yield* sweep(own.start + hour), nothing)
      assert.strictEqual((yield* messageOf(command)).status, "sent")
    }))

  it.effect("a claim that reports have overtaken ends without a step back", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      const { providerMessageId } = yield* MessageFixture.acceptedOutcome
      yield* report({ status: "delivered", at: own.start + 1, reference: command.messageId, providerMessageId })
      yield* sweep(command.leaseUntil)
      yield* sweep(command.leaseUntil + hour)
      const message = yield* messageOf(command)
      assert.deepStrictEqual([message.status, message.sequence], ["delivered", 2])
      assert.strictEqual((yield* lookUp(command, command.leaseUntil + hour))._tag, "Answered")
    }))

  it.effect("a message that was certainly not sent, and not retried for 24 hours, fails, and its key is forgotten", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { command } = yield* claimed(own)
      const at = own.start + 2 * second
      yield* settle(command, yield* MessageFixture.notSentOutcome, at)
      const before = yield* messageOf(command)
      const end = at + day
      assert.deepStrictEqual(yield* sweep(end - 1), nothing)
      assert.strictEqual((yield* lookUp(command, end - 1))._tag, "Released")
      assert.deepStrictEqual(yield* sweep(end), { unknown: 0, failed: 1 })
      assert.deepStrictEqual(yield* messageOf(command), {
        ...before,
        status: "failed",
        statusAt: end,
        failedAt: end,
        error: Message.notSent,
        sequence: 1
      })
      const events = yield* eventsOf(own)
      assert.deepStrictEqual(events.map(({ data, type }) => [type, data["error"]]), [
        ["message.failed", { ...Message.notSent }]
      ])
      assert.strictEqual((yield* DeliveryFixture.views(own)).length, 1)
      assert.deepStrictEqual(yield* lookUp(command, end), { _tag: "Unbound" })
      const again = yield* claimed(own, { key: command.request.key, fingerprint: "another body", now: end })
      assert.notStrictEqual(again.command.messageId, command.messageId)
      // a report is better than this conclusion, and the key stays free
      yield* report({ status: "sent", at: end, reference: command.messageId })
      assert.deepStrictEqual(yield* messageOf(command), {
        ...before,
        status: "sent",
        statusAt: end,
        sentAt: end,
        sequence: 2
      })
      assert.deepStrictEqual((yield* eventsOf(own)).map(({ data, type }) => [type, data["corrects"]]), [
        ["message.failed", undefined],
        ["message.sent", "failed"]
      ])
      assert.strictEqual((yield* lookUp(again.command, end))._tag, "Running")
    }))

  it.effect("the 24 hours count from the end of the last try, and not while one runs", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const first = yield* claimed(own)
      yield* settle(first.command, yield* MessageFixture.notSentOutcome)
      const key = first.command.request.key
      const again = yield* claimed(own, { key, now: own.start + day - second })
      assert.deepStrictEqual(yield* sweep(own.start + day + second), nothing)
      const at = own.start + day + 2 * second
      assert.isTrue(yield* settle(again.command, yield* MessageFixture.notSentOutcome, at))
      assert.deepStrictEqual(yield* sweep(at + day - 1), nothing)
      assert.deepStrictEqual(yield* sweep(at + day), { unknown: 0, failed: 1 })
    }))

  it.effect("a retry's lease ends to the millisecond, whatever an earlier sweep saw", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const first = yield* claimed(own)
      yield* settle(first.command, yield* MessageFixture.notSentOutcome)
      assert.deepStrictEqual(yield* sweep(own.start + minute), nothing)
      const again = yield* claimed(own, { key: first.command.request.key, now: own.start + 2 * minute })
      assert.deepStrictEqual(yield* sweep(again.command.leaseUntil - 1), nothing)
      assert.deepStrictEqual(yield* sweep(again.command.leaseUntil), { unknown: 1, failed: 0 })
    }))

  it.effect("after an abandoned retry, the 24 hours count from the previous try", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const first = yield* claimed(own)
      yield* settle(first.command, yield* MessageFixture.notSentOutcome)
      const again = yield* claimed(own, { key: first.command.request.key, now: own.start + day - second })
      assert.deepStrictEqual(yield* sweep(own.start + day), nothing)
      yield* store.abandon({ ...again.command, now: own.start + day + second })
      assert.deepStrictEqual(yield* sweep(own.start + day + second), { unknown: 0, failed: 1 })
    }))

  it.effect("expired keys are forgotten, and their messages stay", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const { command } = yield* claimed(own)
      yield* settle(command, yield* MessageFixture.acceptedOutcome, own.start + second)
      const later = yield* claimed(own, { now: own.start + hour })
      yield* settle(later.command, yield* MessageFixture.refusedOutcome(own.start + hour), own.start + hour)
      yield* store.sweep(own.start + second + day - 1)
      assert.strictEqual((yield* lookUp(command, own.start + second))._tag, "Answered")
      const { forgotten } = yield* store.sweep(own.start + second + day)
      assert.isAtLeast(forgotten, 1)
      // forgotten for good, whatever the caller's clock
      assert.deepStrictEqual(yield* lookUp(command, own.start + second), { _tag: "Unbound" })
      assert.strictEqual((yield* lookUp(later.command, own.start + second + day))._tag, "Answered")
      assert.strictEqual((yield* messageOf(command)).status, "sent")
      assert.strictEqual((yield* store.sweep(own.start + second + day)).forgotten, 0)
    }))

  it.effect("the key of a message that was given up is kept for 24 hours from then", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      yield* settle(command, { _tag: "Unknown" })
      const end = own.start + 10 * minute
      yield* sweep(end)
      yield* sweep(end + day - 1)
      assert.deepStrictEqual(yield* lookUp(command, end + day - 1), { _tag: "Unknown", reason: "delivery_unknown" })
      assert.deepStrictEqual(yield* lookUp(command, end + day), { _tag: "Unbound" })
    }))

  it.effect("running, sent and settled messages are left alone", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const sent = yield* MessageFixture.sent(own)
      const refused = yield* claimed(own)
      yield* settle(refused.command, yield* MessageFixture.refusedOutcome(own.start))
      const running = yield* claimed(own, { now: own.start + hour, leaseUntil: own.start + 2 * hour })
      const all = [running.command, sent.command, refused.command]
      const before = yield* Effect.forEach(all, messageOf)
      assert.deepStrictEqual(yield* sweep(own.start + hour), nothing)
      assert.deepStrictEqual(yield* Effect.forEach(all, messageOf), before)
      assert.deepStrictEqual(yield* sweep(own.start + 2 * hour), { unknown: 1, failed: 0 })
    }))

  it.effect("racing sweeps draw each conclusion once", () =>
    Effect.gen(function*() {
      const own = yield* world({ workspace: { monthlyQuota: 30 } })
      yield* putWebhook(own)
      const race = (now: number) =>
        Effect.map(
          Effect.all(Array.from({ length: 8 }, () => sweep(now)), { concurrency: "unbounded" }),
          (all) => ({
            unknown: all.reduce((sum, { unknown }) => sum + unknown, 0),
            failed: all.reduce((sum, { failed }) => sum + failed, 0)
          })
        )
      for (let i = 0; i < 20; i++) yield* claimed(own)
      for (let i = 0; i < 10; i++) {
        const { command } = yield* claimed(own)
        yield* settle(command, yield* MessageFixture.notSentOutcome)
      }
      assert.deepStrictEqual(yield* race(own.start + minute), { unknown: 20, failed: 0 })
      assert.deepStrictEqual(yield* race(own.start + 11 * minute), { unknown: 0, failed: 20 })
      assert.deepStrictEqual(yield* race(own.start + day), { unknown: 0, failed: 10 })
      const events = yield* eventsOf(own)
      assert.strictEqual(events.length, 30)
      assert.strictEqual(new Set(events.map(({ orderKey }) => orderKey)).size, 30)
      assert.deepStrictEqual(events.filter(({ sequence, type }) => sequence !== 1 || type !== "message.failed"), [])
      assert.strictEqual((yield* DeliveryFixture.views(own)).length, 30)
      // ten were returned to the quota, once each
      const told = Effect.map(
        MessageFixture.accept(own, { now: own.start + day }),
        ({ accepted }) => MessageFixture.describe(accepted)
      )
      for (let i = 0; i < 10; i++) assert.strictEqual(yield* told, "Claimed")
      assert.strictEqual(yield* told, "forbidden/quota_exhausted")
    }))

  it.effect("of a sweep racing with settle, retry and report, one comes first, and all agree on the result", () =>
    Effect.gen(function*() {
      const own = yield* world()
      for (let round = 0; round < 10; round++) {
        const { command } = yield* claimed(own)
        const end = yield* MessageFixture.acceptedOutcome
        const [settled] = yield* Effect.all([
          settle(command, end, command.leaseUntil),
          sweep(command.leaseUntil)
        ], { concurrency: "unbounded" })
        const message = yield* messageOf(command)
        assert.strictEqual(message.status, settled ? "sent" : "unknown")
        const verdict = yield* lookUp(command, command.leaseUntil)
        assert.strictEqual(verdict._tag, settled ? "Answered" : "Unknown")
      }
      const given = yield* Effect.replicateEffect(claimed(own, { now: own.start + hour }), 10)
      yield* Effect.forEach(given, ({ command }) => settle(command, { _tag: "Unknown" }), { discard: true })
      const end = own.start + hour + 10 * minute
      for (const { command } of given) {
        const { providerMessageId } = yield* MessageFixture.acceptedOutcome
        yield* Effect.all([
          sweep(end),
          report({ status: "sent", at: end, reference: command.messageId, providerMessageId })
        ], { concurrency: "unbounded" })
        // whichever came first: silence yields to the report
        assert.strictEqual((yield* messageOf(command)).status, "sent")
      }
      const events = yield* eventsOf(own)
      for (const { command } of given) {
        const own = events.filter(({ orderKey }) => orderKey === command.messageId)
        assert.deepStrictEqual(own.map(({ sequence }) => sequence), own.map((_, i) => i + 1))
        assert.strictEqual(own.at(-1)?.type, "message.sent")
      }
    }))
}
