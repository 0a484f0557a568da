/**
 * Conformance of `MessageStore`: *accept* uses the sender's current state, as set by the operator and as reported by
 * the provider.
 */
import { assert } from "@effect/vitest"
import { type ApiKey, type Id, Limits, type Message, MessageStore, PhoneNumberStore, SenderBlock } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as PhoneNumberFixture from "../numbers/PhoneNumberFixture.ts"
import * as QueueFixture from "../queue/QueueFixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { hour, minute, world } = Fixture
const { detail, further, list, numberOf, observe, use } = PhoneNumberFixture

const reasons = SenderBlock.SenderBlockReason.literals

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("settings are in force from the next accept", () =>
    Effect.gen(function*() {
      const store = yield* PhoneNumberStore.PhoneNumberStore
      const own = yield* world()
      const accept = Effect.map(MessageFixture.accept(own), ({ accepted }) => MessageFixture.describe(accepted))
      yield* store.configure(own.number.id, { available: false })
      assert.strictEqual(yield* accept, "forbidden/sender_not_available")
      yield* store.configure(own.number.id, { available: true })
      assert.strictEqual(yield* accept, "Claimed")
      yield* store.configure(own.number.id, { messagingLimit: 0 })
      assert.strictEqual(yield* accept, "Claimed")
      assert.strictEqual(
        MessageFixture.describe(
          (yield* MessageFixture.accept(own, { message: MessageFixture.template({ to: MessageFixture.customer(2) }) }))
            .accepted
        ),
        "forbidden/messaging_limit_reached"
      )
    }))

  it.effect("a retry after another number became the default is a message of that number, to which its reports come", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const messages = yield* MessageStore.MessageStore
      const key = yield* Fixture.word
      const first = yield* MessageFixture.claimed(own, { key })
      assert.strictEqual(first.command.claimed.phoneNumberId, own.number.id)
      yield* MessageFixture.settle(first.command, yield* MessageFixture.notSentOutcome)
      const second = yield* further(own, { providerAccountId: own.number.providerAccountId, isDefault: true })
      assert.isTrue(yield* use((store) => store.add(second)))
      const now = own.start + minute
      const { accepted, command } = yield* MessageFixture.claimed(own, { key, now })
      assert.strictEqual(accepted.sender.id, second.id)
      yield* MessageFixture.settle(command, yield* MessageFixture.acceptedOutcome)
      const reported = yield* messages.applyReport({
        now,
        providerNumberId: second.providerNumberId,
        reference: command.messageId,
        report: { status: "delivered", at: now, providerMessageId: null, error: null },
        ids: yield* Fixture.eventIds
      })
      assert.isDefined(reported)
      const message = Option.getOrThrow(yield* messages.get(own.workspace.id, first.command.messageId))
      assert.deepStrictEqual(
        [message.status, message.phoneNumberId, message.from],
        ["delivered", second.id, second.phoneNumber]
      )
    }))

  it.effect("accept refuses every number but those that the API key is bound to", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const second = yield* further(own, { providerAccountId: own.number.providerAccountId })
      assert.isTrue(yield* use((store) => store.add(second)))
      const told = (key: ApiKey.ApiKey, from?: string) =>
        Effect.map(
          MessageFixture.accept({ ...own, key }, {
            message: MessageFixture.template(from === undefined ? {} : { from })
          }),
          ({ accepted }) =>
            accepted._tag === "Refused"
              ? [MessageFixture.describe(accepted), accepted.error.param]
              : [MessageFixture.describe(accepted), accepted._tag === "Claimed" ? accepted.sender.id : undefined]
        )
      const boundTo = (...phoneNumberIds: ReadonlyArray<Id.PhoneNumberId>) =>
        Fixture.issuedKey(own.workspace.id, own.start, { phoneNumberIds })
      const refused = ["forbidden/sender_not_available", "from"]
      const toDefault = yield* boundTo(own.number.id)
      const toSecond = yield* boundTo(second.id)
      const toBoth = yield* boundTo(own.number.id, second.id)
      for (const from of [second.id, second.phoneNumber]) {
        assert.deepStrictEqual(yield* told(toDefault, from), refused)
        assert.deepStrictEqual(yield* told(toSecond, from), ["Claimed", second.id])
        assert.deepStrictEqual(yield* told(toBoth, from), ["Claimed", second.id])
      }
      for (const from of [undefined, own.number.id, own.number.phoneNumber]) {
        assert.deepStrictEqual(yield* told(toDefault, from), ["Claimed", own.number.id])
        assert.deepStrictEqual(yield* told(toSecond, from), refused)
        assert.deepStrictEqual(yield* told(toBoth, from), ["Claimed", own.number.id])
      }
    }))

  it.effect("accept refuses a number of a provider that does not run, before any other check of the number", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const whatsapp = yield* further(own, { provider: "whatsapp", available: false })
      assert.isTrue(yield* use((store) => store.add(whatsapp)))
      const told = (provider: string, from?: string) =>
        Effect.map(
          MessageFixture.accept(own, {
            provider,
            message: MessageFixture.template(from === undefined ? {} : { from })
          }),
          ({ accepted }) =>
            accepted._tag === "Refused"
              ? [MessageFixture.describe(accepted), accepted.error.param, accepted.error.message]
              : [MessageFixture.describe(accepted)]
        )
      const refused = "forbidden/sender_not_available"
      const foreign = (provider: string, running: string) =>
        `this phone number belongs to the provider ${provider}, but this service runs with ${running}`
      assert.deepStrictEqual(yield* told("sandbox"), ["Claimed"])
      for (const from of [whatsapp.id, whatsapp.phoneNumber]) {
        assert.deepStrictEqual(yield* told("sandbox", from), [refused, "from", foreign("whatsapp", "sandbox")])
      }
      for (const from of [own.number.id, own.number.phoneNumber]) {
        assert.deepStrictEqual(yield* told("whatsapp", from), [refused, "from", foreign("sandbox", "whatsapp")])
      }
      assert.deepStrictEqual(yield* told("whatsapp"), [
        refused,
        undefined,
        "the operator has switched this phone number off"
      ])
      assert.deepStrictEqual(yield* told("another"), [
        refused,
        undefined,
        "the workspace has no such phone number to send from"
      ])
    }))

  it.effect("concurrent sends, reports, credential changes and new numbers all succeed", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { id, providerAccountId }, start } = own
      const others = yield* Effect.replicateEffect(further(own, { providerAccountId }), 4)
      yield* Effect.forEach(Array.from({ length: 40 }, (_, i) => i), (i): Fixture.Step<unknown> => {
        switch (i % 4) {
          case 0:
            return observe({ providerAccountId }, start + i, { quality: `${i}`, messagingLimit: 1000 + i })
          case 1:
            return use((store) =>
              store.setCredentials({
                now: start,
                id,
                credentials: { version: `${i}`, accessToken: Fixture.sealed(i), baseUrl: null, apiVersion: null }
              })
            )
          case 2:
            return i < 16 ? use((store) => store.add(others[i >> 2]!)) : list(own)
          default:
            return MessageFixture.claimed(own, { message: MessageFixture.template({ to: MessageFixture.customer(i) }) })
        }
      }, { concurrency: "unbounded", discard: true })
      const listed = yield* list(own)
      assert.strictEqual(listed.length, 5)
      assert.deepStrictEqual(listed[0]!.learned, { tier: null, messagingLimit: 1036, quality: "36" })
    }))

  it.effect("accept refuses a blocked number until the block ends or is lifted", () =>
    Effect.gen(function*() {
      for (const reason of reasons) {
        const own = yield* world()
        const { number: { id, providerNumberId }, start } = own
        const told = (now: number, from?: string) =>
          Effect.map(
            MessageFixture.accept(own, { now, message: MessageFixture.template(from === undefined ? {} : { from }) }),
            ({ accepted }) =>
              accepted._tag === "Refused"
                ? [MessageFixture.describe(accepted), accepted.error.param, accepted.error.provider]
                : [MessageFixture.describe(accepted)]
          )
        const until = start + hour
        const error = reason === "credentials" ? "server_error/provider_error" : "forbidden/sender_not_available"
        const param = reason === "credentials" ? undefined : "from"
        yield* observe({ providerNumberId }, start, {
          block: { reason, scope: "all", basis: "report", since: start, until, provider: detail }
        })
        assert.deepStrictEqual(yield* told(start), [error, undefined, detail])
        assert.deepStrictEqual(yield* told(until - 1, id), [error, param, detail])
        assert.deepStrictEqual(yield* told(until), ["Claimed"])
        yield* observe({ providerNumberId }, start, {
          block: { reason, scope: "all", basis: "report", since: start, until: null, provider: null }
        })
        const later = start + 20 * Fixture.day
        assert.deepStrictEqual(yield* told(later), [error, undefined, undefined])
        yield* observe({ providerNumberId }, later, { block: null })
        assert.deepStrictEqual(yield* told(later), ["Claimed"])
      }
    }))

  it.effect("accept returns the end of a block to a queue whose message it refuses, and only then", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { id, providerNumberId }, start } = own
      const now = start + 1
      const { command: { request }, message } = yield* QueueFixture.queued(own, { later: { sendAt: now } })
      const refusal = Effect.map(
        QueueFixture.accept(own, { message, request }, now),
        ({ accepted }) =>
          accepted._tag === "Refused"
            ? [MessageFixture.describe(accepted), accepted.blockedUntil]
            : assert.fail(`expected a refusal, got ${MessageFixture.describe(accepted)}`)
      )
      const error = "forbidden/sender_not_available"
      const block = SenderBlock.of("quality", now, detail)
      yield* observe({ providerNumberId }, now, { block })
      assert.deepStrictEqual(yield* refusal, [error, block.until!])
      const { accepted } = yield* MessageFixture.accept(own, { now })
      assert.notProperty(accepted, "blockedUntil")
      yield* use((store) => store.configure(id, { available: false }))
      assert.deepStrictEqual(yield* refusal, [error, undefined])
      yield* use((store) => store.configure(id, { available: true }))
      yield* observe({ providerNumberId }, now, { block: { ...block, until: null } })
      assert.deepStrictEqual(yield* refusal, [error, undefined])
    }))

  it.effect("a block outside windows only lets messages in a window pass", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { providerNumberId }, start } = own
      const block = { ...SenderBlock.of("restricted", start, detail), scope: "outside_window" } as const
      yield* observe({ providerNumberId }, start, { block })
      assert.deepStrictEqual((yield* numberOf(own)).block, block)
      const told = (message: Message.OutboundMessage, now: number) =>
        Effect.map(MessageFixture.accept(own, { now, message }), ({ accepted }) => MessageFixture.describe(accepted))
      yield* MessageFixture.inbound(own, {
        customer: MessageFixture.customer(1),
        at: start - 24 * hour + minute,
        now: start
      })
      const [heard, strange] = [1, 2].map((n) => MessageFixture.template({ to: MessageFixture.customer(n) }))
      assert.strictEqual(yield* told(heard!, start), "Claimed")
      assert.strictEqual(yield* told(strange!, start), "forbidden/sender_not_available")
      assert.strictEqual(yield* told(heard!, start + minute), "forbidden/sender_not_available")
      assert.strictEqual(yield* told(strange!, block.until!), "Claimed")
    }))

  it.effect("accept returns the sender's current state, with a block that has ended", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number, start } = own
      const block = {
        reason: "payment",
        scope: "all",
        basis: "report",
        since: start - hour,
        until: start - minute,
        provider: detail
      } as const
      yield* observe({ providerNumberId: number.providerNumberId }, start - hour, { block, quality: "red" })
      const { accepted } = yield* MessageFixture.claimed(own)
      const sender = { ...number, block, learned: { ...number.learned, quality: "red" } }
      assert.deepStrictEqual(accepted.sender, sender)
    }))

  it.effect("accept uses the reported tier, unless the operator set one", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { id, providerNumberId }, start } = own
      const policy = Effect.map(
        MessageFixture.claimed(own, { limits: Limits.standard }),
        ({ accepted }) => accepted.readings[1]!.policy
      )
      const standard = yield* policy
      yield* observe({ providerNumberId }, start, { tier: "high" })
      assert.deepStrictEqual(yield* policy, { name: "phone_number", interval: 1, capacity: 2000 })
      yield* use((store) => store.configure(id, { tier: "coexistence" }))
      assert.deepStrictEqual(yield* policy, { name: "phone_number", interval: 50, capacity: 40 })
      yield* use((store) => store.configure(id, { tier: null }))
      yield* observe({ providerNumberId }, start, { tier: "of another name" })
      assert.deepStrictEqual(yield* policy, standard)
    }))

  it.effect("accept uses the reported messaging limit, unless the operator set one", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { id, providerNumberId }, start } = own
      let customers = 0
      const limits = { ...Fixture.roomy, defaults: { ...Fixture.roomy.defaults, messagingLimit: 4 } }
      /** How many further customers may be messaged. */
      const room = Effect.gen(function*() {
        for (let written = 0; written < 10; written++) {
          const message = MessageFixture.template({ to: MessageFixture.customer(++customers) })
          const { accepted } = yield* MessageFixture.accept(own, { message, limits })
          if (accepted._tag === "Claimed") continue
          assert.strictEqual(MessageFixture.describe(accepted), "forbidden/messaging_limit_reached")
          return written
        }
        return assert.fail("there is no limit")
      })
      yield* observe({ providerNumberId }, start, { messagingLimit: 2 })
      assert.strictEqual(yield* room, 2)
      yield* use((store) => store.configure(id, { messagingLimit: 3 }))
      assert.strictEqual(yield* room, 1)
      yield* use((store) => store.configure(id, { messagingLimit: null }))
      assert.strictEqual(yield* room, 0)
      // no limit, not the default one
      yield* observe({ providerNumberId }, start, { messagingLimit: null })
      for (let written = 0; written < 5; written++) {
        const message = MessageFixture.template({ to: MessageFixture.customer(++customers) })
        const { accepted } = yield* MessageFixture.accept(own, { message, limits })
        assert.strictEqual(MessageFixture.describe(accepted), "Claimed")
      }
      yield* observe({ providerNumberId }, start, { messagingLimit: 2 })
      assert.strictEqual(yield* room, 0)
    }))
}
