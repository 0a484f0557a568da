import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type Contact, type Customer, idOf, keysOf, leave, prefer } from "../../src/contacts/Contact.ts"
import { follow, merge, rename, resolve } from "../../src/contacts/ContactMerge.ts"
import { keysIn } from "../../src/contacts/CustomerNames.ts"
import { between, checks, upTo } from "../checks.ts"
import { contact, id } from "../samples.ts"

const number = { id: id("pn"), workspaceId: id("ws") }
const phone = "+12025550123"
const userId = "US.1"
const byPhone: Customer = { phone, userId: null }
const byUser: Customer = { phone: null, userId }
const byBoth: Customer = { phone, userId }

/** Finds one of these contacts by a name. */
const among = (...contacts: ReadonlyArray<Contact>) => (name: string): Contact | undefined =>
  contacts.find((one) => one.key === name || keysIn(one.customer).includes(name))

/** A contact as it is after the customer was named so at a time. */
const metAs = (customer: Customer, at: number, fields: Partial<Contact> = {}): Contact => ({
  ...resolve(number, customer, among(), at).contact,
  ...fields
})

const idWith = (name: string) => `${number.id}:${name}`

describe("a customer who is named by number and user id together", () => {
  it("a customer who is first named by both is a new contact with the number in its id", () => {
    const { contact, gone, left } = resolve(number, byBoth, among(), 5)
    assert.deepStrictEqual([contact.customer, contact.key, idOf(contact)], [byBoth, phone, idWith(phone)])
    assert.deepStrictEqual([gone, left], [[], []])
  })

  it("a contact with a user id keeps its id when the number becomes known", () => {
    const before = metAs(byUser, 5, { lastInboundAt: 5 })
    // an older report brings the number
    const { contact, gone } = resolve(number, byBoth, among(before), 3)
    assert.deepStrictEqual([contact.customer, contact.key, contact.lastInboundAt], [byBoth, phone, 5])
    assert.deepStrictEqual([idOf(contact), gone], [idOf(before), [before]])
    // whatever comes later
    for (const customer of [byBoth, byUser, byPhone]) {
      const { contact: later } = resolve(number, customer, among(contact), 9)
      assert.deepStrictEqual(later, contact)
    }
  })

  it.each([[5, 7, userId], [7, 5, phone], [5, 5, phone]])(
    "a merged contact keeps the older of two ids: the user id's since %i, the number's since %i",
    (ofUser, ofPhone, name) => {
      const known = [metAs(byUser, ofUser), metAs(byPhone, ofPhone)] as const
      assert.strictEqual(idOf(resolve(number, byBoth, among(...known), 9).contact), idWith(name))
      // a contact of an older version is older than all others
      const ofOld = among({ ...known[0], knownSince: null }, known[1])
      assert.strictEqual(idOf(resolve(number, byBoth, ofOld, 9).contact), idWith(userId))
    }
  )

  it("a customer who moves keeps an id that is made of the user id, and leaves one that is made of the old number", () => {
    const from = "+12025550199"
    const old = metAs({ phone: from, userId }, 5, { lastInboundAt: 5 })
    const moved = resolve(number, byBoth, among(old), 9)
    assert.deepStrictEqual([moved.contact, ...moved.left].map(idOf), [idWith(phone), idWith(from)])
    assert.deepStrictEqual(moved.left[0]!.customer, { phone: from, userId: null })
    const first = resolve(number, byBoth, among({ ...old, isUserFirst: true }), 9)
    assert.deepStrictEqual([first.contact, ...first.left].map(idOf), [idWith(userId), idWith(from)])
  })

  it("a number that is reported with another user id goes to that customer with its opt-out and without the window", () => {
    const before = metAs(byBoth, 1, { lastInboundAt: 5, optedOut: true, preferenceAt: 4 })
    const { contact, gone, left } = resolve(number, { phone, userId: "US.2" }, among(before), 9)
    assert.deepStrictEqual([contact.key, contact.customer], [phone, { phone, userId: "US.2" }])
    assert.deepStrictEqual([contact.lastInboundAt, contact.optedOut, contact.preferenceAt], [null, true, 4])
    assert.deepStrictEqual(left, [{ ...before, key: userId, customer: byUser, isUserFirst: true }])
    assert.deepStrictEqual(gone, [])
    // an older notice does not take the number from the one who has written since
    assert.deepStrictEqual(resolve(number, { phone, userId: "US.2" }, among(before), 4).contact, before)
    // the new owner may be known already, by another number
    const other = metAs({ phone: "+12025550199", userId: "US.2" }, 2, { lastInboundAt: 3 })
    const both = resolve(number, { phone, userId: "US.2" }, among(before, other), 9)
    assert.deepStrictEqual([both.contact.customer, both.contact.lastInboundAt, both.contact.optedOut], [
      { phone, userId: "US.2" },
      3,
      true
    ])
    assert.deepStrictEqual(
      both.left.map(({ customer, key, lastInboundAt }) => [key, customer, lastInboundAt]),
      [[userId, byUser, 5], ["+12025550199", { phone: "+12025550199", userId: null }, null]]
    )
  })

  it("a contact has every form of the number that the provider reports, and keeps the older key", () => {
    const forms = { phone: "+2290197123456", userId: null, aliases: ["+22997123456"] }
    const { contact } = resolve(number, forms, among(), 5)
    assert.deepStrictEqual([contact.key, contact.customer], ["+2290197123456", forms])
    assert.deepStrictEqual(keysOf("+22997123456", contact), ["+2290197123456", "+22997123456"])
    const inbound = metAs({ phone: "+22997123456", userId: null }, 3, { lastInboundAt: 3 })
    const sent = metAs({ phone: "+2290197123456", userId: "BJ.1" }, 4, { optedOut: true, preferenceAt: 4 })
    const joined = resolve(number, forms, among(inbound, sent), 9)
    assert.deepStrictEqual(joined.contact, {
      ...inbound,
      customer: { phone: "+22997123456", userId: "BJ.1", aliases: ["+2290197123456"] },
      optedOut: true,
      preferenceAt: 4
    })
    assert.deepStrictEqual([joined.gone, joined.left], [[sent], []])
  })

  it("a late report of two written forms leaves a form to the customer who has written from it since", () => {
    const [long, short] = ["+2290197123456", "+22997123456"]
    const mine = metAs({ phone: long, userId: "BJ.1" }, 2, { lastInboundAt: 2 })
    const theirs = metAs({ phone: short, userId: "BJ.2" }, 3, { lastInboundAt: 7 })
    for (const contacts of [[mine, theirs], [theirs, mine]]) {
      const forms = { phone: long, userId: "BJ.1", aliases: [short] }
      const { contact, gone, left } = resolve(number, forms, among(...contacts), 5)
      assert.deepStrictEqual([contact, left, gone], [mine, [], []])
      // a report of now gives the line to one of them
      const now = resolve(number, forms, among(...contacts), 9)
      assert.deepStrictEqual(now.contact.customer, forms)
      assert.deepStrictEqual(now.left.map(({ customer }) => customer), [{ phone: null, userId: "BJ.2" }])
      assert.deepStrictEqual(now.gone, [theirs])
    }
  })

  it("a contact is found by the parent of its user id, and a contact with the parent alone is merged into it", () => {
    const parent = "US.ENT.9"
    const told = { phone: null, userId, aliases: [parent] }
    const alone = metAs({ phone: null, userId: parent }, 3, { optedOut: true, preferenceAt: 3 })
    const { contact, gone } = resolve(number, told, among(alone), 5)
    assert.deepStrictEqual([contact.key, contact.customer, contact.optedOut], [userId, told, true])
    assert.deepStrictEqual(gone, [alone])
    assert.deepStrictEqual(resolve(number, { phone: null, userId: parent }, among(contact), 7).contact, contact)
    const numbered = resolve(number, byBoth, among(contact), 7)
    assert.deepStrictEqual(numbered.contact.customer, { phone, userId, aliases: [parent] })
  })

  it("a contact whose user id alone changes keeps its number, window and id", () => {
    const before = metAs(byBoth, 3, { lastInboundAt: 3 })
    const renamed = rename(before, { phone: null, userId: "US.2" }, undefined)
    assert.deepStrictEqual(renamed, {
      contact: { ...before, customer: { phone, userId: "US.2", aliases: [userId] } },
      gone: []
    })
    const nameless = metAs(byUser, 3, { lastInboundAt: 3 })
    const other = metAs({ phone: null, userId: "US.2" }, 4, { optedOut: true, preferenceAt: 4 })
    const merged = rename(nameless, { phone: null, userId: "US.2" }, other)
    assert.deepStrictEqual(merged?.contact.customer, { phone: null, userId: "US.2", aliases: [userId] })
    assert.deepStrictEqual([merged?.contact.lastInboundAt, merged?.contact.optedOut], [3, true])
    assert.deepStrictEqual(merged?.gone, [nameless])
  })
})

