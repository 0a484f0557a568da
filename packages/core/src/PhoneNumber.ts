/**
 * Phone numbers: the E.164 form that every number has on the wire (specification §4), and the numbers that a
 * workspace sends from.
 */
import { Schema } from "effect"
import { getCountries, getCountryCallingCode, isPossiblePhoneNumber, Metadata } from "libphonenumber-js/min"
import type { PhoneNumberId, WorkspaceId } from "./Id.ts"

/** By calling code: the lengths that national numbers have in every country that shares it. */
const commonLengths: ReadonlyMap<string, ReadonlySet<number>> = getCountries().reduce((all, country) => {
  const metadata = new Metadata()
  metadata.selectNumberingPlan(country)
  const code = getCountryCallingCode(country)
  const others = all.get(code)
  return all.set(
    code,
    new Set(metadata.numberingPlan!.possibleLengths().filter((length) => others?.has(length) !== false))
  )
}, new Map<string, ReadonlySet<number>>())

/**
 * What the library says, who first finds out which country a number belongs to. That takes as long as much else of a
 * send together, and does not matter where the length is possible in all of them. (No calling code begins another.)
 */
const isPossible = (text: string): boolean => {
  for (let end = 2; end <= 4; end++) {
    if (commonLengths.get(text.slice(1, end))?.has(text.length - end) === true) return true
  }
  return isPossiblePhoneNumber(text)
}

/** `+` and digits only, no separators, and possible by the numbering plan of its country (contract §3). */
export const E164 = Schema.String.check(
  Schema.makeFilter(
    (text: string) =>
      (/^\+[1-9][0-9]{1,14}$/.test(text) && isPossible(text)) ||
      "must be a phone number in E.164 format: + and digits only, possible in its country"
  )
).annotate({
  description: "Phone number in E.164 format",
  examples: ["+15551234567"],
  identifier: "E164"
})
export type E164 = typeof E164.Type

/** A number that a workspace sends from. Tier and messaging limit belong to the operator. */
export interface PhoneNumber {
  readonly id: PhoneNumberId
  readonly workspaceId: WorkspaceId
  readonly phoneNumber: E164
  /** The provider's own name for the number; inbound traffic is matched by it. Unique over all workspaces. */
  readonly providerNumberId: string
  /** `null`: the default of `Limits`. */
  readonly tier: string | null
  /** Unique customers written to outside a window per rolling 24 h; `null`: the default of `Limits`. */
  readonly messagingLimit: number | null
  /** Whether the provider lets us send from it at the moment. */
  readonly available: boolean
  /** The number used when a send names none. Exactly one per workspace. */
  readonly isDefault: boolean
}
