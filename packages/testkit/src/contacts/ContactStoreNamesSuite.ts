/**
 * Conformance of `ContactStore`: customers with several names, their preferences, and the order of provider reports.
 */
import { assert } from "@effect/vitest"
import {
  type Contact,
  ContactStore,
  CustomerNames,
  EventStore,
  Limits,
  MessageStore,
  PhoneNumberStore
} from "@wac/core"
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
      hashes: MessageFixture.hashesOf(MessageFixture.customerOf(who)),
      providerNumberId: own.number.providerNumberId,
      customer: MessageFixture.customerOf(who),
      preference,
      at
    })
  )

const move = (own: Fixture.World, from: Contact.Customer | string, to: Contact.Customer | string, at = own.start) =>
  ContactStore.ContactStore.use((store) =>
    store.move({
      now: Math.max(at, own.start),
      hashes: MessageFixture.hashesOf(MessageFixture.customerOf(from), MessageFixture.customerOf(to)),
      providerNumberId: own.number.providerNumberId,
      from: MessageFixture.customerOf(from),
      to: MessageFixture.customerOf(to),
      at
    })
  )

const tell = (own: Fixture.World, who: Contact.Customer, at = own.start) =>
  ContactStore.ContactStore.use((store) =>
    store.recordNames({
      now: Math.max(at, own.start),
      hashes: MessageFixture.hashesOf(who),
      providerNumberId: own.number.providerNumberId,
      customer: who,
      at
    })
  )

