/**
 * Contacts (contract §7): one customer as seen from one phone number of a workspace, with the service window and the
 * wish not to be written to.
 */
import type { PhoneNumberId, WorkspaceId } from "./Id.ts"
import type { Instant } from "./Time.ts"

/**
 * A customer, as the provider names them: by number, by an identifier of its own that may come without a number, or by
 * both. `phone` is as the provider writes it, which need not be as a sender may: `+52 1 …` is no possible number any more.
 */
export type Customer =
  | { readonly phone: string; readonly userId: string | null }
  | { readonly phone: null; readonly userId: string }

export interface Contact {
  readonly workspaceId: WorkspaceId
  readonly phoneNumberId: PhoneNumberId
  /** {@link keyFor} the customer. */
  readonly key: string
  readonly customer: Customer
  /** Timestamp of the newest inbound message; opens the window. `null`: the customer never wrote. */
  readonly lastInboundAt: Instant | null
  readonly optedOut: boolean
}

/**
 * Countries where one line has two numbers, of which a provider may use another than a sender: the variant, and the form
 * that we keep.
 */
const variants: ReadonlyArray<readonly [variant: RegExp, kept: string]> = [
  // Brazil: mobile numbers got a ninth digit; those of fixed lines begin with 2 to 5
  [/^\+55([1-9][1-9])([6-9][0-9]{7})$/, "+55$19$2"],
  // Mexico: the 1 for mobiles was given up in 2019
  [/^\+521([0-9]{10})$/, "+52$1"],
  // Argentina: the 9 for mobiles stands only in the international form
  [/^\+549([0-9]{10})$/, "+54$1"]
]

/**
 * What everything of a customer goes by (contact, messaging limit, pair rate): one for all the numbers that one line
 * has. Not a number to send to.
 */
export const keyOf = (phone: string): string => {
  for (const [variant, kept] of variants) if (variant.test(phone)) return phone.replace(variant, kept)
  return phone
}

/** The same of a customer; one without a known number goes by the provider's identifier. */
export const keyFor = ({ phone, userId }: Customer): string => phone === null ? userId : keyOf(phone)

const optOutWords = new Set(["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT"])
const optInWords = new Set(["START", "UNSTOP"])

/**
 * What an inbound text says about being written to: it counts only when it is exactly one of the words, in any case;
 * white space around it is not part of what the customer said.
 */
export const preferenceOf = (text: string): "opt_out" | "opt_in" | undefined => {
  const word = text.trim().toUpperCase()
  return optOutWords.has(word) ? "opt_out" : optInWords.has(word) ? "opt_in" : undefined
}
