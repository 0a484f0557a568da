import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  getCountries,
  getCountryCallingCode,
  isPossiblePhoneNumber,
  Metadata,
  parsePhoneNumberFromString
} from "libphonenumber-js/min"
import { addressed, formsOf, isKnownAs, judge, keyOf, refusal } from "../../src/contacts/CustomerNames.ts"
import { canonicalOf } from "../../src/numbers/E164.ts"
import { checks } from "../checks.ts"
import { contact } from "../samples.ts"

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
  ])("the key of a number without other forms is the number itself: %s", (_, number) => {
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
})

/** The national prefix of each country that has one. */
const prefixed = getCountries().flatMap((country) => {
  const metadata = new Metadata()
  metadata.selectNumberingPlan(country)
  const plan = metadata.numberingPlan as unknown as { readonly nationalPrefix: () => unknown }
  const prefix = plan.nationalPrefix()
  const code = getCountryCallingCode(country)
  // where there is none, the metadata may have the number 0 in its place
  return typeof prefix !== "string" || prefix === ""
    ? []
    : [{ country, code, prefix, lengths: metadata.numberingPlan!.possibleLengths() }]
})

/** What the library reads, as often as that changes something. */
const readAsIs = (text: string): string => {
  const read = parsePhoneNumberFromString(text)?.number
  return read === undefined || read === text || !isPossiblePhoneNumber(read) ? text : readAsIs(read)
}

const Digits = Schema.String.check(Schema.isPattern(/^[2-9][0-9]{16}$/))

describe("a number with a national prefix after its country code", () => {
  it.prop("a number with a national prefix names the same customer, and is refused with the number that was meant", {
    digits: Digits
  }, ({ digits }) => {
    assert.isAtLeast(prefixed.length, 100)
    for (const { code, country, lengths, prefix } of prefixed) {
      for (const length of lengths) {
        const [meant, written] = [`+${code}`, `+${code}${prefix}`].map((start) => start + digits.slice(0, length))
        const read = parsePhoneNumberFromString(written!)
        // a few plans have numbers that begin with their own prefix, and numbers that are longer than E.164 has it
        if (read?.number !== meant || readAsIs(meant!) !== meant || written!.length > 16) continue
        assert.strictEqual(keyOf(written!), keyOf(meant!), country)
        assert.include(formsOf(keyOf(meant!)), written, country)
        assert.deepStrictEqual(judge(written!), { _tag: "NotCanonical", canonical: meant! }, country)
        assert.include(refusal(written!, true)!.message, meant!, country)
        assert.isUndefined(refusal(meant!, false), country)
      }
    }
  }, { arbitrary: { ...checks.arbitrary, runs: 20 } })

  it.prop(
    "a number with a national prefix is read as by libphonenumber, whatever the digits",
    { digits: Digits },
    ({ digits }) => {
      for (const code of new Set(getCountries().map((country) => getCountryCallingCode(country)))) {
        for (const start of ["", "0", "1", "8", "06", "0015"]) {
          for (const length of [6, 8, 9, 10, 11]) {
            const text = `+${code}${(start + digits).slice(0, length)}`
            assert.strictEqual(canonicalOf(text), readAsIs(text), text)
            assert.strictEqual(keyOf(keyOf(text)), keyOf(text), text)
          }
        }
      }
    },
    { arbitrary: { ...checks.arbitrary, runs: 5 } }
  )

  it.each(["+390612345678", "+2250712345678", "+2290197123456"])("%s has a zero of its own", (number) => {
    assert.strictEqual(keyOf(number), number)
    assert.isUndefined(refusal(number, false))
  })
})

describe("a name in a request", () => {
  it.each(lines)("either form of a line in %s names the same customer: %s and %s", (_, long, short) => {
    for (const form of [long, short]) {
      assert.isUndefined(refusal(form, false))
      assert.includeMembers([...formsOf(keyOf(form))], [long, short])
    }
  })

  it.each(["+22997123456", "+22507123456", "foo_bar", "+1202555"])(
    "%s is one only if the workspace knows a customer by it",
    (name) => {
      assert.strictEqual(refusal(name, false)?.param, "to")
      assert.isUndefined(refusal(name, true))
      assert.isUndefined(refusal(name, contact({ key: name })))
      assert.isDefined(refusal(name, contact()))
    }
  )

  it.each(["+4407123456789", "+15", "", "a b", "+"])("%s is refused by the name of the field that has it", (name) => {
    const refused = refusal(name, false, "name")
    assert.strictEqual(refused?.param, "name")
    assert.match(refused!.message, /^name (has|must be|is not) /)
  })
})

describe("the recipient of a message", () => {
  it.each([
    ["+12025550123", { phone: "+12025550123", userId: "US.1" }, { phone: "+12025550123", userId: "US.1" }],
    ["+5215512345678", { phone: "+525512345678", userId: null }, { phone: "+5215512345678", userId: null }],
    ["+2290197123456", { phone: "+22997123456", userId: null }, {
      phone: "+2290197123456",
      userId: null,
      aliases: ["+22997123456"]
    }],
    ["US.1", { phone: "+12025550123", userId: null }, { phone: "+12025550123", userId: "US.1" }],
    ["US.ENT.9", { phone: null, userId: "US.1" }, { phone: null, userId: "US.1", aliases: ["US.ENT.9"] }],
    ["US.1", undefined, { phone: null, userId: "US.1" }]
  ])("%s is the one whom we wrote to, with the names that the provider reports", (to, told, expected) => {
    assert.deepStrictEqual(addressed(to, told), expected)
    assert.isTrue(
      isKnownAs({ key: keyOf(expected.phone ?? expected.userId!), customer: expected as never }, addressed(to, told))
    )
  })
})
