/**
 * Conformance of `MessageStore.applyReport`: how a provider report finds its message, and what it changes.
 */
import { assert } from "@effect/vitest"
import { type Event, Message, MessageStore, Quota, SendBinding, Time, UsageStore } from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as DeliveryFixture from "../webhooks/DeliveryFixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { day, hour, minute, putWebhook, second, world } = Fixture
const { claimed, customer, eventsOf, lookUp, messageOf, report, sent, settle } = MessageFixture

const steps = (events: ReadonlyArray<Event.Event>) => events.map(({ sequence, type }) => [type.slice(8), sequence])

/** A send with an unknown outcome. */
const unknown = (own: Fixture.World) =>
  Effect.gen(function*() {
    const { command } = yield* claimed(own)
    assert.isTrue(yield* settle(command, { _tag: "Unknown" }))
    return command
  })

/** A send that failed because no report came for ten minutes. */
const givenUp = (own: Fixture.World) =>
  Effect.gen(function*() {
    const store = yield* MessageStore.MessageStore
    const command = yield* unknown(own)
    yield* store.sweep(own.start + 10 * minute)
    const message = yield* messageOf(command)
    assert.deepStrictEqual([message.status, message.error], ["failed", Message.deliveryUnknown])
    return command
  })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("the reported price and playing are stored, and appear in the event of the same report", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const { command, providerMessageId } = yield* sent(own)
      const tell = (status: Message.Report["status"], after: number, more: Partial<Message.Report>) =>
        Effect.gen(function*() {
          const at = own.start + after * second
          assert.isDefined(
            yield* store.applyReport({
              now: at,
              providerNumberId: own.number.providerNumberId,
              reference: command.messageId,
              report: { status, at, providerMessageId, error: null, ...more },
              ids: yield* Fixture.eventIds
            })
          )
          const { pricing, playedAt, status: now } = yield* messageOf(command)
          return { pricing, playedAt, status: now }
        })
      const price = { billable: true, model: "PMP", type: "regular", category: "utility" }
      const free = { ...price, billable: false, type: "free_customer_service" }
      const playedAt = own.start + 3 * second
      assert.deepStrictEqual(yield* tell("sent", 1, { pricing: price }), {
        pricing: price,
        playedAt: null,
        status: "sent"
      })
      assert.deepStrictEqual(yield* tell("read", 2, { pricing: free }), {
        pricing: free,
        playedAt: null,
        status: "read"
      })
      assert.deepStrictEqual(yield* tell("read", 3, { isPlayed: true }), { pricing: free, playedAt, status: "read" })
      assert.deepStrictEqual(yield* tell("read", 4, { isPlayed: true }), { pricing: free, playedAt, status: "read" })
      const told = (yield* eventsOf(own)).map(({ data, type }) => [type, data["pricing"]])
      assert.deepStrictEqual(told, [
        ["message.sent", undefined],
        ["message.delivered", undefined],
        ["message.read", free]
      ])
    }))

  it.effect("a report advances its message and records events, with the provider's time and ours", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      yield* putWebhook(own)
      const { command, providerMessageId } = yield* sent(own)
      const before = yield* messageOf(command)
      const ids = yield* Fixture.eventIds
      const at = own.start + second
      const now = own.start + 3 * second
      const known = yield* store.applyReport({
        now,
        providerNumberId: own.number.providerNumberId,
        reference: command.messageId,
        report: { status: "delivered", at, providerMessageId, error: null },
        ids
      })
      assert.deepStrictEqual(known, {
        to: command.message.to,
        phoneNumberId: own.number.id,
        workspaceId: own.workspace.id,
        arrivedOf: before.sentAt ?? before.createdAt
      })
      assert.deepStrictEqual(yield* messageOf(command), {
        ...before,
        status: "delivered",
        statusAt: now,
        deliveredAt: at,
        sequence: 2
      })
      assert.deepStrictEqual((yield* eventsOf(own))[1], {
        id: ids.events[0]!,
        workspaceId: own.workspace.id,
        type: "message.delivered",
        createdAt: now,
        orderKey: command.messageId,
        sequence: 2,
        data: {
          message_id: command.messageId,
          provider_message_id: providerMessageId,
          to: customer(1),
          status: "delivered",
          delivered_at: Time.iso(at),
          sequence: 2
        },
        trace: Fixture.trace
      })
      const shown = (yield* DeliveryFixture.views(own)).map(({ delivery }) => delivery)
      assert.deepStrictEqual(shown.map(({ eventType, nextAttemptAt }) => [eventType, nextAttemptAt]), [
        ["message.sent", own.start],
        ["message.delivered", null]
      ])
    }))

  it.effect("a message is found by our reference, then by the provider's id", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const one = yield* sent(own)
      const two = yield* sent(own)
      const statuses = Effect.all([
        Effect.map(messageOf(one.command), ({ status }) => status),
        Effect.map(messageOf(two.command), ({ status }) => status)
      ])
      const at = own.start + 1
      assert.isTrue(yield* report({ status: "delivered", at, reference: one.messageId }))
      assert.deepStrictEqual(yield* statuses, ["delivered", "sent"])
      const { providerMessageId } = two
      assert.isTrue(yield* report({ status: "delivered", at, reference: null, providerMessageId }))
      assert.deepStrictEqual(yield* statuses, ["delivered", "delivered"])
      // a reference that is not ours does not hide the provider's id
      const stranger = yield* Fixture.id("msg")
      assert.isTrue(yield* report({ status: "read", at, reference: stranger, providerMessageId }))
      assert.deepStrictEqual(yield* statuses, ["delivered", "read"])
      // the reference takes precedence over the provider's id
      assert.isTrue(yield* report({ status: "read", at, reference: one.messageId, providerMessageId }))
      assert.deepStrictEqual(yield* statuses, ["read", "read"])
      assert.strictEqual((yield* messageOf(one.command)).providerMessageId, one.providerMessageId)
    }))

  it.effect("a report finds only messages of its own number", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      const { command, messageId, providerMessageId } = yield* sent(own)
      const told = { status: "delivered", at: own.start + 1, providerMessageId } as const
      for (const { providerNumberId } of [other.number, { providerNumberId: "nobody's" }]) {
        assert.isFalse(yield* report({ ...told, reference: messageId, providerNumberId }))
        assert.isFalse(yield* report({ ...told, reference: null, providerNumberId }))
      }
      assert.strictEqual((yield* messageOf(command)).status, "sent")
      // a message that its reference does not match may match by the provider's id
      const { providerNumberId } = own.number
      const { messageId: theirs } = yield* sent(other)
      assert.isTrue(yield* report({ ...told, reference: theirs, providerNumberId }))
      assert.strictEqual((yield* messageOf(command)).status, "delivered")
      assert.isTrue(yield* report({ ...told, status: "read", reference: messageId, providerNumberId }))
      assert.strictEqual((yield* messageOf(command)).status, "read")
      assert.deepStrictEqual(steps(yield* eventsOf(other)), [["sent", 1]])
    }))

  it.effect("a report about an unknown message is ignored", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const at = own.start
      const stranger = yield* Fixture.id("msg")
      assert.isFalse(yield* report({ status: "sent", at, reference: stranger }))
      assert.isFalse(yield* report({ status: "sent", at, reference: null, providerMessageId: "wamid.nobody" }))
      assert.isFalse(yield* report({ status: "sent", at, reference: null }))
      assert.deepStrictEqual(yield* eventsOf(own), [])
    }))

  it.effect("a message that a report gave an id is found by that id from then on", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      const { providerMessageId } = yield* MessageFixture.acceptedOutcome
      const at = own.start + 1
      assert.isFalse(yield* report({ status: "sent", at, reference: null, providerMessageId }))
      assert.isTrue(yield* report({ status: "sent", at, reference: command.messageId, providerMessageId }))
      assert.isTrue(yield* report({ status: "delivered", at, reference: null, providerMessageId }))
      assert.strictEqual((yield* messageOf(command)).status, "delivered")
    }))

  it.effect("any number of reports records each step once", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command, messageId } = yield* sent(own)
      for (
        const [status, ms] of [
          ["sent", 1],
          ["delivered", 2],
          ["delivered", 3],
          ["sent", 4],
          ["read", 5],
          ["delivered", 6],
          ["read", 7],
          ["read", 7]
        ] as const
      ) {
        assert.isTrue(yield* report({ status, at: own.start + ms, reference: messageId }))
      }
      assert.deepStrictEqual(steps(yield* eventsOf(own)), [["sent", 1], ["delivered", 2], ["read", 3]])
      const message = yield* messageOf(command)
      assert.deepStrictEqual(
        [message.status, message.sentAt, message.deliveredAt, message.readAt, message.sequence],
        ["read", own.start, own.start + 2, own.start + 5, 3]
      )
    }))

  it.effect("a step by a slow clock gets the time of the previous step", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const at = own.start - 500
      const times = Effect.fnUntraced(function*(command: MessageStore.AcceptSend) {
        const { deliveredAt, failedAt, readAt, sentAt } = yield* messageOf(command)
        return [sentAt, deliveredAt, readAt, failedAt].map((time) => time && time - own.start)
      })
      const { command } = yield* claimed(own)
      yield* report({ status: "sent", at, reference: command.messageId })
      yield* report({ status: "delivered", at: own.start + 2, reference: command.messageId })
      yield* report({ status: "read", at, reference: command.messageId })
      assert.deepStrictEqual(yield* times(command), [0, 2, 2, null])
      const refused = yield* claimed(own)
      yield* report({ status: "sent", at: own.start + 3, reference: refused.command.messageId })
      yield* report({ status: "failed", at, reference: refused.command.messageId })
      assert.deepStrictEqual(yield* times(refused.command), [3, null, null, 3])
      const told = (yield* eventsOf(own)).map(({ data }) =>
        data["sent_at"] ?? data["delivered_at"] ?? data["read_at"] ?? data["failed_at"]
      )
      assert.deepStrictEqual(told, [0, 2, 2, 3, 3].map((ms) => Time.iso(own.start + ms)))
    }))

  it.effect("skipped steps are recorded first, with the later time", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { command } = yield* claimed(own)
      const { providerMessageId } = yield* MessageFixture.acceptedOutcome
      const at = own.start + minute
      yield* report({ status: "read", at, now: at + 5, reference: command.messageId, providerMessageId })
      const events = yield* eventsOf(own)
      assert.deepStrictEqual(steps(events), [["sent", 1], ["delivered", 2], ["read", 3]])
      assert.deepStrictEqual(
        events.map(({ data }) =>
          [data["sent_at"], data["delivered_at"], data["read_at"]].filter((time) => time !== undefined)
        ),
        [[Time.iso(at)], [Time.iso(at)], [Time.iso(at)]]
      )
      assert.deepStrictEqual(events.map(({ createdAt }) => createdAt), [at + 5, at + 5, at + 5])
      assert.deepStrictEqual(events.map(({ data }) => data["provider_message_id"]), [
        providerMessageId,
        providerMessageId,
        providerMessageId
      ])
      assert.strictEqual(new Set(events.map(({ id }) => id)).size, 3)
      assert.strictEqual((yield* DeliveryFixture.views(own)).length, 3)
      // late reports add nothing
      yield* report({ status: "delivered", at: own.start + 1, reference: command.messageId })
      yield* report({ status: "sent", at: own.start, reference: command.messageId })
      assert.strictEqual((yield* eventsOf(own)).length, 3)
      assert.strictEqual((yield* messageOf(command)).status, "read")
    }))

  it.effect("delivered and read correct a failure, and say so; sent only fills in its time", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { command, messageId } = yield* sent(own)
      const tell = (status: Message.Report["status"], after: number) =>
        Effect.gen(function*() {
          assert.isTrue(yield* report({ status, at: own.start + after, reference: messageId }))
          const { deliveredAt, error, failedAt, readAt, sequence, status: now } = yield* messageOf(command)
          return { now, deliveredAt, readAt, failedAt, error, sequence }
        })
      const failed = {
        now: "failed",
        deliveredAt: null,
        readAt: null,
        failedAt: own.start + 1,
        error: MessageFixture.refusedError,
        sequence: 2
      } as const
      assert.deepStrictEqual(yield* tell("failed", 1), failed)
      assert.deepStrictEqual(yield* tell("sent", 2), failed)
      assert.deepStrictEqual(yield* tell("failed", 3), failed)
      const read = {
        now: "read",
        deliveredAt: own.start + 4,
        readAt: own.start + 4,
        failedAt: null,
        error: null,
        sequence: 4
      } as const
      assert.deepStrictEqual(yield* tell("read", 4), read)
      for (const status of ["failed", "sent", "delivered", "read"] as const) {
        assert.deepStrictEqual(yield* tell(status, 5), read)
      }
      const told = (yield* eventsOf(own)).map(({ data, type }) => [type.slice(8), data["corrects"], data["error"]])
      assert.deepStrictEqual(told, [
        ["sent", undefined, undefined],
        ["failed", undefined, { ...MessageFixture.refusedError }],
        ["delivered", "failed", undefined],
        ["read", "failed", undefined]
      ])
      assert.strictEqual((yield* DeliveryFixture.views(own)).length, 4)
    }))

  it.effect("a failure that comes below the status changes nothing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command, messageId } = yield* sent(own)
      yield* report({ status: "delivered", at: own.start + 3, reference: messageId })
      const before = yield* messageOf(command)
      assert.isTrue(yield* report({ status: "failed", at: own.start + 4, reference: messageId }))
      assert.deepStrictEqual(yield* messageOf(command), before)
      assert.deepStrictEqual(steps(yield* eventsOf(own)), [["sent", 1], ["delivered", 2]])
    }))

  it.effect("a message that failed before it was sent, and arrived, was sent first", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      yield* settle(command, yield* MessageFixture.refusedOutcome(own.start))
      const at = own.start + minute
      yield* report({ status: "delivered", at, reference: command.messageId })
      const { deliveredAt, error, failedAt, sentAt, status } = yield* messageOf(command)
      assert.deepStrictEqual([status, sentAt, deliveredAt, failedAt, error], ["delivered", at, at, null, null])
      assert.deepStrictEqual((yield* eventsOf(own)).map(({ data, type }) => [type.slice(8), data["corrects"]]), [
        ["failed", undefined],
        ["sent", "failed"],
        ["delivered", "failed"]
      ])
    }))

  it.effect("a correction leaves the stored answer, and spends the quota again, once and in its month", () =>
    Effect.gen(function*() {
      const usage = yield* UsageStore.UsageStore
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const month = Quota.monthOf(own.start)
      const used = Effect.map(
        usage.months(own.workspace.id),
        (months) => months.map(({ month, used }) => [month, used])
      )
      const refused = (yield* claimed(own)).command
      const end = yield* MessageFixture.refusedOutcome(own.start)
      yield* settle(refused, end)
      assert.deepStrictEqual(yield* used, [[month, 0]])
      for (const status of ["sent", "read", "delivered", "failed"] as const) {
        yield* report({ status, at: own.start + hour, now: own.start + hour, reference: refused.messageId })
      }
      assert.deepStrictEqual(yield* lookUp(refused, own.start + hour), { _tag: "Answered", answer: end.answer })
      assert.deepStrictEqual(yield* used, [[month, 1]])

      const waiting = (yield* claimed(own)).command
      yield* settle(waiting, yield* MessageFixture.notSentOutcome)
      yield* store.sweep(own.start + day)
      assert.strictEqual((yield* messageOf(waiting)).error?.reason, "not_sent")
      assert.deepStrictEqual(yield* used, [[month, 1]])
      // the keys are deleted by then
      const later = own.start + 20 * day
      yield* store.sweep(later)
      for (const { messageId } of [refused, waiting]) {
        yield* report({ status: "sent", at: later, reference: messageId })
        yield* report({ status: "failed", at: later, reference: messageId })
        yield* report({ status: "delivered", at: later, reference: messageId })
      }
      assert.deepStrictEqual(yield* used, [[month, 2]])
      assert.deepStrictEqual([(yield* messageOf(refused)).status, (yield* messageOf(waiting)).status], [
        "read",
        "delivered"
      ])
    }))

  it.effect("a refusal after a report that the message arrived changes nothing, and gives no quota back", () =>
    Effect.gen(function*() {
      const usage = yield* UsageStore.UsageStore
      const own = yield* world()
      const { command } = yield* claimed(own)
      yield* report({ status: "delivered", at: own.start, reference: command.messageId })
      const before = yield* messageOf(command)
      assert.isTrue(yield* settle(command, yield* MessageFixture.refusedOutcome(own.start)))
      assert.deepStrictEqual(yield* messageOf(command), before)
      assert.deepStrictEqual(yield* usage.months(own.workspace.id), [{ month: Quota.monthOf(own.start), used: 1 }])
    }))

  it.effect("a report settles an unknown outcome, and the key has an answer from then on, for 24 hours", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const command = yield* unknown(own)
      const { providerMessageId } = yield* MessageFixture.acceptedOutcome
      const at = own.start + 5 * minute
      yield* report({ status: "sent", at, reference: command.messageId, providerMessageId })
      const answered = {
        _tag: "Answered",
        answer: {
          _tag: "Sent",
          messageId: command.messageId,
          providerMessageId,
          workspaceId: own.workspace.id,
          apiKeyId: own.key.id
        }
      } as const
      assert.deepStrictEqual(yield* lookUp(command, at), answered)
      const { accepted } = yield* MessageFixture.accept(own, { key: command.request.key, now: at })
      assert.strictEqual(accepted._tag, "Answered")
      assert.deepStrictEqual(yield* lookUp(command, at + day - 1), answered)
      assert.deepStrictEqual(yield* lookUp(command, at + day), { _tag: "Unbound" })
    }))

  it.effect("a report of failure settles an unknown outcome too, because the provider had accepted it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const command = yield* unknown(own)
      const { providerMessageId } = yield* MessageFixture.acceptedOutcome
      yield* report({ status: "failed", at: own.start + 1, reference: command.messageId, providerMessageId })
      const verdict = yield* lookUp(command, own.start + 1)
      if (verdict._tag !== "Answered") return assert.fail(`not answered but ${verdict._tag}`)
      assert.strictEqual(verdict.answer._tag, "Sent")
      assert.strictEqual((yield* messageOf(command)).status, "failed")
    }))

  it.effect("a report takes precedence over the provider's response, and an accepted send is not sent again", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* claimed(own)
      yield* settle(command, yield* MessageFixture.notSentOutcome)
      const { providerMessageId } = yield* MessageFixture.acceptedOutcome
      yield* report({ status: "sent", at: own.start + 1, reference: command.messageId, providerMessageId })
      const { accepted } = yield* MessageFixture.accept(own, { key: command.request.key, now: own.start + 2 })
      assert.strictEqual(accepted._tag, "Answered")
    }))

  it.effect("a report without the provider's id settles the key, with our id in its place", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const released = yield* claimed(own)
      yield* settle(released.command, yield* MessageFixture.notSentOutcome)
      for (const command of [yield* unknown(own), released.command]) {
        assert.isTrue(yield* report({ status: "delivered", at: own.start + 1, reference: command.messageId }))
        assert.strictEqual((yield* messageOf(command)).status, "delivered")
        const { accepted } = yield* MessageFixture.accept(own, { key: command.request.key, now: own.start + 2 })
        assert.deepInclude(accepted, {
          _tag: "Answered",
          answer: SendBinding.sent(yield* messageOf(command), command.messageId)
        })
      }
    }))

  it.effect("delivery_unknown yields to a later report", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const command = yield* givenUp(own)
      assert.deepStrictEqual(yield* lookUp(command, own.start + 11 * minute), {
        _tag: "Unknown",
        reason: "delivery_unknown"
      })
      const { providerMessageId } = yield* MessageFixture.acceptedOutcome
      const at = own.start + hour
      yield* report({ status: "delivered", at, reference: command.messageId, providerMessageId })
      const message = yield* messageOf(command)
      assert.deepStrictEqual(
        [message.status, message.failedAt, message.error, message.sentAt, message.deliveredAt, message.sequence],
        ["delivered", null, null, at, at, 3]
      )
      const told = (yield* eventsOf(own)).map(({ data, sequence, type }) => [type.slice(8), sequence, data["corrects"]])
      assert.deepStrictEqual(told, [["failed", 1, undefined], ["sent", 2, "failed"], ["delivered", 3, "failed"]])
      assert.strictEqual((yield* lookUp(command, at))._tag, "Answered")
    }))

  it.effect("a later report of failure updates the reason without another event", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const command = yield* givenUp(own)
      const { providerMessageId } = yield* MessageFixture.acceptedOutcome
      const at = own.start + hour
      yield* report({ status: "failed", at, reference: command.messageId, providerMessageId })
      const message = yield* messageOf(command)
      assert.deepStrictEqual(
        [message.status, message.failedAt, message.error, message.sequence],
        ["failed", at, MessageFixture.refusedError, 1]
      )
      assert.deepStrictEqual(steps(yield* eventsOf(own)), [["failed", 1]])
      // from here on only a report that it arrived is better
      yield* report({ status: "sent", at: at + 1, reference: command.messageId })
      assert.strictEqual((yield* messageOf(command)).status, "failed")
      yield* report({ status: "delivered", at: at + 2, reference: command.messageId })
      assert.strictEqual((yield* messageOf(command)).status, "delivered")
      const told = (yield* eventsOf(own)).map(({ data, sequence, type }) => [type.slice(8), sequence, data["corrects"]])
      assert.deepStrictEqual(told, [["failed", 1, undefined], ["sent", 2, "failed"], ["delivered", 3, "failed"]])
    }))

  it.effect("racing reports record each step once, in order, without a gap", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { command } = yield* claimed(own)
      const { providerMessageId } = yield* MessageFixture.acceptedOutcome
      const statuses = ["read", "sent", "delivered"] as const
      yield* Effect.forEach(
        Array.from({ length: 30 }, (_, i) => i),
        (i) =>
          report({
            status: statuses[i % 3]!,
            at: own.start + i,
            now: own.start + 30,
            reference: i % 2 === 0 ? command.messageId : null,
            providerMessageId
          }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(steps(yield* eventsOf(own)), [["sent", 1], ["delivered", 2], ["read", 3]])
      const message = yield* messageOf(command)
      assert.deepStrictEqual([message.status, message.sequence], ["read", 3])
      assert.strictEqual((yield* DeliveryFixture.views(own)).length, 3)
    }))

  it.effect("a report that races with settle counts, and each step is recorded once", () =>
    Effect.gen(function*() {
      const own = yield* world()
      for (let round = 0; round < 10; round++) {
        const { command } = yield* claimed(own)
        const end = yield* MessageFixture.acceptedOutcome
        const { providerMessageId } = end
        const [settled] = yield* Effect.all([
          settle(command, end),
          report({ status: "delivered", at: own.start, reference: command.messageId, providerMessageId })
        ], { concurrency: "unbounded" })
        assert.isTrue(settled)
        const message = yield* messageOf(command)
        assert.deepStrictEqual(
          [message.status, message.sequence, message.providerMessageId],
          ["delivered", 2, providerMessageId]
        )
      }
      const all = yield* eventsOf(own)
      assert.strictEqual(all.length, 20)
      assert.strictEqual(all.filter(({ type }) => type === "message.sent").length, 10)
    }))
}
