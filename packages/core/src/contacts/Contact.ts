/**
 * Contacts (contract §7): one customer as seen from one phone number of a workspace, with the service window and the
 * opt-out. Pure rules, no storage.
 */
import { Option, Schema } from "effect"
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import { PlainText } from "../PlainText.ts"
import type { Instant } from "../Time.ts"
import * as CustomerNames from "./CustomerNames.ts"
import type { Customer } from "./CustomerNames.ts"

export type { Customer }

/** A customer, as known to one phone number of a workspace. */
export interface Contact {
  readonly workspaceId: WorkspaceId
  readonly phoneNumberId: PhoneNumberId
  /** {@link keyFor} of the customer. */
  readonly key: string
  readonly customer: Customer
  /** Whether the customer was known by user id before their number was known. Then {@link idOf} keeps the user id. */
  readonly isUserFirst: boolean
  /** The time of the report in which the customer first appeared; `null` if an older version stored the contact. */
  readonly knownSince: Instant | null
  /** Timestamp of the newest inbound message, which opens the window. `null` if the customer never wrote. */
  readonly lastInboundAt: Instant | null
  readonly optedOut: boolean
  /** When the customer last opted in or out; `null` if never. */
  readonly preferenceAt: Instant | null
}

/** Identifies a customer's contact: `<phone number id>:<key>`. */
export const placeOf = ({ key, phoneNumberId }: Pick<Contact, "key" | "phoneNumberId">): string =>
  `${phoneNumberId}:${key}`

/**
 * The contact's id in the API: the id of the phone number, and the key or the user id of the customer, whichever was
 * known first.
 */
export const idOf = (
  { customer: { userId }, isUserFirst, key, phoneNumberId }: Pick<
    Contact,
    "customer" | "isUserFirst" | "key" | "phoneNumberId"
  >
): string => placeOf({ phoneNumberId, key: isUserFirst ? userId ?? key : key })

/** Splits an id that {@link idOf} made into the number's id and a key or user id. Any other text matches no contact. */
export const named = (id: string): { readonly phoneNumberId: PhoneNumberId; readonly name: string } => {
  const end = id.indexOf(":")
  return end < 0
    ? { phoneNumberId: id as PhoneNumberId, name: "" }
    : { phoneNumberId: id.slice(0, end) as PhoneNumberId, name: id.slice(end + 1) }
}

const plain = Schema.decodeOption(PlainText)

/** Splits a contact's id that a caller gave, with any name of the customer. None for text that is not plain. */
export const parse = (id: string): Option.Option<ReturnType<typeof named>> => Option.map(plain(id), named)

/** A customer's choice about receiving messages. */
export type Preference = "opt_out" | "opt_in"

/**
 * The key of a customer's contact: `CustomerNames.keyOf` of the number, or the provider's user id if the number is not
 * known.
 */
export const keyFor = ({ phone, userId }: Customer): string => phone === null ? userId : CustomerNames.keyOf(phone)

/**
 * Every key under which something may be stored for the customer of a send: first the contact's present key, then the
 * names under which it was stored before these names were known to belong to one customer.
 */
export const keysOf = (
  to: string,
  contact: Pick<Contact, "customer" | "key"> | undefined
): readonly [string, ...ReadonlyArray<string>] => {
  if (contact === undefined) return [CustomerNames.keyOf(to)]
  const { customer: { aliases = [], userId }, key } = contact
  return [key, ...[...(userId === null ? [] : [userId]), ...aliases].filter((name) => name !== key)]
}

/**
 * Every key under which a campaign may have a message to the customer of a send: {@link keysOf}, and all written forms
 * of the number, because earlier versions kept national prefixes in keys.
 */
export const campaignKeysOf = (
  to: string,
  contact: Pick<Contact, "customer" | "key"> | undefined
): ReadonlyArray<string> => [
  ...new Set([...keysOf(to, contact), ...CustomerNames.formsOf(CustomerNames.keyOf(to))])
]

/** Whether the customer wrote after a time. */
export const hasWritten = ({ lastInboundAt }: Contact, at: Instant): boolean =>
  lastInboundAt !== null && lastInboundAt > at

/**
 * The contact of a number whose customer has moved to another number. The window closes, because the number's next
 * owner has not written yet. An opt-out stays.
 */
export const leave = (contact: Contact): Contact => ({ ...contact, lastInboundAt: null })

/**
 * Applies a preference. The newest preference wins, whatever the order of arrival. Of two with the same time, the
 * opt-out wins.
 */
export const prefer = (contact: Contact, preference: Preference, at: Instant): Contact => {
  const { preferenceAt } = contact
  const isNewer = preferenceAt === null || at > preferenceAt || (at === preferenceAt && preference === "opt_out")
  return isNewer ? { ...contact, optedOut: preference === "opt_out", preferenceAt: at } : contact
}

/**
 * Records that the customer wrote from `phone`, which opens the window at `openedAt`. An older message changes nothing.
 */
export const hear = (contact: Contact, phone: Customer["phone"], openedAt: Instant): Contact => {
  const { customer, lastInboundAt } = contact
  return lastInboundAt !== null && openedAt < lastInboundAt ? contact : {
    ...contact,
    customer: phone === null || customer.phone === null ? customer : { ...customer, phone },
    lastInboundAt: openedAt
  }
}
