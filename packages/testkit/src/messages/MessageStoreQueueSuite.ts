/**
 * Conformance of `MessageStore` for messages that are sent later (contract §15): how they are queued, cancelled and
 * claimed.
 */
import { assert } from "@effect/vitest"
import { ApiKeyStore, Limits, type Message, MessageStore } from "@wac/core"
import { Effect, Option, Result } from "effect"
import * as Fixture from "../Fixture.ts"
import * as QueueFixture from "../queue/QueueFixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { day, hour, minute, world } = Fixture
const { accept, describe, template, text } = MessageFixture
const { cancel, claim, queued } = QueueFixture

/** The message of the command, if there is one. */
const found = ({ messageId, request }: MessageStore.AcceptSend) =>
  MessageStore.MessageStore.use((store) => store.get(request.workspaceId, messageId))

/** The refusal of a cancel. */
const reasonOf = (cancelled: Option.Option<Result.Result<Message.Message, { readonly reason: string }>>) =>
  Option.match(cancelled, {
    onNone: () => "none",
    onSome: (result) => Result.isFailure(result) ? result.failure.reason : result.success.status
  })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a message that came about long before it is queued is listed by the time when it came about", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const createdAt = own.start - 6 * hour
      const messageId = Fixture.idAt("msg", createdAt)
      const command = yield* MessageFixture.sendCommand(own, { later: { createdAt } })
      assert.strictEqual((yield* store.accept({ ...command, messageId }))._tag, "Queued")
      const message = Option.getOrThrow(yield* store.get(own.workspace.id, messageId))
      const found = [message.createdAt, message.statusAt, message.sendAt]
      assert.deepStrictEqual(found, [createdAt, own.start, own.start])
      const listed = (filter: MessageStore.MessageFilter) =>
        Effect.map(
          store.list(own.workspace.id, filter, { limit: 10, after: null }),
          ({ items }) => items.map(({ id }) => id)
        )
      assert.deepStrictEqual(yield* listed({ since: createdAt }), [messageId])
      assert.deepStrictEqual(yield* listed({ since: createdAt + 1 }), [])
    }))

  it.effect("a message to be sent later is stored as queued, and its key is answered so", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const sendAt = own.start + day
      const message = template({ clientReference: "ref" })
      const { accepted, command } = yield* accept(own, { message, later: { sendAt }, limits: Limits.standard })
      const answer = {
        _tag: "Queued" as const,
        messageId: command.messageId,
        workspaceId: own.workspace.id,
        apiKeyId: own.key.id,
        sendAt
      }
      assert.deepStrictEqual(accepted, { _tag: "Queued", answer, readings: MessageFixture.firstReadings.slice(0, 1) })
      assert.deepStrictEqual(yield* MessageFixture.messageOf(command), {
        id: command.messageId,
        workspaceId: own.workspace.id,
        apiKeyId: own.key.id,
        campaignId: null,
        variant: null,
        phoneNumberId: own.number.id,
        from: own.number.phoneNumber,
        content: { ...message, from: own.number.phoneNumber },
        status: "queued",
        statusAt: own.start,
        providerMessageId: null,
        createdAt: own.start,
        sendAt,
        sentAt: null,
        deliveredAt: null,
        readAt: null,
        failedAt: null,
        error: null,
        pricing: null,
        playedAt: null,
        isHeld: false,
        sequence: 0
      })
      const later = own.start + 40 * day
      assert.deepStrictEqual(yield* store.lookUp(command.request, later), { _tag: "Answered", answer })
      const other = { ...command.request, fingerprint: "other" }
      assert.deepStrictEqual(yield* store.lookUp(other, own.start), { _tag: "Conflict" })
      assert.deepStrictEqual(yield* MessageFixture.eventsOf(own), [])
    }))

  it.effect("the times of a queued message have bounds, and a refusal leaves nothing behind", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const at = own.start
      const answered = (later: Partial<MessageStore.Later>) =>
        Effect.gen(function*() {
          const { accepted, command } = yield* accept(own, { later })
          if (accepted._tag === "Queued") return accepted.answer.sendAt - at
          assert.isTrue(Option.isNone(yield* found(command)))
          assert.deepStrictEqual(yield* MessageFixture.lookUp(command), { _tag: "Unbound" })
          return accepted._tag === "Refused" && accepted.error._tag === "InvalidBody"
            ? accepted.error.param
            : describe(accepted)
        })
      assert.strictEqual(yield* answered({}), 0)
      assert.strictEqual(yield* answered({ sendAt: at - hour }), 0)
      assert.strictEqual(yield* answered({ sendAt: at + 90 * day }), 90 * day)
      assert.strictEqual(yield* answered({ sendAt: at + 90 * day + 1 }), "send_at")
      assert.strictEqual(yield* answered({ sendAt: at + hour, sendUntil: at + hour + 1 }), hour)
      assert.strictEqual(yield* answered({ sendAt: at + hour, sendUntil: at + hour }), "send_until")
      assert.strictEqual(yield* answered({ sendUntil: at }), "send_until")
      assert.strictEqual(yield* answered({ sendUntil: at + 90 * day + 1 }), "send_until")
    }))

  it.effect("what is known before its time refuses a message, and what may change does not", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const now = own.start
      const later = { sendAt: now + hour }
      const refused = (options: MessageFixture.SendOptions) =>
        Effect.map(
          accept(own, { later, ...options }),
          ({ accepted }) => accepted._tag === "Refused" ? accepted.error.reason : accepted._tag
        )
      assert.strictEqual(yield* refused({ message: template({ name: "unknown" }) }), "template_not_found")
      assert.strictEqual(yield* refused({ message: template({ name: "order" }) }), "template_params_mismatch")
      assert.strictEqual(yield* refused({ message: template({ from: "+14155559999" }) }), "sender_not_available")
      // no window is open
      assert.strictEqual(yield* refused({ message: text() }), "Queued")
      const none = { ...Fixture.roomy.defaults, monthlyQuota: 0, messagingLimit: 0 }
      assert.strictEqual(yield* refused({ limits: { ...Fixture.roomy, defaults: none } }), "Queued")
    }))

  it.effect("a request to send later spends the workspace's token, an item of a batch none, and neither the number's", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const limits: Limits.Limits = {
        ...Limits.standard,
        workspaceTiers: { standard: 0.001 },
        phoneNumberTiers: { standard: 0.001 }
      }
      const later = { sendAt: own.start + hour }
      const taken = (options: MessageFixture.SendOptions) =>
        Effect.map(accept(own, { limits, ...options }), ({ accepted }) => accepted._tag)
      for (const _ of [1, 2, 3]) assert.strictEqual(yield* taken({ later: { ...later, isInBatch: true } }), "Queued")
      assert.strictEqual(yield* taken({ later }), "Queued")
      assert.strictEqual(yield* taken({ later }), "Refused")
      assert.strictEqual(yield* taken({ later: { ...later, isInBatch: true } }), "Queued")
    }))

  it.effect("a key answers as it did first, whether or not a request asks to send later", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command: sent } = yield* MessageFixture.sent(own, { key: "now" })
      const { accepted: again } = yield* accept(own, { key: "now", later: {} })
      assert.deepInclude(again, { _tag: "Answered" })
      assert.strictEqual(again._tag === "Answered" && again.answer._tag, "Sent")
      assert.strictEqual((yield* MessageFixture.messageOf(sent)).status, "sent")

      const { command } = yield* queued(own, { key: "later", later: {} })
      const { accepted } = yield* accept(own, { key: "later" })
      assert.strictEqual(accepted._tag === "Answered" && accepted.answer._tag, "Queued")
      assert.strictEqual((yield* MessageFixture.messageOf(command)).status, "queued")
    }))

  it.effect("of equal concurrent requests to send later one queues the message, and the others get its answer", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const all = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => accept(own, { key: "same", later: { isInBatch: true } }),
        { concurrency: "unbounded" }
      )
      const ids = new Set(
        all.map(({ accepted }) =>
          accepted._tag === "Queued" || (accepted._tag === "Answered" && accepted.answer._tag === "Queued")
            ? (accepted.answer as { readonly messageId: string }).messageId
            : describe(accepted)
        )
      )
      assert.strictEqual(ids.size, 1)
      assert.lengthOf(all.filter(({ accepted }) => accepted._tag === "Queued"), 1)
    }))

  it.effect("a workspace may have as many queued messages as its limit, those of others not counted", () =>
    Effect.gen(function*() {
      const [own, other] = [yield* world(), yield* world()]
      const limits = { ...Fixture.roomy, defaults: { ...Fixture.roomy.defaults, queuedMessages: 2 } }
      const later = { sendAt: own.start + hour }
      yield* queued(other, { limits, later: { sendAt: other.start + hour } })
      const first = yield* queued(own, { limits, later })
      const together = yield* Effect.forEach([1, 2, 3], () => accept(own, { limits, later }), {
        concurrency: "unbounded"
      })
      assert.sameMembers(together.map(({ accepted }) => accepted._tag), ["Queued", "Refused", "Refused"])
      const { accepted: full } = yield* accept(own, { limits, later })
      assert.strictEqual(full._tag === "Refused" && full.error.reason, "quota_exhausted")
      // requests to send at once are not queued
      assert.strictEqual((yield* accept(own, { limits })).accepted._tag, "Claimed")
      yield* cancel(first, own.start)
      yield* queued(own, { limits, later })
      assert.strictEqual((yield* accept(own, { limits, later })).accepted._tag, "Refused")
    }))

  it.effect("a queued message is cancelled for good, as often as it is asked, and its key answers as before", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const [own, other] = [yield* world(), yield* world()]
      const one = yield* queued(own)
      const at = own.start + 1
      const asked = { now: at, messageId: one.message.id, boundTo: null, enqueued: MessageFixture.enqueued }
      assert.isTrue(Option.isNone(yield* store.cancel({ ...asked, workspaceId: other.workspace.id })))
      // by a key that may not send from its number
      const bound = { ...asked, workspaceId: own.workspace.id, boundTo: [other.number.id] }
      assert.strictEqual(reasonOf(yield* store.cancel(bound)), "sender_not_available")
      assert.strictEqual((yield* MessageFixture.messageOf(one.command)).status, "queued")
      const expected: Message.Message = { ...one.message, status: "cancelled", statusAt: at }
      assert.deepStrictEqual(yield* cancel(one, at), Option.some(Result.succeed(expected)))
      assert.deepStrictEqual(yield* cancel(one, at + hour), Option.some(Result.succeed(expected)))
      assert.deepStrictEqual(yield* MessageFixture.messageOf(one.command), expected)
      const { accepted } = yield* QueueFixture.accept(
        own,
        { message: one.message, request: one.command.request },
        at + hour
      )
      assert.strictEqual(accepted._tag, "Unknown")
      assert.deepInclude(yield* store.lookUp(one.command.request, at), { _tag: "Answered" })
      assert.deepInclude(yield* store.lookUp(one.command.request, at + day - 1), { _tag: "Answered" })
      assert.deepStrictEqual(yield* store.lookUp(one.command.request, at + day), { _tag: "Unbound" })
      assert.deepStrictEqual(yield* MessageFixture.eventsOf(own), [])
      assert.deepStrictEqual(yield* QueueFixture.due(own, own.start + hour), [])
    }))

  it.effect("a message that is being sent, was sent or failed is not cancelled", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const at = own.start + minute
      const reasons = Effect.fnUntraced(function*(
        end: (command: MessageFixture.ClaimedCommand) => Fixture.Step<unknown>
      ) {
        const one = yield* queued(own)
        const { command } = yield* claim(own, { message: one.message, request: one.command.request }, at)
        const sending = reasonOf(yield* cancel(one, at))
        yield* end(command)
        return [sending, reasonOf(yield* cancel(one, at))]
      })
      assert.deepStrictEqual(
        yield* reasons((command) =>
          Effect.flatMap(MessageFixture.acceptedOutcome, (end) => MessageFixture.settle(command, end, at))
        ),
        ["already_sent", "already_sent"]
      )
      assert.deepStrictEqual(
        yield* reasons((command) =>
          Effect.flatMap(MessageFixture.notSentOutcome, (end) => MessageFixture.settle(command, end, at))
        ),
        ["already_sent", "already_sent"]
      )
      assert.deepStrictEqual(
        yield* reasons((command) =>
          Effect.flatMap(MessageFixture.refusedOutcome(at), (end) => MessageFixture.settle(command, end, at))
        ),
        ["already_sent", "not_queued"]
      )
      const { command } = yield* MessageFixture.sent(own, { now: at })
      assert.strictEqual(reasonOf(yield* cancel({ message: command.claimed }, at)), "already_sent")
    }))

  it.effect("of a claim and a cancel at once exactly one succeeds", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const at = own.start + minute
      const all = yield* Effect.forEach(Array.from({ length: 20 }), () => queued(own))
      const outcomes = yield* Effect.forEach(all, ({ command: { request }, message }, i) => {
        const claims = Effect.map(
          QueueFixture.accept(own, { message, request }, at),
          ({ accepted }) => accepted._tag === "Claimed"
        )
        const cancels = Effect.map(cancel({ message }, at), (cancelled) => reasonOf(cancelled) === "cancelled")
        const both = i % 2 === 0 ? [claims, cancels] as const : [cancels, claims] as const
        return Effect.all(both, { concurrency: "unbounded" })
      }, { concurrency: "unbounded" })
      for (const [first, second] of outcomes) assert.notStrictEqual(first, second)
    }))

  it.effect("the queue claims a message for its caller from its time on, spending no token of the workspace", () =>
    Effect.gen(function*() {
      const keys = yield* ApiKeyStore.ApiKeyStore
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const one = yield* queued(own)
      yield* keys.revoke(own.workspace.id, own.key.id, own.start)
      const given = { message: one.message, request: one.command.request }
      const at = own.start + minute
      const { accepted: early } = yield* QueueFixture.accept(own, given, at - 1)
      assert.strictEqual(early._tag, "Running")
      const { accepted, command } = yield* claim(own, given, at)
      assert.deepStrictEqual(accepted.message, { ...one.message, status: "sending", statusAt: at })
      assert.deepStrictEqual(accepted.readings.map(({ policy: { name } }) => name), ["phone_number", "pair"])
      // a try that sent nothing is repeated, without an end of its own
      assert.isTrue(yield* MessageFixture.settle(command, yield* MessageFixture.notSentOutcome, at))
      yield* store.sweep(at + 30 * day)
      assert.strictEqual((yield* MessageFixture.messageOf(command)).status, "sending")
      const { command: again } = yield* claim(own, given, at + hour)
      assert.isTrue(yield* MessageFixture.settle(again, yield* MessageFixture.acceptedOutcome, at + hour))
      assert.strictEqual((yield* MessageFixture.messageOf(command)).status, "sent")
      assert.deepStrictEqual((yield* MessageFixture.eventsOf(own)).map(({ type }) => type), ["message.sent"])
      const answer = yield* store.lookUp(one.command.request, at + hour)
      assert.strictEqual(answer._tag === "Answered" && answer.answer._tag, "Queued")
      const { accepted: ended } = yield* QueueFixture.accept(own, given, at + 2 * hour)
      assert.strictEqual(ended._tag, "Answered")
      assert.deepStrictEqual(yield* store.lookUp(one.command.request, at + hour + day), { _tag: "Unbound" })
    }))

  it.effect("a refusal by the provider fails a queued message, and its key answers as before", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const at = own.start + minute
      const one = yield* queued(own)
      const { command } = yield* claim(own, { message: one.message, request: one.command.request }, at)
      assert.isTrue(yield* MessageFixture.settle(command, yield* MessageFixture.refusedOutcome(at), at))
      assert.deepInclude(yield* MessageFixture.messageOf(command), { status: "failed", failedAt: at })
      assert.deepStrictEqual((yield* MessageFixture.eventsOf(own)).map(({ type }) => type), ["message.failed"])
      const answer = yield* store.lookUp(one.command.request, at)
      assert.strictEqual(answer._tag === "Answered" && answer.answer._tag, "Queued")
      assert.deepStrictEqual(yield* QueueFixture.due(own, at + hour), [])
    }))
}
