import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as WrittenName from "../../src/contacts/WrittenName.ts"

const read = (text: string, country?: string): string => {
  const result = WrittenName.read(text, country)
  return "to" in result ? result.to : assert.fail(`${text}: ${result.issue}`)
}

const issue = (text: string, country?: string): string => {
  const result = WrittenName.read(text, country)
  return "issue" in result ? result.issue : assert.fail(`${text} is ${result.to}`)
}

const number = "+12025550123"

describe("a customer's name in a file", () => {
  it.each([
    [number],
    ["+1 (202) 555-0123"],
    [" '+1.202.555.0123 "],
    [`="+12025550123"`],
    [`="+1 202 555 0123"`],
    ["\u202A+1\u00A0202\u2011555\u20110123\u202C"],
    ["\u200E+1 202–555—0123"],
    ["+1\u2212202\u2212555\u22120123"],
    ["＋１２０２５５５０１２３"],
    ["+١٢٠٢٥٥٥٠١٢٣"],
    ["tel:+1-202-555-0123"],
    ["0012025550123"],
    ["00 1 202 555 0123"],
    ["+12025550123.0"]
  ])("a number is read from %s", (text) => assert.strictEqual(read(text), number))

  it("a written number loses a national zero after the country code, except Italy's", () => {
    assert.strictEqual(read("+44 (0)7123 456789"), "+447123456789")
    assert.strictEqual(read("0044 07123 456789"), "+447123456789")
    assert.strictEqual(read("+39 06 1234 5678"), "+390612345678")
  })

  it("a written user id is taken as it is", () => {
    assert.strictEqual(read(" US.13491208655302741918 "), "US.13491208655302741918")
  })

  it.each(
    [
      ["(202) 555-0123", "US", number],
      ["2025550123", "US", number],
      ["12025550123", "US", number],
      ["12025550123.0", "US", number],
      ["011 44 7123 456789", "US", "+447123456789"],
      ["0044 7123 456789", "US", "+447123456789"],
      ["+44 7123 456789", "US", "+447123456789"],
      ["07123 456789", "GB", "+447123456789"],
      ["7123456789", "GB", "+447123456789"],
      ["447123456789", "GB", "+447123456789"],
      ["4407123456789", "GB", "+447123456789"],
      ["0170 1234567", "DE", "+491701234567"],
      ["1701234567", "DE", "+491701234567"],
      // a plus that Excel has dropped: the national number with these digits is no mobile phone's
      ["491701234567", "DE", "+491701234567"],
      ["333 1234567", "IT", "+393331234567"],
      ["3933312345", "IT", "+393933312345"],
      ["0612345678", "IT", "+390612345678"],
      ["5215512345678", "MX", "+5215512345678"],
      ["5512345678", "MX", "+525512345678"],
      ["9170123456", "IN", "+919170123456"],
      ["551187654444", "BR", "+551187654444"]
    ] as const
  )(
    "without a plus, %s is of the country %s",
    (text, country, expected) => assert.strictEqual(read(text, country), expected)
  )

  it("a national number is refused without a country", () => {
    assert.include(issue("12025550123"), "has no country code")
    assert.include(issue("(0170) 1234567"), "has no country code")
  })

  it("a number that may be either of two is refused", () => {
    // 0491 1234567, or +49 1 1234567
    const ambiguous = issue("4911234567", "DE")
    assert.match(ambiguous, /^may be a number in DE or begin with the country code: write it with \+/)
    // rows with the same problem are counted by the message, which outlives an erased customer
    assert.notMatch(ambiguous, /\d/)
  })

  it.each(["1.55512E+10", "1,55512E+10", "1.55512e10", "4E+11", "+1.5E+10"])(
    "a number that a spreadsheet has cut to %s is refused with the cause",
    (text) => {
      for (const country of [undefined, "US"]) assert.include(issue(text, country), "its last digits are lost")
    }
  )

  it.each(["", "   ", "\u200E", "12", "+1", "1'234.50 €", "2025550123 or 2025550124", "+12025550123456789"])(
    "no name can be read from '%s'",
    (text) => {
      for (const country of [undefined, "US"]) assert.notStrictEqual(issue(text, country), "")
    }
  )

  it("a country is one whose numbering plan is known, in capitals", () => {
    for (const text of ["DE", "US", "BJ"]) assert.strictEqual(Schema.decodeSync(WrittenName.DefaultCountry)(text), text)
    for (const text of ["de", "ZZ", "", "DEU"]) {
      assert.throws(() => Schema.decodeSync(WrittenName.DefaultCountry)(text), /ISO 3166-1/)
    }
  })
})
