import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  type Contact,
  type Customer,
  follow,
  idOf,
  keyFor,
  keyOf,
  keysOf,
  leave,
  meet,
  merge,
  named,
  prefer,
  preferenceOf,
  preferenceOfChoice
} from "../../src/contacts/Contact.ts"
import { between, checks, upTo } from "../checks.ts"
import { contact, id } from "../samples.ts"

const words = {
  opt_out: ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT"],
  opt_in: ["START", "UNSTOP"]
} as const

/** Lines with two number forms each: long and short. */
const lines: ReadonlyArray<readonly [country: string, long: string, short: string]> = [
  ["Brazil", "+5511987654321", "+551187654321"],
  ["Brazil", "+5599961234567", "+559961234567"],
  ["Mexico", "+5215512345678", "+525512345678"],
  ["Argentina", "+5491123456789", "+541123456789"]
]

/** Numbers of countries with and without variants. */
const Number = Schema.Union([
  Schema.String.check(Schema.isPattern(/^\+55[1-9]{2}9?[2-9][0-9]{7}$/)),
  Schema.String.check(Schema.isPattern(/^\+521?[0-9]{10}$/)),
  Schema.String.check(Schema.isPattern(/^\+549?[0-9]{10}$/)),
  Schema.String.check(Schema.isPattern(/^\+[1-9][0-9]{6,13}$/))
])

describe("the keys of a contact", () => {
  it.each(lines)("both forms of a line in %s have the same key: %s and %s", (_, long, short) => {
    assert.strictEqual(keyOf(long), keyOf(short))
  })

  it.each([
    ["a fixed line of Brazil has no ninth digit", "+551132345678"],
    ["what begins with 9 and a digit of fixed lines is a mobile of its own", "+5511932345678"],
    ["a number of Brazil that is too short", "+55118765432"],
    ["a number of Mexico", "+525512345678"],
    ["a number of Argentina", "+541123456789"],
    ["a country whose code begins alike", "+5219876543"],
    ["anywhere else", "+12025550123"]
  ])("is the number itself: %s", (_, number) => {
    assert.strictEqual(keyOf(number), number)
  })

  it.prop("a key is its own key", { number: Number }, ({ number }) => {
    assert.strictEqual(keyOf(keyOf(number)), keyOf(number))
  }, checks)

  it.prop("a key is the number itself, or that number with or without the one digit", {
    number: Number
  }, ({ number }) => {
    const key = keyOf(number)
    const others = [
      key.replace(/^\+52/, "+521"),
      key.replace(/^\+54/, "+549"),
      key.replace(/^(\+55[1-9]{2})9([6-9][0-9]{7})$/, "$1$2")
    ]
    assert.include([key, ...others], number)
  }, checks)

  it("the key is the provider's user id if no number is known, else the number", () => {
    assert.strictEqual(keyFor({ phone: null, userId: "US.1" }), "US.1")
    assert.strictEqual(keyFor({ phone: "+551187654321", userId: "BR.1" }), "+5511987654321")
    assert.strictEqual(keyFor({ phone: "+551187654321", userId: null }), "+5511987654321")
  })
})

describe("the preference in a button's label", () => {
  it.each(
    [
      ...["STOP", "Stop", "stopall", "Unsubscribe", "Stop promotions", " STOP PROMOTIONS "]
        .map((label) => [label, "opt_out"] as const),
      ...["START", "Unstop"].map((label) => [label, "opt_in"] as const),
      ...["Cancel", "END", "Quit", "Cancel order", "Stop order", "Yes", "", "toString"]
        .map((label) => [label, undefined] as const)
    ]
  )("%j: %s", (label, preference) => {
    assert.strictEqual(preferenceOfChoice(label), preference)
  })
})

describe("the preference in a customer's text", () => {
  for (const preference of ["opt_out", "opt_in"] as const) {
    it.each(words[preference])(`%s means ${preference}, in any case, with white space around it`, (word) => {
      const capitalised = word.charAt(0) + word.slice(1).toLowerCase()
      for (
        const text of [word, word.toLowerCase(), capitalised, ` ${word}`, `${word}\n`, `\t${word.toLowerCase()} \r\n`]
      ) {
        assert.strictEqual(preferenceOf(text), preference, JSON.stringify(text))
      }
    })
  }

  it.each([
    "",
    " ",
    "STOP.",
    "STOP!",
    "\"STOP\"",
    "STOP STOP",
    "please stop",
    "Stop sending me this",
    "don't stop",
    "S T O P",
    "STOP ALL",
    "STOP-ALL",
    "STOPP",
    "NONSTOP",
    "unsubscribe me",
    "the end",
    "ended",
    "restart",
    "start now",
    "YES",
    "HELP",
    "PARAR",
    "👋",
    "ＳＴＯＰ",
    "toString",
    "__proto__"
  ])("%j: nothing", (text) => {
    assert.isUndefined(preferenceOf(text))
  })

  it.prop("only exactly a word counts", {
    before: Schema.String,
    word: Schema.Literals([...words.opt_out, ...words.opt_in]),
    after: Schema.String
  }, (_) => {
    const text = _.before + _.word + _.after
    const all: ReadonlyArray<string> = [...words.opt_out, ...words.opt_in]
    assert.strictEqual(preferenceOf(text) !== undefined, all.includes(text.trim().toUpperCase()))
  }, checks)
})

