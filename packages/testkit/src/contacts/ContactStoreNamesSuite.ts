/**
 * Conformance of `ContactStore`: customers with several names, their preferences, and the order of provider reports.
 */
import { assert } from "@effect/vitest"
import { type Contact, ContactStore, EventStore, Limits, MessageStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as SeededRandom from "../SeededRandom.ts"

const { day, hour, minute, world } = Fixture
const { accept, customer, describe, inbound, template, text } = MessageFixture

/** One Brazilian line in its two forms, with the ninth digit and without. */
const long = "+5511987654321"
const short = "+551187654321"

const contactOf = ({ number, workspace }: Fixture.World, key: Contact.Contact["key"]) =>
  ContactStore.ContactStore.use((store) => store.get(workspace.id, number.id, key))

/** A contact that must exist. */
const known = (own: Fixture.World, key: Contact.Contact["key"]) => Effect.map(contactOf(own, key), Option.getOrThrow)

const prefer = (
  own: Fixture.World,
  who: Contact.Customer | string,
  preference: Contact.Preference,
  at: number,
  now = Math.max(at, own.start)
) =>
  ContactStore.ContactStore.use((store) =>
    store.setPreference({
      now,
      providerNumberId: own.number.providerNumberId,
      customer: MessageFixture.named(who),
      preference,
      at
    })
  )

const move = (own: Fixture.World, from: Contact.Customer | string, to: Contact.Customer | string, at = own.start) =>
  ContactStore.ContactStore.use((store) =>
    store.move({
      now: Math.max(at, own.start),
      providerNumberId: own.number.providerNumberId,
      from: MessageFixture.named(from),
      to: MessageFixture.named(to),
      at
    })
  )

const both = (phone: string, userId: string): Contact.Customer => ({ phone, userId })
const user = (userId: string): Contact.Customer => ({ phone: null, userId })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("the number forms of one line are one contact, which keeps the form last written from", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { customer: short, at: own.start - hour, preference: "opt_out" })
      assert.deepStrictEqual((yield* known(own, long)).customer, { phone: short, userId: null })
      yield* inbound(own, { customer: long, at: own.start })
      yield* inbound(own, { customer: short, at: own.start - minute, now: own.start })
      assert.deepStrictEqual(yield* known(own, long), {
        workspaceId: own.workspace.id,
        phoneNumberId: own.number.id,
        key: long,
        customer: { phone: long, userId: null },
        isUserFirst: false,
        knownSince: own.start - hour,
        lastInboundAt: own.start,
        optedOut: true,
        preferenceAt: own.start - hour
      })
      assert.deepStrictEqual(yield* contactOf(own, short), Option.none())
    }))

  it.effect("accept finds window, opt-out, messaging limit and pair rate for every form of a number", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const told = (message: ReturnType<typeof text>, now = own.start) =>
        Effect.map(accept(own, { message, now }), ({ accepted }) => describe(accepted))
      assert.strictEqual(yield* told(text(long)), "forbidden/outside_service_window")
      yield* inbound(own, { customer: short, at: own.start - 1 })
      assert.strictEqual(yield* told(text(long)), "Claimed")
      assert.strictEqual(yield* told(text(short)), "Claimed")
      yield* prefer(own, long, "opt_out", own.start)
      assert.strictEqual(yield* told(text(short)), "forbidden/opted_out")

      const other = yield* world({ number: { messagingLimit: 1 } })
      const limits: Limits.Limits = { ...Limits.standard, pair: { everySeconds: 60, burst: 3 } }
      const sending = (to: string) => accept(other, { message: template({ to }), limits })
      const { accepted, command } = yield* sending(long)
      assert.strictEqual(describe(accepted), "Claimed")
      assert.strictEqual(describe((yield* sending(short)).accepted), "Claimed")
      assert.strictEqual(describe((yield* sending(long)).accepted), "Claimed")
      assert.strictEqual(describe((yield* sending(short)).accepted), "rate_limited/pair")
      assert.strictEqual(describe((yield* sending(customer(2))).accepted), "forbidden/messaging_limit_reached")
      // its token returns to the line
      yield* MessageStore.MessageStore.use((store) => store.abandon(command))
      assert.strictEqual(describe((yield* sending(short)).accepted), "Claimed")
    }))

  it.effect("a customer known by user id only has a contact, and an event that names them by it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { customer: user("US.1"), at: own.start, preference: "opt_out" })
      assert.deepStrictEqual(yield* known(own, "US.1"), {
        workspaceId: own.workspace.id,
        phoneNumberId: own.number.id,
        key: "US.1",
        customer: user("US.1"),
        isUserFirst: true,
        knownSince: own.start,
        lastInboundAt: own.start,
        optedOut: true,
        preferenceAt: own.start
      })
      const { items } = yield* EventStore.EventStore.use((store) =>
        store.list(own.workspace.id, {}, { limit: 10, after: null })
      )
      assert.deepStrictEqual(items.map(({ data }) => [data["from"], data["from_user_id"]]), [["US.1", "US.1"]])
    }))

  it.effect("a message with both number and user id merges two contacts, whichever came first", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { customer: user("US.1"), at: own.start - 5, preference: "opt_out" })
      yield* inbound(own, { customer: customer(1), at: own.start - 9 })
      yield* inbound(own, { customer: both(customer(1), "US.1"), at: own.start - 7, now: own.start })
      assert.deepStrictEqual(yield* known(own, "US.1"), yield* known(own, customer(1)))
      assert.deepStrictEqual(yield* known(own, customer(1)), {
        workspaceId: own.workspace.id,
        phoneNumberId: own.number.id,
        key: customer(1),
        customer: both(customer(1), "US.1"),
        isUserFirst: false,
        knownSince: own.start - 9,
        lastInboundAt: own.start - 5,
        optedOut: true,
        preferenceAt: own.start - 5
      })
      // from here on both names lead to it, and a message with one name keeps the other
      yield* inbound(own, { customer: user("US.1"), at: own.start })
      const again = yield* known(own, customer(1))
      assert.deepStrictEqual([again.customer, again.lastInboundAt], [both(customer(1), "US.1"), own.start])
      assert.strictEqual((yield* known(own, "US.1")).key, customer(1))
      // another number of the workspace has contacts of its own
      const other = yield* world({ start: own.start })
      yield* inbound(other, { customer: user("US.1") })
      assert.isTrue(Option.isSome(yield* contactOf(other, "US.1")))
    }))

  it.effect("a user id that comes with a new number moves the customer, and an older message does not move them back", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { customer: both(customer(1), "US.1"), at: own.start - hour, preference: "opt_out" })
      yield* inbound(own, { customer: both(customer(2), "US.1"), at: own.start })
      const after = [yield* known(own, customer(1)), yield* known(own, customer(2))]
      assert.deepStrictEqual(
        after.map(({ customer, lastInboundAt, optedOut }) => [customer.userId, lastInboundAt, optedOut]),
        [[null, null, true], ["US.1", own.start, true]]
      )
      yield* inbound(own, { customer: both(customer(1), "US.1"), at: own.start - minute, now: own.start })
      assert.strictEqual((yield* known(own, customer(1))).customer.userId, null)
      assert.strictEqual((yield* known(own, customer(2))).customer.userId, "US.1")
    }))

  it.effect("a preference applies to customers who never wrote, and to a number that a contact already has", () =>
    Effect.gen(function*() {
      const own = yield* world()
      assert.isTrue(yield* prefer(own, customer(1), "opt_out", own.start))
      const { lastInboundAt, optedOut, preferenceAt } = yield* known(own, customer(1))
      assert.deepStrictEqual([lastInboundAt, optedOut, preferenceAt], [null, true, own.start])
      assert.isFalse(
        yield* prefer({ ...own, number: { ...own.number, providerNumberId: "nobody" } }, customer(2), "opt_out", 0)
      )
      assert.deepStrictEqual(yield* contactOf(own, customer(2)), Option.none())
    }))

  it.effect("a preference from the future counts as now, so that later ones override it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* prefer(own, customer(1), "opt_in", own.start + day, own.start)
      yield* prefer(own, customer(1), "opt_out", own.start + 1)
      assert.isTrue((yield* known(own, customer(1))).optedOut)
    }))

  it.effect("a moved customer is found at the new number with window and opt-out, and the old number keeps only the opt-out", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { customer: short, at: own.start - hour, preference: "opt_out" })
      const seen = Effect.all([contactOf(own, long), contactOf(own, customer(2))])
      assert.isTrue(yield* move(own, long, both(customer(2), "US.2")))
      const after = yield* seen
      assert.deepStrictEqual(
        after.map(Option.getOrThrow).map(({ customer, lastInboundAt, optedOut, preferenceAt }) => [
          customer,
          lastInboundAt,
          optedOut,
          preferenceAt
        ]),
        [
          [{ phone: short, userId: null }, null, true, own.start - hour],
          [both(customer(2), "US.2"), own.start - hour, true, own.start - hour]
        ]
      )
      assert.isTrue(yield* move(own, long, both(customer(2), "US.2")))
      assert.deepStrictEqual(yield* seen, after)
      // the old number's present owner has not moved, because the move was before
      yield* inbound(own, { customer: long, at: own.start + 1 })
      yield* prefer(own, customer(2), "opt_in", own.start + 1)
      const later = yield* seen
      assert.isTrue(yield* move(own, long, customer(2)))
      assert.deepStrictEqual(yield* seen, later)
      // a move from an unknown customer has no effect
      assert.isTrue(yield* move(own, customer(8), customer(9)))
      assert.deepStrictEqual(yield* contactOf(own, customer(9)), Option.none())
      assert.isFalse(yield* move({ ...own, number: { ...own.number, providerNumberId: "nobody" } }, long, customer(3)))
    }))

  it.effect("a moved customer is found by user id if the number was not known", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { customer: user("US.1"), at: own.start - 1, preference: "opt_out" })
      assert.isTrue(yield* move(own, user("US.1"), both(customer(1), "US.1")))
      assert.strictEqual((yield* known(own, "US.1")).key, customer(1))
      yield* move(own, user("US.1"), user("US.2"))
      assert.deepStrictEqual(
        yield* Effect.map(known(own, "US.2"), ({ lastInboundAt, optedOut }) => [lastInboundAt, optedOut]),
        [own.start - 1, true]
      )
    }))

  it.effect.each(Array.from({ length: 8 }, (_, i) => ({ seed: i + 1 })))(
    "messages and preferences give the same result in any order and number, seed $seed",
    ({ seed }) =>
      Effect.gen(function*() {
        const random = SeededRandom.make(seed)
        const own = yield* world()
        const now = own.start + day
        const facts = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, i) => i),
          Effect.fnUntraced(function*(i) {
            const at = own.start + random.below(8) * hour
            const preference = random.pick([undefined, "opt_out", "opt_in"] as const)
            const isMessage = preference === undefined || random.below(2) === 0
            const from = random.pick([long, short])
            const providerMessageId = `wamid.${yield* Fixture.word}.${i}`
            const tell: Fixture.Step<unknown> = isMessage
              ? inbound(own, { customer: from, at, now, providerMessageId, ...(preference && { preference }) })
              : prefer(own, from, preference, at, now)
            return { at, isMessage, preference, tell }
          })
        )
        const told = random.shuffle([...facts, ...facts, ...facts])
        yield* Effect.forEach(told, ({ tell }) => tell, { concurrency: seed % 2 === 0 ? "unbounded" : 1 })

        // the model: the newest message and the newest preference; at the same time, the opt-out
        const written = facts.filter(({ isMessage }) => isMessage).map(({ at }) => at)
        const words = facts.filter(({ preference }) => preference !== undefined)
          .sort((a, b) => b.at - a.at || (a.preference === "opt_out" ? -1 : 1))
        const { lastInboundAt, optedOut, preferenceAt } = yield* known(own, long)
        assert.strictEqual(lastInboundAt, written.length === 0 ? null : Math.max(...written))
        assert.deepStrictEqual([optedOut, preferenceAt], [
          words[0]?.preference === "opt_out",
          words[0]?.at ?? null
        ])
        const { items } = yield* EventStore.EventStore.use((store) =>
          store.list(own.workspace.id, {}, { limit: 100, after: null })
        )
        assert.strictEqual(items.length, written.length)
      })
  )

  it.effect("racing reports about one customer under all their names leave one contact", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const names = [
        both(long, "US.1"),
        both(short, "US.1"),
        user("US.1"),
        MessageFixture.named(short),
        MessageFixture.named(long)
      ]
      yield* Effect.forEach(
        Array.from({ length: 40 }, (_, i) => i),
        (i) => inbound(own, { customer: names[i % names.length]!, at: own.start + i, now: own.start + day }),
        { concurrency: "unbounded" }
      )
      const { customer: { userId }, lastInboundAt } = yield* known(own, long)
      assert.deepStrictEqual([userId, lastInboundAt], ["US.1", own.start + 39])
      assert.strictEqual((yield* known(own, "US.1")).key, long)
      assert.deepStrictEqual(yield* contactOf(own, short), Option.none())
    }))

  it.effect("a message is remembered for 31 days from its arrival or its own time, whichever is later", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const messages = yield* MessageStore.MessageStore
      const past = own.start - 20 * day
      const { providerMessageId } = (yield* inbound(own, { now: past, at: past - day })).command.message
      const again = (now: number) =>
        Effect.map(inbound(own, { providerMessageId, now, at: past - day }), ({ recorded }) => recorded)
      yield* messages.sweep(past + 31 * day - 1)
      assert.strictEqual(yield* again(own.start), "duplicate")
      const future = (yield* inbound(own, { now: past, at: past + 5 * day })).command.message.providerMessageId
      yield* messages.sweep(past + 31 * day)
      const late = yield* inbound(own, { providerMessageId: future, now: own.start, at: past + 5 * day })
      assert.strictEqual(late.recorded, "duplicate")
    }))
}
