/**
 * Conformance of `ContactStore`, `CustomerStore` and `MessageStore`: opt-outs that belong to names, which people and
 * programs set, and which outlive their customers' erasure.
 */
import { assert } from "@effect/vitest"
import {
  type Contact,
  ContactStep,
  ContactStore,
  CustomerNames,
  type Id,
  type Page,
  PhoneNumberStore,
  type Suppression
} from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as CustomerFixture from "./CustomerFixture.ts"

const { minute, world } = Fixture
const { accept, customer, describe, inbound, template } = MessageFixture

interface Choice {
  readonly name: string
  readonly preference?: Contact.Preference
  readonly phoneNumberId?: Id.PhoneNumberId
  readonly source?: Suppression.Source
  readonly at?: number
}

const choose = (own: Fixture.World, { at = own.start, ...choice }: Choice) =>
  CustomerFixture.choose({
    now: at,
    workspaceId: own.workspace.id,
    phoneNumberId: null,
    preference: "opt_out",
    source: "api",
    ...choice
  })

/** One step of a choice by a customer's only name, for every number. */
const chooseOnce = (
  own: Fixture.World,
  name: string,
  preference: Contact.Preference,
  choices: string,
  at: number
) =>
  ContactStore.ContactStore.use((store) =>
    store.choose({
      now: at,
      workspaceId: own.workspace.id,
      phoneNumberId: null,
      name,
      hashes: MessageFixture.hashesFor([name]),
      preference,
      source: "api",
      choices
    })
  )

/** What a caller reads who knows no choice of a customer and wants what is not in force. */
const read = (own: Fixture.World, name: string, preference: Contact.Preference, at: number) =>
  Effect.map(chooseOnce(own, name, preference, ContactStep.noChoices, at), (answer) => {
    if (answer._tag !== "Unread") return assert.fail("the choice was written")
    assert.deepStrictEqual(answer.names, [])
    return answer.choices
  })

const erase = (own: Fixture.World, name: string, at = own.start) =>
  CustomerFixture.eraseContacts(own.workspace.id, name, at)

/** The outcome of a marketing template. */
const sent = (own: Fixture.World, to: string, now = own.start, from?: string) =>
  Effect.map(
    accept(own, {
      now,
      message: template({ to, name: "promo", bodyParams: ["x"], ...(from === undefined ? {} : { from }) })
    }),
    ({ accepted }) => describe(accepted)
  )

const said = (own: Fixture.World, who: Contact.Customer | string, body: string, at = own.start) =>
  inbound(own, { customer: who, at, now: at, content: { type: "text", content: { body } } })

/** A further number of the workspace. */
const beside = (own: Fixture.World) =>
  Effect.tap(
    Fixture.phoneNumber(own.workspace.id, { providerAccountId: own.number.providerAccountId, isDefault: false }),
    (number) => PhoneNumberStore.PhoneNumberStore.use((store) => store.add(number))
  )

const optOuts = (own: Fixture.World, limit = 2) =>
  Effect.gen(function*() {
    const store = yield* ContactStore.ContactStore
    const all: Array<ContactStore.OptOut> = []
    let after: string | null = null
    do {
      const page: Page.Page<ContactStore.OptOut> = yield* store.optOuts(own.workspace.id, { limit, after })
      all.push(...page.items)
      after = page.next
    } while (after !== null)
    return all
  })

