/**
 * Reads the names of customers in files, as people and spreadsheets write them (contract §11): with separators,
 * invisible marks, or a lost plus. The result is a name in the form that a send takes. Pure.
 */
import { Schema } from "effect"
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString
} from "libphonenumber-js/min"
import { isValidPhoneNumber as isMobile } from "libphonenumber-js/mobile"
import { cellOf } from "../campaigns/CsvDialect.ts"
import { canonicalOf, e164Expected, isE164 } from "../numbers/E164.ts"
import * as CustomerNames from "./CustomerNames.ts"

const countryExpected = "must be a country in ISO 3166-1 alpha-2, such as DE, whose numbering plan is known"

/** The country of numbers that are written without a country code, as ISO 3166-1 alpha-2. */
export const DefaultCountry = Schema.String.check(
  Schema.makeFilter((text: string) => isSupportedCountry(text) || countryExpected, {
    toJsonSchema: () => ({ enum: getCountries().toSorted() })
  })
).annotate({
  description: "The country of the numbers without a country code, in ISO 3166-1 alpha-2",
  examples: ["DE"]
})

/** The calling code of each {@link DefaultCountry}, such as `49`. */
export const callingCodes = (): { readonly [country: string]: string } =>
  Object.fromEntries(getCountries().toSorted().map((country) => [country, getCountryCallingCode(country)]))

/** The name that a text stands for, or what is wrong with the text. The issue does not quote the text. */
export type Read = { readonly to: string } | { readonly issue: string }

/** Characters without a width, such as copying from a contact list may add. */
const invisible = /[\p{Cf}\uFE00-\uFE0F]/gu

/** The separators that people write between the digits of a number. */
const separators = /[\s\p{Pd}\u2212()./\u00B7\u2022'\u2019]/gu

/** Replaces the digits of any script by ASCII digits. In Unicode, the ten digits of a script are consecutive. */
const asciiDigits = (text: string): string =>
  text.replace(/[^\P{Nd}0-9]/gu, (digit) => {
    const code = digit.codePointAt(0)!
    let zero = code
    while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--
    return `${code - zero}`
  })

/** A number that a spreadsheet has shortened, with the loss of digits: `1.55512E+10`. */
const scientific = /^\+?\d(?:[.,]\d*)?[Ee]\+?\d{1,3}$/

/** A number that a program has written as a decimal number: `15551234567.0`. */
const decimal = /^(\+?\d+)[.,]0+$/

const nationalIn = (digits: string, country: CountryCode): string | undefined => {
  const parsed = parsePhoneNumberFromString(digits, { defaultCountry: country, extract: false })
  return parsed !== undefined && parsed.ext === undefined && isE164(parsed.number) ? parsed.number : undefined
}

/** The digits as a number with its country code, of which only the plus is missing; `undefined` if they are not one. */
const internationalIn = (digits: string, country: CountryCode): string | undefined => {
  if (!digits.startsWith(getCountryCallingCode(country))) return undefined
  const number = canonicalOf(`+${digits}`)
  return CustomerNames.judge(number)._tag === "Valid" ? number : undefined
}

const inCountry = (digits: string, country: CountryCode): Read => {
  const [national, international] = [nationalIn(digits, country), internationalIn(digits, country)]
  const number = national ?? international
  if (number === undefined) return { issue: `is no phone number in ${country}, and has no + and country code` }
  if (international === undefined || number === international) return { to: number }
  // both readings are valid: take the mobile number if only one is mobile, since almost all customers have a mobile
  // phone
  const isNational = isMobile(number)
  if (isNational !== isMobile(international)) return { to: isNational ? number : international }
  return { issue: `may be a number in ${country} or begin with the country code: write it with + and the country code` }
}

/**
 * Reads a name in a file. `country` is the country of numbers without a country code. Numbers may have separators, `00`
 * in place of the plus, and digits of any script. A user id stays as it is.
 */
export const read = (written: string, country: string | undefined): Read => {
  const text = cellOf(written.normalize("NFKC").replaceAll(invisible, "")).trim()
    // our own reports and people put an apostrophe before a number, so that a spreadsheet does not read it
    .replace(/^'/, "").replace(/^tel:/i, "").trim()
  if (text === "") return { issue: "is empty" }
  if (CustomerNames.isUserId(text)) {
    return CustomerNames.foreignPattern.test(text) ? { to: text } : { issue: e164Expected }
  }
  const plain = asciiDigits(text)
  if (scientific.test(plain.replaceAll(/\s/g, ""))) {
    return {
      issue: "a spreadsheet has shortened the number to this, and its last digits are lost: " +
        "format the column as text, enter the numbers again, and save the file again"
    }
  }
  const digits = plain.replace(decimal, "$1").replaceAll(separators, "").replace(/^00(?=[1-9])/, "+")
  if (CustomerNames.numberPattern.test(digits)) return { to: canonicalOf(digits) }
  if (!/^\d{4,17}$/.test(digits)) return { issue: e164Expected }
  return country === undefined
    ? { issue: "has no country code: write it with + and the country code, or name the country of the file's numbers" }
    : inCountry(digits, country as CountryCode)
}
