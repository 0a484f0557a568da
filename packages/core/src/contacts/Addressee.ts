/**
 * What a send names its customer by (contract §3): the phone number, or the business-scoped user id if the customer is
 * known by user name only. Pure.
 */
import { Schema } from "effect"
import { e164Expected, isE164, possiblePattern } from "../numbers/PhoneNumber.ts"
import type { Customer } from "./Contact.ts"

/** A user id as the provider reports it: a country, a point, and `ENT.` if it is shared by a group of businesses. */
const userIdPattern = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/

/** Whether a customer is named by user id. */
export const isUserId = (name: string): boolean => userIdPattern.test(name)

/** A user id of a customer. */
export const UserId = Schema.String.check(Schema.isPattern(userIdPattern))

const expected = "must be a phone number in E.164 format, or the provider's user id of a customer, such as " +
  "US.13491208655302741918"

/** A customer's phone number in E.164 format, or their user id. */
export const Addressee = Schema.String.check(
  Schema.makeFilter(
    (text: string) => text.startsWith("+") ? isE164(text) || e164Expected : isUserId(text) || expected,
    { toJsonSchema: () => ({ maxLength: 135, pattern: `${possiblePattern()}|${userIdPattern.source}` }) }
  )
).annotate({
  description: "Phone number in E.164 format, or the provider's user id of a customer whose number is not known",
  examples: ["+15551234567", "US.13491208655302741918"],
  identifier: "Addressee"
})
export type Addressee = typeof Addressee.Type

/** The customer, as far as the name tells. */
export const customerOf = (to: Addressee): Customer =>
  isUserId(to) ? { phone: null, userId: to } : { phone: to, userId: null }

/** The country in a user id, ISO 3166-1 alpha-2; `undefined` for a phone number. */
export const countryOf = (to: Addressee): string | undefined => isUserId(to) ? to.slice(0, 2) : undefined
