/**
 * Phone numbers: the E.164 form that every number has on the wire (specification §4), and the numbers that a
 * workspace sends from.
 */
import { Schema } from "effect"
import { isPossiblePhoneNumber } from "libphonenumber-js/min"
import type { PhoneNumberId, WorkspaceId } from "./Id.ts"

/** `+` and digits only, no separators, and possible by the numbering plan of its country (contract §3). */
export const E164 = Schema.String.check(
  Schema.makeFilter(
    (text: string) =>
      (/^\+[1-9][0-9]{1,14}$/.test(text) && isPossiblePhoneNumber(text)) ||
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