const refused = "forbidden/opted_out"
const both = (phone: string, userId: string): Contact.Customer => ({ phone, userId })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a name that nobody knows is opted out for every number, in every written form, until it is opted in", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world()
      const second = yield* beside(own)
      const chosen = yield* choose(own, { name: "+551187654321", source: "import" })
      assert.deepStrictEqual(chosen, {
        _tag: "Chosen",
        optOut: { at: own.start, source: "import" },
        isNew: true,
        names: 1
      })
      for (const to of ["+5511987654321", "+551187654321"]) {
        assert.strictEqual(yield* sent(own, to), refused)
        assert.strictEqual(yield* sent(own, to, own.start, second.id), refused)
        assert.strictEqual(yield* sent(other, to), "Claimed")
      }
      assert.strictEqual(yield* sent(own, customer(2)), "Claimed")
      // the utility template of a send that an opt-out does not block
      assert.strictEqual(
        describe((yield* accept(own, { message: template({ to: "+5511987654321" }) })).accepted),
        "Claimed"
      )
      const again = yield* choose(own, { name: "+5511987654321", at: own.start + minute })
      assert.deepStrictEqual([again.optOut, again.isNew], [{ at: own.start + minute, source: "api" }, false])
      const ended = yield* choose(own, { name: "+5511987654321", preference: "opt_in" })
      assert.deepStrictEqual([ended.optOut, ended.isNew], [undefined, true])
      assert.strictEqual(yield* sent(own, "+5511987654321"), "Claimed")
      assert.isFalse((yield* choose(own, { name: "+5511987654321", preference: "opt_in" })).isNew)
    }))

  it.effect("an opt-out for one number leaves the others, and a number can be excepted from one for all", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const second = yield* beside(own)
      const outcomes = Effect.all([sent(own, customer(1)), sent(own, customer(1), own.start, second.id)])
      yield* choose(own, { name: customer(1), phoneNumberId: second.id })
      assert.deepStrictEqual(yield* outcomes, ["Claimed", refused])
      yield* choose(own, { name: customer(1) })
      assert.deepStrictEqual(yield* outcomes, [refused, refused])
      yield* choose(own, { name: customer(1), phoneNumberId: second.id, preference: "opt_in" })
      assert.deepStrictEqual(yield* outcomes, [refused, "Claimed"])
      yield* choose(own, { name: customer(1) })
      assert.deepStrictEqual(yield* outcomes, [refused, refused])
      yield* choose(own, { name: customer(1), preference: "opt_in" })
      assert.deepStrictEqual(yield* outcomes, ["Claimed", "Claimed"])
    }))

  it.effect("a choice is about every name of a customer, and their contacts follow it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { customer: both(customer(1), "US.1") })
      assert.strictEqual((yield* choose(own, { name: "US.1" })).names, 2)
      assert.strictEqual(yield* sent(own, customer(1)), refused)
      const { items: [contact] } = yield* ContactStore.ContactStore.use((store) =>
        store.list(own.workspace.id, {}, { limit: 2, after: null })
      )
      assert.deepStrictEqual([contact!.optedOut, contact!.preferenceAt], [true, own.start])
      yield* choose(own, { name: customer(1), preference: "opt_in" })
      assert.strictEqual(yield* sent(own, "US.1"), "Claimed")
    }))

  it.effect("a choice is not written over another one that its caller has not read", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const [met, unmet] = [customer(1), customer(2)]
      const outcomes = Effect.all([met, unmet].map((to) => sent(own, to)))
      yield* said(own, met, "hello")
      const names = [met, unmet]
      const write = (preference: Contact.Preference, choices: ReadonlyArray<string>, at: number) =>
        Effect.forEach(names, (name, i) => chooseOnce(own, name, preference, choices[i]!, at))
      const reads = (preference: Contact.Preference, at: number) =>
        Effect.forEach(names, (name) => read(own, name, preference, at))
      const tags = (all: ReadonlyArray<ContactStep.Chosen>) => all.map(({ _tag }) => _tag)
      const none = names.map(() => ContactStep.noChoices)

      assert.deepStrictEqual(tags(yield* write("opt_out", none, own.start + 1)), ["Chosen", "Chosen"])
      assert.deepStrictEqual(yield* outcomes, [refused, refused])
      const first = yield* reads("opt_in", own.start + 2)
      assert.deepStrictEqual(yield* outcomes, [refused, refused])
      assert.deepStrictEqual(tags(yield* write("opt_in", first, own.start + 2)), ["Chosen", "Chosen"])
      assert.deepStrictEqual(yield* outcomes, ["Claimed", "Claimed"])
      // an opt-out like the one that was read, but another one
      yield* choose(own, { name: met, at: own.start + 3 })
      yield* choose(own, { name: unmet, at: own.start + 3 })
      assert.deepStrictEqual(tags(yield* write("opt_in", first, own.start + 4)), ["Unread", "Unread"])
      assert.deepStrictEqual(tags(yield* write("opt_in", none, own.start + 4)), ["Unread", "Unread"])
      assert.deepStrictEqual(yield* outcomes, [refused, refused])
      // the caller reads again
      const second = yield* reads("opt_in", own.start + 4)
      const chosen = yield* write("opt_in", second, own.start + 4)
      assert.deepStrictEqual(chosen, names.map(() => ({ _tag: "Chosen", optOut: undefined, isNew: true })))
      assert.deepStrictEqual(yield* outcomes, ["Claimed", "Claimed"])
    }))

  it.effect("a choice is not written over what the customer has written since its caller has read their choices", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const who = customer(1)
      const outcome = sent(own, who)
      const tag = (preference: Contact.Preference, choices: string, at: number) =>
        Effect.map(chooseOnce(own, who, preference, choices, at), ({ _tag }) => _tag)
      yield* said(own, who, "STOP", own.start + 1)
      // a caller that knows of no choice
      assert.strictEqual(yield* tag("opt_in", ContactStep.noChoices, own.start + 2), "Unread")
      assert.strictEqual(yield* outcome, refused)
      const stopped = yield* read(own, who, "opt_in", own.start + 2)
      yield* said(own, who, "START", own.start + 3)
      const started = yield* read(own, who, "opt_out", own.start + 4)
      yield* said(own, who, "STOP", own.start + 5)
      assert.strictEqual(yield* tag("opt_in", stopped, own.start + 6), "Unread")
      assert.strictEqual(yield* outcome, refused)
      yield* said(own, who, "START", own.start + 7)
      assert.strictEqual(yield* tag("opt_out", started, own.start + 8), "Unread")
      assert.strictEqual(yield* outcome, "Claimed")
    }))

  it.effect("a choice that changes nothing is answered, whatever its caller has read", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const who = customer(1)
      const choices = "of another customer"
      const none = { _tag: "Chosen", optOut: undefined, isNew: false } as const
      assert.deepStrictEqual(yield* chooseOnce(own, who, "opt_in", choices, own.start), none)
      yield* choose(own, { name: who, at: own.start + 1 })
      const optOut = { at: own.start + 1, source: "api" } as const
      assert.deepStrictEqual(
        yield* chooseOnce(own, who, "opt_out", choices, own.start + 1),
        { ...none, optOut }
      )
    }))

  it.effect("a repeated opt-out holds against a START that was written before it and is reported later", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const [met, unmet, stopped] = [customer(1), customer(2), customer(3)]
      yield* said(own, met, "hello")
      yield* said(own, stopped, "STOP", own.start + 1)
      const choices = [{ name: met }, { name: unmet }, { name: stopped, phoneNumberId: own.number.id }]
      for (const choice of choices) {
        yield* choose(own, { ...choice, at: own.start + 1 })
        const again = yield* choose(own, { ...choice, at: own.start + 5 })
        assert.deepStrictEqual([again.optOut, again.isNew], [{ at: own.start + 5, source: "api" }, false])
      }
      for (const { name } of choices) {
        yield* said(own, name, "START", own.start + 3)
        assert.strictEqual(yield* sent(own, name, own.start + 6), refused)
        yield* said(own, name, "START", own.start + 7)
        assert.strictEqual(yield* sent(own, name, own.start + 8), "Claimed")
      }
    }))

  it.effect("of two opposite choices at once whose callers have read the same, one is written", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const choices = ContactStep.noChoices
      const answers = yield* Effect.all(
        (["opt_out", "opt_in"] as const).map((preference) =>
          chooseOnce(own, customer(1), preference, choices, own.start)
        ),
        { concurrency: 2 }
      )
      assert.deepStrictEqual(answers.map(({ _tag }) => _tag), ["Chosen", "Unread"])
      assert.strictEqual(yield* sent(own, customer(1)), refused)
    }))

  it.effect("a name that is told together with one that is opted out is opted out too, on every number", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const second = yield* beside(own)
      yield* choose(own, { name: customer(1) })
      yield* inbound(own, { customer: both(customer(1), "US.1") })
      assert.strictEqual(yield* sent(own, "US.1"), refused)
      assert.strictEqual(yield* sent(own, "US.1", own.start, second.id), refused)
    }))

  it.effect("START ends an opt-out on the number that it was written to, whoever set it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const second = yield* beside(own)
      yield* choose(own, { name: customer(1), at: own.start })
      yield* said(own, customer(1), "hello", own.start + 1)
      assert.strictEqual(yield* sent(own, customer(1), own.start + 1), refused)
      yield* said(own, customer(1), "START", own.start + 2)
      assert.strictEqual(yield* sent(own, customer(1), own.start + 2), "Claimed")
      assert.strictEqual(yield* sent(own, customer(1), own.start + 2, second.id), refused)
      // one that was written before the opt-out ends nothing
      yield* choose(own, { name: customer(2), at: own.start + 5 })
      yield* said(own, customer(2), "START", own.start + 4)
      assert.strictEqual(yield* sent(own, customer(2), own.start + 6), refused)
    }))

  it.effect("a list that is imported again leaves numbers that customers have opted in on since", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const second = yield* beside(own)
      const who = both(customer(1), "US.1")
      const outcomes = (at: number) =>
        Effect.all(
          [customer(1), "US.1"].flatMap((to) => [sent(own, to, at), sent(own, to, at, second.id)])
        )
      const imported = (at: number) =>
        Effect.map(choose(own, { name: customer(1), source: "import", at }), ({ isNew }) => isNew)
      yield* said(own, who, "hello")
      assert.isTrue(yield* imported(own.start + 1))
      yield* said(own, who, "START", own.start + 2)
      const excepted = ["Claimed", refused, "Claimed", refused]
      assert.deepStrictEqual(yield* outcomes(own.start + 2), excepted)
      assert.isFalse(yield* imported(own.start + 3))
      assert.deepStrictEqual(yield* outcomes(own.start + 3), excepted)
      // a STOP since stays too
      yield* said(own, who, "STOP", own.start + 4)
      assert.isFalse(yield* imported(own.start + 5))
      assert.deepStrictEqual(yield* outcomes(own.start + 5), [refused, refused, refused, refused])
      yield* said(own, who, "START", own.start + 6)
      // somebody who opts the customer out again means every number
      assert.isTrue((yield* choose(own, { name: customer(1), source: "person", at: own.start + 7 })).isNew)
      assert.deepStrictEqual(yield* outcomes(own.start + 7), [refused, refused, refused, refused])
      assert.isFalse(yield* imported(own.start + 8))
    }))

  it.effect("a list that is imported for the first time opts customers out on every number, whatever they chose before", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const second = yield* beside(own)
      yield* choose(own, { name: customer(1), phoneNumberId: second.id })
      yield* said(own, customer(1), "START", own.start + 1)
      const chosen = yield* choose(own, { name: customer(1), source: "import", at: own.start + 2 })
      assert.isTrue(chosen.isNew)
      assert.strictEqual(yield* sent(own, customer(1), own.start + 3), refused)
      assert.strictEqual(yield* sent(own, customer(1), own.start + 3, second.id), refused)
    }))

  it.effect("the opt-out of an erased customer stays under all their names, and nothing else does", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const store = yield* ContactStore.ContactStore
      const second = yield* beside(own)
      yield* said(own, both(customer(1), "US.1"), "STOP")
      assert.strictEqual((yield* erase(own, "US.1", own.start + 1)).erased, 1)
      assert.strictEqual((yield* erase(own, "US.1", own.start + 1)).erased, 0)
      for (const to of [customer(1), "US.1"]) {
        assert.strictEqual(yield* sent(own, to), refused)
        assert.strictEqual(yield* sent(own, to, own.start, second.id), "Claimed")
      }
      assert.deepStrictEqual(yield* optOuts(own), [])
      assert.strictEqual(yield* store.countErased(own.workspace.id), 2)
      assert.deepStrictEqual(yield* store.named(own.workspace.id, "US.1"), [])
    }))

  it.effect("an erased customer who writes again stays opted out until START, or until somebody opts them in", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const store = yield* ContactStore.ContactStore
      for (const n of [1, 2, 3]) {
        yield* said(own, customer(n), "STOP")
        yield* erase(own, customer(n), own.start + 1)
      }
      // in the second of the message before
      yield* said(own, customer(1), "hello", own.start + 2)
      assert.strictEqual(yield* sent(own, customer(1), own.start + 2), refused)
      yield* said(own, both(customer(1), "US.1"), "START", own.start + 2)
      assert.strictEqual(yield* sent(own, customer(1), own.start + 3), "Claimed")
      yield* said(own, customer(2), "start!", own.start + 2)
      assert.strictEqual(yield* sent(own, customer(2), own.start + 3), "Claimed")
      const ended = yield* choose(own, { name: customer(3), preference: "opt_in", at: own.start + 3 })
      assert.isTrue(ended.isNew)
      assert.strictEqual(yield* sent(own, customer(3), own.start + 3), "Claimed")
      assert.strictEqual(yield* store.countErased(own.workspace.id), 0)
    }))

  it.effect("erasing a customer who has opted in again leaves nothing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const store = yield* ContactStore.ContactStore
      yield* said(own, both(customer(1), "US.1"), "STOP")
      yield* erase(own, customer(1), own.start + 1)
      yield* said(own, both(customer(1), "US.1"), "START", own.start + 2)
      yield* erase(own, customer(1), own.start + 3)
      assert.strictEqual(yield* sent(own, customer(1), own.start + 4), "Claimed")
      assert.strictEqual(yield* sent(own, "US.1", own.start + 4), "Claimed")
      assert.strictEqual(yield* store.countErased(own.workspace.id), 0)
    }))

  it.effect("an erased customer's move takes the opt-out along", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* said(own, customer(1), "STOP")
      yield* erase(own, customer(1), own.start + 1)
      yield* ContactStore.ContactStore.use((store) =>
        store.move({
          now: own.start + 2,
          hashes: MessageFixture.hashesOf(
            MessageFixture.customerOf(customer(1)),
            MessageFixture.customerOf(customer(2))
          ),
          providerNumberId: own.number.providerNumberId,
          from: MessageFixture.customerOf(customer(1)),
          to: MessageFixture.customerOf(customer(2)),
          at: own.start + 2
        })
      )
      assert.strictEqual(yield* sent(own, customer(2), own.start + 3), refused)
    }))

  it.effect("a customer who gets a user id that is opted out is opted out, even if they have opted in before", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const [from, to] = ["US.1", "US.2"].map(CustomerNames.customerOf) as [Contact.Customer, Contact.Customer]
      yield* choose(own, { name: "US.2" })
      yield* said(own, from, "START", own.start + 1)
      yield* ContactStore.ContactStore.use((store) =>
        store.move({
          now: own.start + 2,
          hashes: MessageFixture.hashesOf(from, to),
          providerNumberId: own.number.providerNumberId,
          from,
          to,
          at: own.start + 2
        })
      )
      for (const name of ["US.1", "US.2"]) assert.strictEqual(yield* sent(own, name, own.start + 3), refused)
    }))

  it.effect("erasing a customer keeps the opt-out of a name, even if their other names have opted in on the number", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const second = yield* beside(own)
      yield* choose(own, { name: customer(1), phoneNumberId: own.number.id })
      // only the other number knows that they are one customer
      yield* said({ ...own, number: second }, both(customer(1), "US.1"), "hello", own.start + 1)
      yield* said(own, CustomerNames.customerOf("US.1"), "START", own.start + 2)
      assert.strictEqual(yield* sent(own, customer(1), own.start + 3), refused)
      yield* erase(own, "US.1", own.start + 3)
      for (const name of [customer(1), "US.1"]) assert.strictEqual(yield* sent(own, name, own.start + 4), refused)
      assert.strictEqual(yield* sent(own, customer(1), own.start + 4, second.id), "Claimed")
    }))

  it.effect("opt-outs are listed by name with who set them, those of customers' own words by their contacts", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* said(own, customer(5), "STOP")
      yield* said(own, customer(6), "STOP")
      yield* inbound(own, { customer: customer(4) })
      yield* choose(own, { name: customer(4), source: "person" })
      yield* choose(own, { name: "US.9", source: "import" })
      yield* choose(own, { name: customer(3), phoneNumberId: own.number.id, at: own.start + 1 })
      const listed: ReadonlyArray<ContactStore.OptOut> = [
        { name: customer(3), phoneNumberId: own.number.id, at: own.start + 1, source: "api" },
        { name: customer(4), phoneNumberId: null, at: own.start, source: "person" },
        { name: "US.9", phoneNumberId: null, at: own.start, source: "import" },
        { name: customer(5), phoneNumberId: own.number.id, at: own.start, source: null },
        { name: customer(6), phoneNumberId: own.number.id, at: own.start, source: null }
      ]
      for (const limit of [1, 2, 3, 100]) assert.deepStrictEqual(yield* optOuts(own, limit), [...listed])
    }))
}