/** One line of Benin, as numbers are since 2024, and as the provider names it. */
const written = "+2290197123456"
const answered = "+22997123456"

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
      assert.deepStrictEqual(yield* known(own, customer(1)), after[0])
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

  it.effect("the number of a customer who moved is left with a closed window, also if only the user id was reported", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { customer: both(customer(1), "US.1"), at: own.start - 2 })
      assert.isTrue(yield* move(own, user("US.1"), both(customer(2), "US.2")))
      assert.strictEqual((yield* known(own, "US.2")).lastInboundAt, own.start - 2)
      assert.isNull((yield* known(own, customer(1))).lastInboundAt)
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

  it.effect("a number with a national prefix is the customer of the number without it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { customer: "+4407123456789", at: own.start - 1, preference: "opt_out" })
      assert.strictEqual((yield* known(own, "+447123456789")).customer.phone, "+4407123456789")
      const { accepted } = yield* accept(own, { message: text("+447123456789") })
      assert.strictEqual(describe(accepted), "forbidden/opted_out")
      const refused = yield* accept(own, { message: text("+4407123456789") })
      assert.strictEqual(describe(refused.accepted), "invalid_body/invalid_field")
    }))

  it.effect("accept takes a name that the workspace has given a customer, from each of its numbers, and no other", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const told = (to: string, from?: string) =>
        Effect.map(
          accept(own, { message: { ...text(to), ...(from === undefined ? {} : { from }) } }),
          ({ accepted }) => describe(accepted)
        )
      for (const to of [answered, "foo_bar"]) assert.strictEqual(yield* told(to), "invalid_body/invalid_field")
      yield* inbound(own, { customer: answered, at: own.start })
      yield* inbound(own, { customer: user("foo_bar"), at: own.start })
      const second = yield* Fixture.phoneNumber(own.workspace.id, { isDefault: false })
      yield* PhoneNumberStore.PhoneNumberStore.use((numbers) => numbers.add(second))
      for (const to of [answered, "foo_bar"]) {
        assert.strictEqual(yield* told(to), "Claimed")
        assert.strictEqual(yield* told(to, second.phoneNumber), "forbidden/outside_service_window")
      }
      const other = yield* world({ start: own.start })
      const elsewhere = yield* accept(other, { message: text(answered) })
      assert.strictEqual(describe(elsewhere.accepted), "invalid_body/invalid_field")
    }))

  it.effect("numbers that the provider reports together are one customer, with window, opt-out and what was spent", () =>
    Effect.gen(function*() {
      const own = yield* world({ number: { messagingLimit: 1 } })
      const limits: Limits.Limits = { ...Limits.standard, pair: { everySeconds: 60, burst: 3 } }
      const sending = (message: ReturnType<typeof template> | ReturnType<typeof text>) =>
        Effect.map(accept(own, { message, limits }), ({ accepted }) => describe(accepted))
      assert.strictEqual(yield* sending(template({ to: written })), "Claimed")
      yield* inbound(own, { customer: answered, at: own.start })
      assert.strictEqual(yield* sending(text(answered)), "Claimed")
      assert.strictEqual(yield* sending(text(written)), "forbidden/outside_service_window")
      assert.isTrue(yield* tell(own, { phone: written, userId: null, aliases: [answered] }))
      assert.strictEqual(yield* sending(text(written)), "Claimed")
      assert.strictEqual(yield* sending(text(answered)), "rate_limited/pair")
      for (const name of [written, answered]) {
        const { customer, lastInboundAt } = yield* known(own, name)
        assert.deepStrictEqual([customer.phone, lastInboundAt], [answered, own.start])
        const store = yield* ContactStore.ContactStore
        assert.deepStrictEqual(yield* store.named(own.workspace.id, name), [yield* known(own, written)])
      }
      yield* prefer(own, written, "opt_out", own.start + 1)
      assert.strictEqual(yield* sending(text(answered)), "forbidden/opted_out")
      assert.isFalse(
        yield* tell({ ...own, number: { ...own.number, providerNumberId: "nobody" } }, both(customer(1), "US.1"))
      )
    }))

  it.effect("a number and a user id that are reported together merge two contacts, whichever was opted out", () =>
    Effect.gen(function*() {
      for (const first of [customer(1), user("US.1")]) {
        const own = yield* world()
        yield* prefer(own, first, "opt_out", own.start - 2)
        yield* tell(own, both(customer(1), "US.1"), own.start - 1)
        yield* tell(own, both(customer(1), "US.1"), own.start - 1)
        const one = yield* known(own, customer(1))
        assert.deepStrictEqual(one, yield* known(own, "US.1"))
        assert.deepStrictEqual([one.customer, one.optedOut], [both(customer(1), "US.1"), true])
        const { items } = yield* ContactStore.ContactStore.use((store) =>
          store.list(own.workspace.id, {}, { limit: 10, after: null })
        )
        assert.deepStrictEqual(items, [one])
      }
    }))

  it.effect("a number that comes with another user id goes to them with its opt-out, and without the window", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { customer: both(customer(1), "US.1"), at: own.start - hour, preference: "opt_out" })
      yield* inbound(own, { customer: both(customer(2), "US.2"), at: own.start - 2 * hour })
      yield* tell(own, both(customer(1), "US.2"))
      const seen = (name: string) =>
        Effect.map(known(own, name), ({ customer, lastInboundAt, optedOut }) => [customer, lastInboundAt, optedOut])
      assert.deepStrictEqual(yield* seen("US.1"), [user("US.1"), own.start - hour, true])
      assert.deepStrictEqual(yield* seen("US.2"), [both(customer(1), "US.2"), own.start - 2 * hour, true])
      assert.deepStrictEqual(yield* seen(customer(1)), yield* seen("US.2"))
      assert.deepStrictEqual(yield* seen(customer(2)), [{ phone: customer(2), userId: null }, null, false])
      // to somebody who is new
      yield* tell(own, both(customer(1), "US.3"), own.start + 1)
      assert.deepStrictEqual(yield* seen(customer(1)), [both(customer(1), "US.3"), null, true])
      assert.deepStrictEqual(yield* seen("US.2"), [user("US.2"), own.start - 2 * hour, true])
    }))

  it.effect("a new user id takes the place of the one before, by which the customer is still found", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { customer: both(customer(1), "US.1"), at: own.start - 1, preference: "opt_out" })
      for (const _ of [1, 2]) {
        assert.isTrue(yield* move(own, user("US.1"), user("US.2")))
        const one = yield* known(own, "US.2")
        assert.deepStrictEqual(one.customer, { ...both(customer(1), "US.2"), aliases: ["US.1"] })
        assert.deepStrictEqual([one.lastInboundAt, one.optedOut], [own.start - 1, true])
        for (const name of [customer(1), "US.1"]) assert.deepStrictEqual(yield* known(own, name), one)
      }
      // the id may have been heard of before the change was
      yield* inbound(own, { customer: user("US.5"), at: own.start - 9 })
      yield* inbound(own, { customer: user("US.6"), at: own.start - 3 })
      yield* move(own, user("US.5"), user("US.6"))
      const merged = yield* known(own, "US.5")
      assert.deepStrictEqual([merged.customer.userId, merged.lastInboundAt], ["US.6", own.start - 3])
      assert.deepStrictEqual(yield* known(own, "US.6"), merged)
    }))

  it.effect("a customer who moves to a number of a former customer takes the number, and not that customer's names", () =>
    Effect.gen(function*() {
      for (const isNumberFirst of [true, false]) {
        const own = yield* world()
        yield* inbound(own, { customer: both(customer(1), "US.OLD"), at: own.start - 2, preference: "opt_out" })
        yield* inbound(own, { customer: both(customer(2), "US.N"), at: own.start - 3 })
        // `user_id_update` names the number that the customer has now
        const posts = [
          move(own, customer(1), both(customer(2), "US.NEW")),
          move(own, both(customer(2), "US.OLD"), user("US.NEW"))
        ]
        for (const post of isNumberFirst ? posts : posts.toReversed()) {
          yield* post
          const { optedOut } = yield* known(own, "US.NEW")
          assert.isTrue(optedOut)
        }
        for (const post of posts) yield* post
        const moved = yield* known(own, "US.NEW")
        assert.deepStrictEqual([moved.customer.phone, moved.customer.userId], [customer(2), "US.NEW"])
        assert.deepStrictEqual([moved.lastInboundAt, moved.optedOut], [own.start - 2, true])
        assert.deepStrictEqual(yield* known(own, customer(2)), moved)
        const former = yield* known(own, "US.N")
        assert.deepStrictEqual([former.customer, former.lastInboundAt, former.optedOut], [
          user("US.N"),
          own.start - 3,
          false
        ])
        const { accepted } = yield* accept(own, {
          message: template({ to: "US.NEW", name: "promo", bodyParams: ["x"] })
        })
        assert.strictEqual(describe(accepted), "forbidden/opted_out")
      }
    }))

  it.effect("a new user id of a customer who is not known gets the number beside it from its former owner", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { customer: both(customer(2), "US.N"), at: own.start - 3 })
      for (const _ of [1, 2]) {
        assert.isTrue(yield* move(own, both(customer(2), "US.OLD"), user("US.NEW")))
        const { customer: named, lastInboundAt } = yield* known(own, "US.NEW")
        assert.deepStrictEqual([named, lastInboundAt], [both(customer(2), "US.NEW"), null])
        assert.deepStrictEqual(yield* known(own, customer(2)), yield* known(own, "US.NEW"))
        assert.deepStrictEqual((yield* known(own, "US.N")).customer, user("US.N"))
      }
      // nobody's number stays nobody's
      assert.isTrue(yield* move(own, both(customer(3), "US.7"), user("US.8")))
      for (const name of [customer(3), "US.7", "US.8"]) {
        assert.deepStrictEqual(yield* contactOf(own, name), Option.none())
      }
    }))

  it.effect("a customer is found and can be written to by the parent of the user id", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const parent = "US.ENT.9"
      yield* inbound(own, { customer: { ...user("US.1"), aliases: [parent] }, at: own.start, preference: "opt_in" })
      assert.deepStrictEqual(yield* known(own, parent), yield* known(own, "US.1"))
      assert.strictEqual(describe((yield* accept(own, { message: text(parent) })).accepted), "Claimed")
      yield* prefer(own, user(parent), "opt_out", own.start + 1)
      assert.strictEqual(describe((yield* accept(own, { message: text("US.1") })).accepted), "forbidden/opted_out")
    }))

  it.effect.each(Array.from({ length: 4 }, (_, i) => ({ seed: i + 1 })))(
    "after random reports of names each name leads to one contact, and none that opted out is forgotten, seed $seed",
    ({ seed }) =>
      Effect.gen(function*() {
        const random = SeededRandom.make(seed)
        const own = yield* world()
        const phones = [customer(1), customer(2), written]
        const ids = ["US.1", "US.2", "US.3", "US.ENT.9"]
        const seen = new Set<string>()
        const stopped = new Set<string>()
        for (let i = 0; i < 60; i++) {
          const phone = random.pick([...phones, null])
          const aliases = [...(phone === written ? [answered] : []), ...(random.below(4) === 0 ? ["US.ENT.9"] : [])]
          const userId = random.pick([...ids, null])
          if (phone === null && userId === null) continue
          const who = CustomerNames.withAliases(
            phone === null ? user(userId!) : { phone, userId },
            aliases.filter((name) => name !== userId)
          )
          const kind = random.below(4)
          if (kind === 0) {
            yield* prefer(own, who, "opt_out", own.start + i)
            for (const name of CustomerNames.keysIn(who)) stopped.add(name)
          } else if (kind === 1) yield* inbound(own, { customer: who, at: own.start + i, now: own.start + i })
          else yield* tell(own, who, own.start + i)
          for (const name of CustomerNames.keysIn(who)) seen.add(name)
        }
        for (const name of seen) {
          const contact = yield* known(own, name)
          const { items } = yield* ContactStore.ContactStore.use((store) =>
            store.list(own.workspace.id, {}, { limit: 100, after: null })
          )
          const having = items.filter((one) => CustomerNames.isKnownBy(one)(name))
          assert.deepStrictEqual(having, [contact], name)
          if (stopped.has(name)) assert.isTrue(contact.optedOut, name)
        }
      })
  )

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
        MessageFixture.customerOf(short),
        MessageFixture.customerOf(long)
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
