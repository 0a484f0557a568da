import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { keyFor, keyOf, preferenceOf, preferenceOfChoice } from "../../src/contacts/Contact.ts"
import { checks } from "../checks.ts"

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