const number = { id: id("pn"), workspaceId: id("ws") }
const phone = "+12025550123"
const userId = "US.1"
const byPhone: Customer = { phone, userId: null }
const byUser: Customer = { phone: null, userId }
const byBoth: Customer = { phone, userId }

/** A contact as it is after the customer was named so at a time. */
const metAs = (customer: Customer, at: number, fields: Partial<Contact> = {}): Contact => ({
  ...meet(number, customer, { byKey: undefined, byUser: undefined }, at).contact,
  ...fields
})

const idWith = (name: string) => `${number.id}:${name}`

describe("a customer who is named by number and user id together", () => {
  it("is a new contact, which has the number in its id", () => {
    const { contact, gone, left } = meet(number, byBoth, { byKey: undefined, byUser: undefined }, 5)
    assert.deepStrictEqual([contact.customer, contact.key, idOf(contact)], [byBoth, phone, idWith(phone)])
    assert.deepStrictEqual([gone, left], [undefined, undefined])
  })

  it("stays the contact that the user id had, with its id, when the number becomes known", () => {
    const before = metAs(byUser, 5, { lastInboundAt: 5 })
    // an older report brings the number
    const { contact, gone } = meet(number, byBoth, { byKey: undefined, byUser: before }, 3)
    assert.deepStrictEqual([contact.customer, contact.key, contact.lastInboundAt], [byBoth, phone, 5])
    assert.deepStrictEqual([idOf(contact), gone], [idOf(before), before])
    // whatever comes later
    for (const customer of [byBoth, byUser, byPhone]) {
      const { contact: later } = meet(number, customer, { byKey: contact, byUser: contact }, 9)
      assert.deepStrictEqual(later, contact)
    }
  })

  it.each([[5, 7, userId], [7, 5, phone], [5, 5, phone]])(
    "keeps the older of two ids: the user id's since %i, the number's since %i",
    (ofUser, ofPhone, name) => {
      const known = { byUser: metAs(byUser, ofUser), byKey: metAs(byPhone, ofPhone) }
      assert.strictEqual(idOf(meet(number, byBoth, known, 9).contact), idWith(name))
      // a contact of an older version is older than all others
      const ofOld = { ...known, byUser: { ...known.byUser, knownSince: null } }
      assert.strictEqual(idOf(meet(number, byBoth, ofOld, 9).contact), idWith(userId))
    }
  )

  it("takes along an id that is made of their user id, and no id that is made of a number that they leave", () => {
    const from = "+12025550199"
    const old = metAs({ phone: from, userId }, 5, { lastInboundAt: 5 })
    const moved = meet(number, byBoth, { byKey: undefined, byUser: old }, 9)
    assert.deepStrictEqual([moved.contact, moved.left].map((one) => idOf(one!)), [idWith(phone), idWith(from)])
    assert.deepStrictEqual(moved.left!.customer, { phone: from, userId: null })
    const first = meet(number, byBoth, { byKey: undefined, byUser: { ...old, isUserFirst: true } }, 9)
    assert.deepStrictEqual([first.contact, first.left].map((one) => idOf(one!)), [idWith(userId), idWith(from)])
  })

  it("an id leads back to the number's id and the customer's name", () => {
    for (const customer of [byPhone, byUser, byBoth]) {
      const one = metAs(customer, 5)
      assert.deepStrictEqual(named(idOf(one)), { phoneNumberId: number.id, name: one.key })
    }
  })

  it("has the same keys whatever a send names", () => {
    const both = metAs(byBoth, 5)
    assert.deepStrictEqual([keysOf(phone, both), keysOf(userId, both)], [[phone, userId], [phone, userId]])
    assert.deepStrictEqual(keysOf(userId, metAs(byUser, 5)), [userId])
    assert.deepStrictEqual([keysOf(phone, undefined), keysOf(userId, undefined)], [[phone], [userId]])
  })
})

const Time = Schema.NullOr(between(1, 9))
const Known = Schema.Struct({ lastInboundAt: Time, optedOut: Schema.Boolean, preferenceAt: Time, knownSince: Time })
/** Nobody opts out without a time. */
const made = (known: typeof Known.Type): Contact =>
  contact({ ...known, optedOut: known.optedOut && known.preferenceAt !== null })

describe("two contacts of one customer", () => {
  it.prop("have the later window, and are opted out if either was, in whatever order they are merged", {
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

  it.prop("of a customer who moved may be told of again and again, and the newest preference stays", {
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
