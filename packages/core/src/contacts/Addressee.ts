/**
 * The name by which a send addresses its customer (contract §3): the phone number, or the business-scoped user id if
 * the customer is known by user name only. Pure.
 */
import { Schema } from "effect"
import { foreignPattern, isUserId, numberPattern, userIdPattern } from "./CustomerNames.ts"

/** The provider's user id of a customer. */
export const UserId = Schema.String.check(Schema.isPattern(userIdPattern))

const expected = "must be a phone number in E.164 format, or the provider's user id of a customer, such as " +
  "US.13491208655302741918"

const pattern = new RegExp(`${numberPattern.source}|${userIdPattern.source}|${foreignPattern.source}`)

/**
 * Any text that may be a name of a customer: a plus with 7 to 15 digits, or a user id. Whether the number is valid, or
 * the workspace knows the name, is decided when the send is accepted (`CustomerNames.refusal`).
 */
export const Addressee = Schema.String.check(
  Schema.makeFilter((text: string) => pattern.test(text) || expected, {
    toJsonSchema: () => ({ maxLength: 200, pattern: pattern.source })
  })
).annotate({
  description:
    "Phone number in E.164 format, or the provider's user id of a customer whose number is not known; also " +
    "any other name by which this service has named a customer of the workspace",
  examples: ["+15551234567", "US.13491208655302741918"],
  identifier: "Addressee"
})
export type Addressee = typeof Addressee.Type

/** The country in a user id, ISO 3166-1 alpha-2; `undefined` for a phone number and for any other name. */
export const countryOf = (to: Addressee): string | undefined =>
  isUserId(to) && userIdPattern.test(to) ? to.slice(0, 2) : undefined
