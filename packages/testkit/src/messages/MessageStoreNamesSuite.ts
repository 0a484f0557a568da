/**
 * Conformance of `MessageStore.accept`: a customer is the same by phone number and by user id.
 */
import { assert } from "@effect/vitest"
import { type Contact, ContactStore, type Limits, MessageStore, PhoneNumberStore, TemplateStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { day, hour, minute, world } = Fixture
const { accept, claimed, customer, describe, eventsOf, inbound, template, text } = MessageFixture

const userId = "US.13491208655302741918"
const phone = customer(1)
const byUser: Contact.Customer = { phone: null, userId }
const byBoth: Contact.Customer = { phone, userId }

const told = (own: Fixture.World, options: MessageFixture.SendOptions) =>
  Effect.map(accept(own, options), ({ accepted }) => describe(accepted))

/** Reports both names of the customer without opening a window. */
const link = (own: Fixture.World, number = own.number) =>
  ContactStore.ContactStore.use((store) =>
    store.setPreference({
      now: own.start,
      providerNumberId: number.providerNumberId,
      hashes: MessageFixture.hashesOf(byBoth),
      customer: byBoth,
      preference: "opt_in",
      at: own.start
    })
  )

/** A further number of a world's workspace, which shares the messaging limit. */
const beside = (own: Fixture.World) =>
  Effect.tap(
    Fixture.phoneNumber(own.workspace.id, { providerAccountId: own.number.providerAccountId, isDefault: false }),
    (number) => PhoneNumberStore.PhoneNumberStore.use((store) => store.add(number))
  )

const limited = (messagingLimit: number): Limits.Limits => ({
  ...Fixture.roomy,
  defaults: { ...Fixture.roomy.defaults, messagingLimit }
})

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a customer who is known by user id only can be answered by it within the window, and by no number", () =>
    Effect.gen(function*() {
      const own = yield* world()
      assert.strictEqual(yield* told(own, { message: text(userId) }), "forbidden/outside_service_window")
      yield* inbound(own, { customer: byUser, at: own.start - hour, now: own.start })
      const { accepted, command } = yield* claimed(own, { message: text(userId) })
      assert.deepStrictEqual([accepted.message.content.to, accepted.contact?.key], [userId, userId])
      assert.deepStrictEqual((yield* MessageFixture.messageOf(command)).content, text(userId))
      assert.strictEqual(yield* told(own, { message: text(phone) }), "forbidden/outside_service_window")
    }))

  it.effect.each([[byUser, phone], [MessageFixture.customerOf(phone), userId]] as const)(
    "a window that was opened under one name is open for the other once both are known: %j",
    ([writer, other]) =>
      Effect.gen(function*() {
        const own = yield* world()
        yield* inbound(own, { customer: writer, at: own.start - hour, now: own.start })
        assert.strictEqual(yield* told(own, { message: text(other) }), "forbidden/outside_service_window")
        yield* link(own)
        for (const to of [phone, userId]) {
          const { accepted } = yield* claimed(own, { message: text(to) })
          assert.deepStrictEqual(accepted.contact?.customer, byBoth)
        }
      })
  )

  it.effect("an opt-out under either name counts for both", () =>
    Effect.gen(function*() {
      for (const writer of [byUser, MessageFixture.customerOf(phone)]) {
        const own = yield* world()
        yield* inbound(own, { customer: byBoth, at: own.start - hour, now: own.start })
        yield* inbound(own, { customer: writer, at: own.start - minute, now: own.start, preference: "opt_out" })
        for (const to of [phone, userId]) {
          assert.strictEqual(yield* told(own, { message: text(to) }), "forbidden/opted_out")
        }
      }
    }))

  it.effect("sends to both names share the pair limit, even what was spent before both were known", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const limits = { ...Fixture.roomy, pair: { everySeconds: 60, burst: 3 } }
      const sending = (to: string) => told(own, { message: template({ to }), limits })
      assert.strictEqual(yield* sending(userId), "Claimed")
      assert.strictEqual(yield* sending(userId), "Claimed")
      yield* link(own)
      assert.strictEqual(yield* sending(phone), "Claimed")
      assert.strictEqual(yield* sending(userId), "rate_limited/pair")
      assert.strictEqual(yield* sending(phone), "rate_limited/pair")
      assert.strictEqual(yield* sending(customer(2)), "Claimed")
    }))

  it.effect("an abandoned send returns its token to the customer, whichever name it had", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const limits = { ...Fixture.roomy, pair: { everySeconds: 60, burst: 1 }, defaults: limited(1).defaults }
      const sending = (to: string) => accept(own, { message: template({ to }), limits })
      const abandon = (command: MessageStore.AcceptSend) =>
        MessageStore.MessageStore.use((store) => store.abandon(command))
      const early = yield* sending(userId)
      yield* link(own)
      assert.strictEqual(describe((yield* sending(phone)).accepted), "rate_limited/pair")
      yield* abandon(early.command)
      const late = yield* sending(userId)
      assert.strictEqual(describe(late.accepted), "Claimed")
      assert.strictEqual(describe((yield* sending(phone)).accepted), "rate_limited/pair")
      assert.strictEqual(describe((yield* sending(customer(2))).accepted), "forbidden/messaging_limit_reached")
      yield* abandon(late.command)
      assert.strictEqual(describe((yield* sending(customer(2))).accepted), "Claimed")
    }))

  it.effect("the messaging limit counts a customer once, whichever name is sent to", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const sending = (to: string, now = own.start) => told(own, { message: template({ to }), limits: limited(2), now })
      yield* link(own)
      assert.deepStrictEqual(
        yield* Effect.forEach([userId, phone, userId, customer(2), customer(3)], (to) => sending(to)),
        [
          "Claimed",
          "Claimed",
          "Claimed",
          "Claimed",
          "forbidden/messaging_limit_reached"
        ]
      )
      assert.strictEqual(yield* sending(customer(3), own.start + day), "Claimed")
    }))

  it.effect("a customer who was counted under both names counts once after the next send", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const sending = (to: string) => told(own, { message: template({ to }), limits: limited(2) })
      assert.deepStrictEqual(yield* Effect.forEach([userId, phone, customer(2)], sending), [
        "Claimed",
        "Claimed",
        "forbidden/messaging_limit_reached"
      ])
      yield* link(own)
      assert.deepStrictEqual(yield* Effect.forEach([phone, customer(2), customer(3)], sending), [
        "Claimed",
        "Claimed",
        "forbidden/messaging_limit_reached"
      ])
    }))

  it.effect("numbers that share a messaging limit count a customer once, by the names that the sender knows", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* beside(own)
      const sending = (to: string, from: string) => told(own, { message: template({ to, from }), limits: limited(1) })
      // the first number knows the customer by user id only
      assert.strictEqual(yield* sending(userId, own.number.id), "Claimed")
      yield* link(own, other)
      assert.strictEqual(yield* sending(phone, other.id), "Claimed")
      assert.strictEqual(yield* sending(customer(2), own.number.id), "forbidden/messaging_limit_reached")
    }))

  it.effect("an authentication template to a user id is refused, and leaves nothing behind", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* TemplateStore.TemplateStore.use((store) =>
        store.update({
          now: own.start + 1,
          providerAccountId: own.number.providerAccountId,
          name: "plain",
          language: "en_US",
          at: own.start + 1,
          change: { category: "authentication" }
        })
      )
      yield* inbound(own, { customer: byBoth })
      const before = yield* eventsOf(own)
      const key = yield* Fixture.word
      const { accepted, command } = yield* accept(own, { key, message: template({ to: userId }) })
      assert.strictEqual(describe(accepted), "forbidden/phone_number_required")
      assert(accepted._tag === "Refused" && accepted.error._tag === "Forbidden")
      assert.strictEqual(accepted.error.param, "to")
      const found = yield* MessageStore.MessageStore.use((store) => store.get(own.workspace.id, command.messageId))
      assert.deepStrictEqual([found, yield* eventsOf(own)], [Option.none(), before])
      // the key is free
      assert.strictEqual(yield* told(own, { key, fingerprint: "two", message: template({ to: phone }) }), "Claimed")
    }))

  it.effect("racing sends to both names of a customer take no more than the pair's tokens", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* link(own)
      const limits = { ...limited(1), pair: { everySeconds: 60, burst: 5 } }
      const all = yield* Effect.forEach(
        Array.from({ length: 16 }, (_, i) => i % 2 === 0 ? userId : phone),
        (to) => told(own, { message: template({ to }), limits }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(all.toSorted(), [
        ...Array.from({ length: 5 }, () => "Claimed"),
        ...Array.from({ length: 11 }, () => "rate_limited/pair")
      ])
      assert.strictEqual(
        yield* told(own, { message: template({ to: customer(2) }), limits }),
        "forbidden/messaging_limit_reached"
      )
    }))
}