const Time = Schema.NullOr(between(1, 9))
const Known = Schema.Struct({ lastInboundAt: Time, optedOut: Schema.Boolean, preferenceAt: Time, knownSince: Time })
/** Nobody opts out without a time. */
const made = (known: typeof Known.Type): Contact =>
  contact({ ...known, optedOut: known.optedOut && known.preferenceAt !== null })

describe("two contacts of one customer", () => {
  it.prop("merged contacts have the later window, and are opted out if either was, in either order", {
    known: Schema.Struct({ one: Known, other: Known })
  }, ({ known }) => {
    const [one, other] = [made(known.one), made(known.other)]
    const merged = merge(one, other)
    assert.deepStrictEqual(merged, merge(other, one))
    assert.deepStrictEqual(merge(merged, other), merged)
    assert.strictEqual(merged.optedOut, one.optedOut || other.optedOut)
    assert.strictEqual(merged.lastInboundAt ?? 0, Math.max(one.lastInboundAt ?? 0, other.lastInboundAt ?? 0))
    // only a later preference ends the opt-out
    const latest = Math.max(one.preferenceAt ?? 0, other.preferenceAt ?? 0)
    assert.isFalse(prefer(merged, "opt_in", latest + 1).optedOut)
    if (merged.optedOut) assert.isTrue(prefer(merged, "opt_in", latest).optedOut)
  }, checks)

  it.prop("repeated reports of a move change nothing, and the newest preference stays", {
    known: Schema.Struct({ before: Known, after: Known }),
    later: upTo(between(10, 20), 3)
  }, ({ known, later }) => {
    const left = leave(made(known.before))
    const moved = later.reduce(
      (one, at) => prefer(one, "opt_in", at),
      follow(made(known.after), made(known.before))
    )
    assert.deepStrictEqual(follow(moved, left), moved)
  }, checks)
})
