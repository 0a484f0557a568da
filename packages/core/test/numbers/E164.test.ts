import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  getCountries,
  getCountryCallingCode,
  isPossiblePhoneNumber,
  parsePhoneNumberFromString
} from "libphonenumber-js/min"
import { E164 } from "../../src/numbers/E164.ts"
import { checks } from "../checks.ts"

const is = Schema.is(E164)

/** Whether the library reads the number as it is written. */
const isCanonical = (number: string): boolean =>
  isPossiblePhoneNumber(number) && parsePhoneNumberFromString(number)?.number === number

describe("a phone number in E.164", () => {
  it.each([
    "+12025550123",
    "+15005550001",
    "+442079460958",
    "+5511999999999",
    "+33123456789",
    "+81312345678",
    "+4930123456",
    "+8613812345678",
    "+919812345678"
  ])("%s", (text) => {
    assert.isTrue(is(text))
  })

  it.each([
    "",
    "+",
    "12025550123",
    "0012025550123",
    "+02025550123",
    "+1 202 555 0123",
    "+1-202-555-0123",
    "+1(202)5550123",
    "+1.202.555.0123",
    "tel:+12025550123",
    "+12025550123 ",
    " +12025550123",
    "+12025550123\n",
    "+1202555012a",
    "+1202555０１２３",
    "＋12025550123",
    "++12025550123",
    "+12025550123;ext=1",
    // too short and too long for their country
    "+1202555",
    "+120255501234",
    "+1",
    "+5",
    "+1234567890123456",
    // not assigned to a country
    "+999123456789"
  ])("%j is refused", (text) => {
    assert.isFalse(is(text))
  })

  it.prop("any accepted text is a plus and digits", { text: Schema.String }, ({ text }) => {
    if (is(text)) assert.match(text, /^\+[1-9][0-9]{1,14}$/)
  }, checks)

  it.prop("any seven digits after a North American area code are possible", {
    rest: Schema.String.check(Schema.isPattern(/^[2-9][0-9]{6}$/))
  }, ({ rest }) => {
    assert.isTrue(is(`+1202${rest}`))
    assert.isFalse(is(`+1202${rest.slice(1)}`))
  }, checks)

  it("valid numbers are those that libphonenumber reads as they are, after every calling code", () => {
    // digits that begin with a national prefix, an area code or a carrier code somewhere
    const beginnings = ["", "0", "00", "0111", "1", "11", "15", "2", "268", "34", "39", "5", "6", "7", "8", "9"]
    const codes = new Set([...getCountries().map((country) => getCountryCallingCode(country)), "800", "883", "999"])
    for (const code of codes) {
      for (let length = 1; length <= 15 - code.length; length++) {
        for (const beginning of beginnings) {
          const number = `+${code}${(beginning + "23456789012345").slice(0, length)}`
          assert.strictEqual(is(number), isCanonical(number), number)
        }
      }
    }
  })

  it.prop("valid numbers are those that libphonenumber reads as they are", {
    digits: Schema.String.check(Schema.isPattern(/^[1-9][0-9]{6,14}$/))
  }, ({ digits }) => {
    assert.strictEqual(is(`+${digits}`), isCanonical(`+${digits}`))
  }, checks)

  it("the error states what is expected and not what was given", () => {
    try {
      Schema.decodeSync(E164)("+1 555 secret")
      assert.fail("it was taken")
    } catch (error) {
      assert.include(String(error), "must be a phone number in E.164 format")
      assert.notInclude(String(error), "secret")
    }
  })
})
