/**
 * Conformance of `MessageStore.accept`: how it claims a send, and what the decision uses. Refusals have a suite of
 * their own.
 */
import { assert } from "@effect/vitest"
import { ApiKeyStore, Limits, type Message, MessageStore, TemplateStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { day, hour, world } = Fixture
const { accept, customer, describe, firstReadings, inbound, template, text } = MessageFixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a send that may be carried out is claimed, and its message is stored as sending", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const templates = yield* TemplateStore.TemplateStore
      const own = yield* world()
      const message = template({ name: "order", bodyParams: ["№ 7", "“ready” \u{1F4E6}"], clientReference: "ref" })
      const { accepted, command } = yield* MessageFixture.claimed(own, { message, limits: Limits.standard })
      const expected: Message.Message = {
        id: command.messageId,
        workspaceId: own.workspace.id,
        apiKeyId: own.key.id,
        campaignId: null,
        variant: null,
        phoneNumberId: own.number.id,
        from: own.number.phoneNumber,
        content: message,
        status: "sending",
        statusAt: own.start,
        providerMessageId: null,
        createdAt: own.start,
        sendAt: null,
        sentAt: null,
        deliveredAt: null,
        readAt: null,
        failedAt: null,
        error: null,
        pricing: null,
        playedAt: null,
        isHeld: false,
        sequence: 0
      }
      assert.deepStrictEqual(accepted.message, expected)
      assert.deepStrictEqual(accepted.sender, own.number)
      assert.strictEqual(accepted.contact, undefined)
      const { items } = yield* templates.list(own.workspace.id, { name: "order" }, { limit: 1, after: null })
      assert.deepStrictEqual(accepted.template, items[0]!)
      assert.deepStrictEqual(accepted.readings, firstReadings)
      assert.deepStrictEqual(yield* messages.get(own.workspace.id, command.messageId), Option.some(expected))
      assert.deepStrictEqual(yield* messages.lookUp(command.request, own.start), { _tag: "Running" })
    }))

  it.effect("a text is claimed in an open window, with the contact", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { at: own.start - hour, now: own.start - hour })
      const message: Message.OutboundMessage = {
        type: "text",
        to: customer(1),
        text: { body: "a".repeat(4096), previewUrl: true },
        clientReference: "x"
      }
      const { accepted } = yield* MessageFixture.claimed(own, { message })
      assert.deepStrictEqual(accepted.message.content, message)
      assert.strictEqual(accepted.template, undefined)
      assert.deepStrictEqual(accepted.contact, {
        workspaceId: own.workspace.id,
        phoneNumberId: own.number.id,
        key: customer(1),
        customer: { phone: customer(1), userId: null },
        isUserFirst: false,
        knownSince: own.start - hour,
        lastInboundAt: own.start - hour,
        optedOut: false,
        preferenceAt: null
      })
    }))

  it.effect("a person's send is claimed, stored and replayed without an API key", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const { accepted, command } = yield* MessageFixture.claimed(own, { apiKeyId: null })
      assert.isNull(accepted.message.apiKeyId)
      const stored = yield* messages.get(own.workspace.id, command.messageId)
      assert.deepStrictEqual(Option.map(stored, ({ apiKeyId }) => apiKeyId), Option.some(null))
      const end = yield* MessageFixture.acceptedOutcome
      assert.isTrue(yield* MessageFixture.settle(command, end))
      const again = yield* messages.accept({ ...command, claimToken: yield* Fixture.word })
      assert.strictEqual(again._tag, "Answered")
      if (again._tag !== "Answered" || again.answer._tag !== "Sent") return assert.fail("it is not answered")
      assert.isNull(again.answer.apiKeyId)
    }))

  it.effect("a key is valid until the millisecond before it expires", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const key = yield* Fixture.issuedKey(own.workspace.id, own.start, { expiresAt: own.start + hour })
      yield* MessageFixture.claimed(own, { apiKeyId: key.id, now: own.start + hour - 1 })
      const { accepted } = yield* accept(own, { apiKeyId: key.id, now: own.start + hour })
      assert.strictEqual(describe(accepted), "unauthorized/expired_key")
    }))

  it.effect("a revoked key gets no replay, but another key of the workspace does", () =>
    Effect.gen(function*() {
      const keys = yield* ApiKeyStore.ApiKeyStore
      const own = yield* world()
      const { command } = yield* MessageFixture.sent(own)
      yield* keys.revoke(own.workspace.id, own.key.id, own.start)
      const again = { key: command.request.key }
      assert.strictEqual(describe((yield* accept(own, again)).accepted), "unauthorized/revoked_key")
      const other = yield* Fixture.issuedKey(own.workspace.id, own.start)
      const { accepted } = yield* accept(own, { ...again, apiKeyId: other.id })
      assert.strictEqual(accepted._tag, "Answered")
    }))

  it.effect("the service window is open for 24 hours from the customer's message, to the millisecond", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { at: own.start })
      const told = (now: number, message = text()) =>
        Effect.map(accept(own, { now, message }), ({ accepted }) => describe(accepted))
      assert.strictEqual(yield* told(own.start - 1), "forbidden/outside_service_window")
      assert.strictEqual(yield* told(own.start), "Claimed")
      assert.strictEqual(yield* told(own.start + day - 1), "Claimed")
      assert.strictEqual(yield* told(own.start + day), "forbidden/outside_service_window")
      assert.strictEqual(yield* told(own.start + day - 1, text(customer(2))), "forbidden/outside_service_window")
      // our own sends do not extend it; the customer's messages do
      yield* inbound(own, { at: own.start + day })
      assert.strictEqual(yield* told(own.start + 2 * day - 1), "Claimed")
    }))

  it.effect("an opted-out customer still gets templates that are not marketing, and everything after opting in", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { at: own.start - 1, preference: "opt_out" })
      const told = (message: Message.OutboundMessage) =>
        Effect.map(accept(own, { message }), ({ accepted }) => describe(accepted))
      const promo = template({ name: "promo", bodyParams: ["shoes"] })
      assert.strictEqual(yield* told(template()), "Claimed")
      assert.strictEqual(yield* told(promo), "forbidden/opted_out")
      assert.strictEqual(yield* told(template({ name: "promo", bodyParams: ["a"], to: customer(2) })), "Claimed")
      yield* inbound(own, { preference: "opt_in" })
      assert.strictEqual(yield* told(promo), "Claimed")
      assert.strictEqual(yield* told(text()), "Claimed")
    }))

  it.effect("the sender is chosen by id or by number, or is the default number", () =>
    Effect.gen(function*() {
      const own = yield* world()
      for (const from of [own.number.id, own.number.phoneNumber]) {
        const { accepted } = yield* MessageFixture.claimed(own, { message: template({ from }) })
        assert.deepStrictEqual(accepted.sender, own.number)
        assert.strictEqual(accepted.message.from, own.number.phoneNumber)
        assert.strictEqual(accepted.message.content.from, from)
      }
      const { accepted } = yield* MessageFixture.claimed(own)
      assert.deepStrictEqual(accepted.sender, own.number)
      assert.isFalse("from" in accepted.message.content)
    }))

  it.effect("a message is found in its own workspace only", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const other = yield* world({ start: own.start })
      const { command } = yield* MessageFixture.claimed(own)
      assert.deepStrictEqual(yield* messages.get(other.workspace.id, command.messageId), Option.none())
      assert.deepStrictEqual(yield* messages.get(own.workspace.id, yield* Fixture.id("msg")), Option.none())
      const foreign = { ...command.request, workspaceId: other.workspace.id }
      assert.deepStrictEqual(yield* messages.lookUp(foreign, own.start), { _tag: "Unbound" })
    }))
}
