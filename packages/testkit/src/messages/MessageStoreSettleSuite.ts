/**
 * Conformance of `MessageStore.settle` and `MessageStore.abandon`: how the outcome of a send is stored, and how a claim
 * is dropped.
 */
import { assert } from "@effect/vitest"
import { type Message, MessageStore, Time } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as DeliveryFixture from "../webhooks/DeliveryFixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { hour, minute, putWebhook, second, world } = Fixture
const { claimed, customer, eventsOf, lookUp, messageOf, settle, template } = MessageFixture

const abandon = (command: MessageStore.AcceptSend, claimToken = command.claimToken) =>
  MessageStore.MessageStore.use((store) => store.abandon({ ...command, claimToken }))

/** The visible state of a send. */
const seen = (own: Fixture.World, command: MessageStore.AcceptSend) =>
  Effect.all({
    message: messageOf(command),
    verdict: lookUp(command),
    events: eventsOf(own),
    deliveries: DeliveryFixture.views(own)
  })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("Accepted marks the message as sent, writes its event and delivery, and stores the answer", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const webhook = yield* putWebhook(own, { envelope: "b" })
      const { accepted, command } = yield* claimed(own, { message: template({ clientReference: "order 7" }) })
      const { providerMessageId } = yield* MessageFixture.acceptedOutcome
      const ids = yield* Fixture.eventIds
      const now = own.start + 2 * second
      const settled = yield* store.settle({
        now,
        message: command.claimed,
        claimToken: command.claimToken,
        end: { _tag: "Accepted", providerMessageId },
        ids
      })
      assert.isTrue(settled)
      assert.deepStrictEqual(yield* messageOf(command), {
        ...accepted.message,
        status: "sent",
        statusAt: now,
        providerMessageId,
        sentAt: now,
        sequence: 1
      })
      assert.deepStrictEqual(yield* eventsOf(own), [{
        id: ids.events[0]!,
        workspaceId: own.workspace.id,
        type: "message.sent",
        createdAt: now,
        orderKey: command.messageId,
        sequence: 1,
        data: {
          message_id: command.messageId,
          provider_message_id: providerMessageId,
          to: customer(1),
          status: "sent",
          sent_at: Time.iso(now),
          client_reference: "order 7",
          sequence: 1
        },
        trace: Fixture.trace
      }])
      const shown = yield* DeliveryFixture.views(own)
      assert.strictEqual(shown.length, 1)
      const { delivery } = shown[0]!
      assert.include(ids.deliveries, delivery.id)
      assert.deepStrictEqual(delivery, {
        id: delivery.id,
        workspaceId: own.workspace.id,
        webhookId: webhook.id,
        eventId: ids.events[0]!,
        eventType: "message.sent",
        envelope: "b",
        orderKey: command.messageId,
        sequence: 1,
        status: "pending",
        trigger: "automatic",
        attemptCount: 0,
        roundAttempts: 0,
        firstAttemptAt: null,
        lastAttemptAt: null,
        nextAttemptAt: now,
        createdAt: now,
        completedAt: null
      })
      assert.deepStrictEqual(yield* lookUp(command), {
        _tag: "Answered",
        answer: {
          _tag: "Sent",
          messageId: command.messageId,
          providerMessageId,
          workspaceId: own.workspace.id,
          apiKeyId: own.key.id
        }
      })
    }))

  it.effect("Refused marks the message as failed with the provider's reason", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { accepted, command } = yield* claimed(own)
      const at = own.start + second
      assert.isTrue(yield* settle(command, yield* MessageFixture.refusedOutcome(at), at + 1))
      const message: Message.Message = {
        ...accepted.message,
        status: "failed",
        statusAt: at + 1,
        failedAt: at,
        error: MessageFixture.refusedError,
        sequence: 1
      }
      assert.deepStrictEqual(yield* messageOf(command), message)
      const events = yield* eventsOf(own)
      assert.deepStrictEqual(events.map(({ createdAt, data, type }) => ({ createdAt, data, type })), [{
        createdAt: at + 1,
        type: "message.failed",
        data: {
          message_id: command.messageId,
          provider_message_id: null,
          to: customer(1),
          status: "failed",
          failed_at: Time.iso(at),
          error: { ...MessageFixture.refusedError, provider: { ...MessageFixture.refusedError.provider! } },
          sequence: 1
        }
      }])
      assert.strictEqual((yield* DeliveryFixture.views(own)).length, 1)
      assert.strictEqual((yield* lookUp(command))._tag, "Answered")
    }))

  it.effect("NotSent leaves the message sending without a claim, and without an event", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { accepted, command } = yield* claimed(own)
      const now = own.start + 3 * second
      assert.isTrue(yield* settle(command, yield* MessageFixture.notSentOutcome, now))
      assert.deepStrictEqual(yield* messageOf(command), { ...accepted.message, statusAt: now })
      assert.deepStrictEqual(yield* eventsOf(own), [])
      assert.strictEqual((yield* lookUp(command))._tag, "Released")
    }))

  it.effect("Unknown marks the message as unknown, without an event", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { accepted, command } = yield* claimed(own)
      const now = own.start + 8 * second
      assert.isTrue(yield* settle(command, { _tag: "Unknown" }, now))
      assert.deepStrictEqual(yield* messageOf(command), { ...accepted.message, status: "unknown", statusAt: now })
      assert.deepStrictEqual(yield* eventsOf(own), [])
      assert.deepStrictEqual(yield* lookUp(command), { _tag: "Unknown", reason: "outcome_unknown" })
    }))

  it.effect("an event gets a delivery only if a webhook subscribes to its type", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* MessageFixture.sent(own)
      assert.deepStrictEqual(yield* DeliveryFixture.views(own), [])
      yield* putWebhook(own, { eventTypes: ["message.failed"] })
      yield* MessageFixture.sent(own)
      assert.deepStrictEqual(yield* DeliveryFixture.views(own), [])
      const { command } = yield* claimed(own)
      yield* settle(command, yield* MessageFixture.refusedOutcome(own.start))
      assert.deepStrictEqual(
        (yield* DeliveryFixture.views(own)).map(({ delivery }) => delivery.eventType),
        ["message.failed"]
      )
      assert.strictEqual((yield* eventsOf(own)).length, 3)
    }))

  it.effect("a settlement without the claim changes nothing, whatever the outcome", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const other = yield* world({ start: own.start })
      const { command } = yield* claimed(own)
      const before = yield* seen(own, command)
      const ends = yield* MessageFixture.everyOutcome(own.start)
      for (const end of ends) {
        assert.isFalse(yield* settle({ ...command, claimToken: yield* Fixture.word }, end))
        assert.isFalse(yield* settle({ ...command, messageId: yield* Fixture.id("msg") }, end))
        const elsewhere = { ...command.request, workspaceId: other.workspace.id }
        assert.isFalse(yield* settle({ ...command, request: elsewhere }, end))
      }
      assert.deepStrictEqual(yield* seen(own, command), before)
      assert.isTrue(yield* settle(command, ends[0]!))
    }))

  it.effect("once a sweep has ended an expired lease, the claim is over", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      yield* putWebhook(own)
      const { command } = yield* claimed(own)
      yield* store.sweep(command.leaseUntil)
      const before = yield* seen(own, command)
      assert.strictEqual(before.message.status, "unknown")
      for (const end of [yield* MessageFixture.notSentOutcome, yield* MessageFixture.acceptedOutcome]) {
        assert.isFalse(yield* settle(command, end, command.leaseUntil))
      }
      assert.deepStrictEqual(yield* seen(own, command), before)
    }))

  it.effect("settling again changes nothing more, not even the quota", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      // one of the four outcomes gives it back
      const own = yield* world({ workspace: { monthlyQuota: 3 } })
      yield* putWebhook(own)
      const ends = yield* MessageFixture.everyOutcome(own.start)
      for (const end of ends) {
        const { command } = yield* claimed(own)
        const settling = {
          now: own.start,
          message: command.claimed,
          claimToken: command.claimToken,
          end,
          ids: yield* Fixture.eventIds
        }
        assert.isTrue(yield* store.settle(settling))
        const before = yield* seen(own, command)
        yield* store.settle(settling)
        assert.deepStrictEqual(yield* seen(own, command), before)
        yield* settle(command, end, own.start + minute)
        assert.deepStrictEqual(yield* seen(own, command), before)
        // and no other outcome can replace it
        yield* settle(command, end._tag === "Unknown" ? yield* MessageFixture.acceptedOutcome : { _tag: "Unknown" })
        assert.deepStrictEqual(yield* seen(own, command), before)
      }
      const { accepted } = yield* MessageFixture.accept(own)
      assert.strictEqual(MessageFixture.describe(accepted), "forbidden/quota_exhausted")
    }))

  it.effect("of racing settlements, exactly one counts", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      const ends = (yield* Effect.replicateEffect(MessageFixture.everyOutcome(own.start), 6)).flat()
      const results = yield* Effect.forEach(
        ends,
        (end) => Effect.map(settle(command, end), (settled) => ({ end, settled })),
        { concurrency: "unbounded" }
      )
      const winners = results.filter(({ settled }) => settled)
      assert.strictEqual(winners.length, 1)
      const { end } = winners[0]!
      const { events, message } = yield* seen(own, command)
      const status = { Accepted: "sent", Refused: "failed", NotSent: "sending", Unknown: "unknown" } as const
      assert.strictEqual(message.status, status[end._tag])
      assert.strictEqual(events.length, end._tag === "Accepted" || end._tag === "Refused" ? 1 : 0)
      if (end._tag === "Accepted") assert.strictEqual(message.providerMessageId, end.providerMessageId)
    }))

  it.effect("an earlier report stays in force: no status moves back, and no event is repeated", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { command } = yield* claimed(own)
      const end = yield* MessageFixture.acceptedOutcome
      const at = own.start + second
      yield* MessageFixture.report({
        status: "delivered",
        at,
        reference: command.messageId,
        providerMessageId: end.providerMessageId
      })
      assert.isTrue(yield* settle(command, end, at + 1))
      const { deliveries, events, message, verdict } = yield* seen(own, command)
      assert.deepStrictEqual(
        [message.status, message.statusAt, message.sentAt, message.deliveredAt, message.sequence],
        ["delivered", at, at, at, 2]
      )
      assert.deepStrictEqual(events.map(({ sequence, type }) => [type, sequence]), [
        ["message.sent", 1],
        ["message.delivered", 2]
      ])
      assert.strictEqual(deliveries.length, 2)
      assert.strictEqual(verdict._tag, "Answered")
    }))

  it.effect("after a report without the provider's id, settle adds the id", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      yield* MessageFixture.report({ status: "read", at: own.start + second, reference: command.messageId })
      const end = yield* MessageFixture.acceptedOutcome
      assert.isTrue(yield* settle(command, end, own.start + 2 * second))
      const { message, verdict } = yield* seen(own, command)
      assert.deepStrictEqual([message.status, message.providerMessageId], ["read", end.providerMessageId])
      assert.strictEqual(verdict._tag, "Answered")
    }))

  it.effect("a failure reported before settle is not undone by it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      const end = yield* MessageFixture.acceptedOutcome
      yield* MessageFixture.report({
        status: "failed",
        at: own.start + second,
        reference: command.messageId,
        providerMessageId: end.providerMessageId
      })
      assert.isTrue(yield* settle(command, end, own.start + 2 * second))
      const { events, message, verdict } = yield* seen(own, command)
      assert.deepStrictEqual([message.status, message.error, message.sequence], [
        "failed",
        MessageFixture.refusedError,
        1
      ])
      assert.deepStrictEqual(events.map(({ type }) => type), ["message.failed"])
      if (verdict._tag !== "Answered") return assert.fail("not answered")
      assert.strictEqual(verdict.answer._tag, "Sent", "the provider took it, even if it failed later")
    }))

  it.effect("an unknown outcome does not undo what was reported", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      const { providerMessageId } = yield* MessageFixture.acceptedOutcome
      yield* MessageFixture.report({
        status: "sent",
        at: own.start + 1,
        reference: command.messageId,
        providerMessageId
      })
      yield* settle(command, { _tag: "Unknown" }, own.start + second)
      const { message, verdict } = yield* seen(own, command)
      assert.strictEqual(message.status, "sent")
      if (verdict._tag !== "Answered" || verdict.answer._tag !== "Sent") return assert.fail("not answered")
      assert.strictEqual(verdict.answer.providerMessageId, providerMessageId)
    }))

  it.effect("abandoning a first try leaves nothing behind", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      yield* putWebhook(own)
      const { command } = yield* claimed(own)
      yield* abandon(command)
      yield* abandon(command)
      assert.deepStrictEqual(yield* store.get(own.workspace.id, command.messageId), Option.none())
      assert.deepStrictEqual(yield* lookUp(command), { _tag: "Unbound" })
      assert.deepStrictEqual(yield* eventsOf(own), [])
      assert.isFalse(yield* settle(command, yield* MessageFixture.acceptedOutcome))
      const again = yield* claimed(own, { key: command.request.key, fingerprint: "another body" })
      // the abandoned claim's token is not this one's
      yield* abandon({ ...again.command, claimToken: command.claimToken })
      assert.deepStrictEqual(yield* lookUp(again.command), { _tag: "Running" })
    }))

  it.effect("abandoning a later try only removes its claim", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const first = yield* claimed(own)
      yield* settle(first.command, yield* MessageFixture.notSentOutcome)
      const again = { key: first.command.request.key, now: own.start + hour }
      const later = yield* claimed(own, again)
      yield* abandon(later.command)
      const { events, message, verdict } = yield* seen(own, first.command)
      assert.deepStrictEqual([message.id, message.status], [first.command.messageId, "sending"])
      assert.deepStrictEqual(events, [])
      assert.strictEqual(verdict._tag, "Released")
      assert.isFalse(yield* settle(later.command, yield* MessageFixture.acceptedOutcome))
      const third = yield* claimed(own, again)
      assert.strictEqual(third.command.messageId, first.command.messageId)
    }))

  it.effect("abandon without the claim changes nothing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      const before = yield* seen(own, command)
      yield* abandon(command, yield* Fixture.word)
      assert.deepStrictEqual(yield* seen(own, command), before)
      yield* settle(command, yield* MessageFixture.acceptedOutcome)
      const after = yield* seen(own, command)
      yield* abandon(command)
      assert.deepStrictEqual(yield* seen(own, command), after)
    }))
}
