/**
 * Contacts (contract §7): one customer as seen from one phone number of a workspace, with the service window and the
 * opt-out. Pure rules, no storage.
 */
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"

/**
 * A customer as the provider identifies them: by phone number, by the provider's user id, or by both. `phone` is in the
 * provider's form, which need not be valid for sending: `+52 1 …` is no longer a possible number.
 */
export type Customer =
  | { readonly phone: string; readonly userId: string | null }
  | { readonly phone: null; readonly userId: string }

export interface Contact {
  readonly workspaceId: WorkspaceId
  readonly phoneNumberId: PhoneNumberId
  /** {@link keyFor} of the customer. */
  readonly key: string
  readonly customer: Customer
  /** Whether the customer was known by user id before their number was. Then {@link idOf} stays what it was before. */
  readonly isUserFirst: boolean
  /** The time of the report that the customer first appeared in; `null` if older versions stored the contact. */
  readonly knownSince: Instant | null
  /** Timestamp of the newest inbound message, which opens the window. `null` if the customer never wrote. */
  readonly lastInboundAt: Instant | null
  readonly optedOut: boolean
  /** When the customer last opted in or out; `null` if never. */
  readonly preferenceAt: Instant | null
}

/** Names a customer of a phone number: `<phone number id>:<key>`. */
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

/** Splits an id that {@link idOf} made: the number, and a key or user id. Any other text matches no contact. */
export const named = (id: string): { readonly phoneNumberId: PhoneNumberId; readonly name: string } => {
  const end = id.indexOf(":")
  return end < 0
    ? { phoneNumberId: id as PhoneNumberId, name: "" }
    : { phoneNumberId: id.slice(0, end) as PhoneNumberId, name: id.slice(end + 1) }
}

/** A customer's choice about receiving messages. */
export type Preference = "opt_out" | "opt_in"

/**
 * Countries in which one line has two number forms, and a provider may use a different form than the sender. Each entry
 * has the variant and the form that we keep.
 */
const variants: ReadonlyArray<readonly [variant: RegExp, kept: string]> = [
  // Brazil: mobile numbers gained a ninth digit; fixed-line numbers start with 2 to 5
  [/^\+55([1-9][1-9])([6-9][0-9]{7})$/, "+55$19$2"],
  // Mexico dropped the 1 for mobile numbers in 2019
  [/^\+521([0-9]{10})$/, "+52$1"],
  // Argentina: the 9 for mobile numbers appears only in the international form
  [/^\+549([0-9]{10})$/, "+54$1"]
]

/** {@link variants} backwards. */
const others: ReadonlyArray<readonly [kept: RegExp, variant: string]> = [
  [/^\+55([1-9][1-9])9([6-9][0-9]{7})$/, "+55$1$2"],
  [/^\+52([0-9]{10})$/, "+521$1"],
  [/^\+54([0-9]{10})$/, "+549$1"]
]

/**
 * The key of a customer who is named by number or user id: for a number, the same for every form of one line. Not a
 * number to send to.
 */
export const keyOf = (name: string): string => {
  for (const [variant, kept] of variants) if (variant.test(name)) return name.replace(variant, kept)
  return name
}

/** Every number form of the line with this key. */
export const formsOf = (key: string): ReadonlyArray<string> => [
  key,
  ...others.flatMap(([kept, other]) => kept.test(key) ? [key.replace(kept, other)] : [])
]

/** {@link keyOf} the customer's number, or the provider's user id if the number is not known. */
export const keyFor = ({ phone, userId }: Customer): string => phone === null ? userId : keyOf(phone)

/**
 * Every key under which something may be noted for the customer of a send: the contact's present one first, then the
 * user id, under which it was noted while the number was not known.
 */
export const keysOf = (
  to: string,
  contact: Pick<Contact, "customer" | "key"> | undefined
): readonly [string, ...ReadonlyArray<string>] => {
  if (contact === undefined) return [keyOf(to)]
  const { customer: { userId }, key } = contact
  return userId === null || userId === key ? [key] : [key, userId]
}

const optOutWords = new Set(["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT"])
const optInWords = new Set(["START", "UNSTOP"])

/**
 * The choice that an inbound text expresses. The text must be exactly one of the words, in any case; surrounding white
 * space is ignored.
 */
export const preferenceOf = (text: string): Preference | undefined => {
  const word = text.trim().toUpperCase()
  return optOutWords.has(word) ? "opt_out" : optInWords.has(word) ? "opt_in" : undefined
}

/** `STOP PROMOTIONS` is the label of the provider's own opt-out button. */
const optOutLabels = new Set(["STOP", "STOPALL", "UNSUBSCRIBE", "STOP PROMOTIONS"])

/**
 * The choice that a pressed button expresses, by its label or value. On buttons, CANCEL, END and QUIT usually refer to
 * an order, an appointment or a form, so they do not opt out.
 */
export const preferenceOfChoice = (label: string): Preference | undefined => {
  const word = label.trim().toUpperCase()
  return optOutLabels.has(word) ? "opt_out" : optInWords.has(word) ? "opt_in" : undefined
}

/** The contacts that exist under a customer's number and under the provider's user id. */
export interface Known {
  readonly byKey: Contact | undefined
  readonly byUser: Contact | undefined
}

/** The result of {@link meet}. */
export interface Met {
  /** The customer's contact as it is now. */
  readonly contact: Contact
  /** The contact that the customer had under another number, as it is left behind. */
  readonly left?: Contact
  /** The contact that the customer had without a number; the storage deletes it. */
  readonly gone?: Contact
}

/** Whether a contact was known before another one. */
const isOlder = (contact: Contact, other: Contact): boolean =>
  (contact.knownSince ?? -Infinity) < (other.knownSince ?? -Infinity)

/**
 * Finds or creates the contact of a customer whom the provider named at time `at`. If the provider names a number and a
 * user id together, the contacts under both are merged ({@link merge}). The merged contact has the number's key, and
 * keeps the older id. An older notice does not take a number from a contact that has written since.
 */
export const meet = (
  number: { readonly id: PhoneNumberId; readonly workspaceId: WorkspaceId },
  customer: Customer,
  { byKey, byUser }: Known,
  at: Instant
): Met => {
  const { phone, userId } = customer
  const stored = phone === null ? byUser : byKey
  const own: Contact = stored ?? {
    workspaceId: number.workspaceId,
    phoneNumberId: number.id,
    key: keyFor(customer),
    customer: phone === null ? customer : { phone, userId: null },
    isUserFirst: phone === null,
    knownSince: at,
    lastInboundAt: null,
    optedOut: false,
    preferenceAt: null
  }
  if (userId === null || own.customer.phone === null || own.customer.userId === userId) return { contact: own }
  const wasPhone = byUser?.customer.phone ?? null
  if (own.customer.userId !== null && hasWritten(own, at) || wasPhone !== null && hasWritten(byUser!, at)) {
    return { contact: own }
  }
  // an id that was made of another user id has gone with that user
  const linked = { ...own, customer: { ...own.customer, userId }, isUserFirst: false }
  if (byUser === undefined) return { contact: linked }
  const hasOwnId = wasPhone === null || byUser.isUserFirst
  const contact = {
    ...merge(linked, byUser),
    isUserFirst: hasOwnId && (stored === undefined || isOlder(byUser, stored))
  }
  return wasPhone === null ? { contact, gone: byUser } : {
    contact,
    left: leave({ ...byUser, customer: { phone: wasPhone, userId: null }, isUserFirst: false })
  }
}

/** Whether the customer wrote after a time. */
export const hasWritten = ({ lastInboundAt }: Contact, at: Instant): boolean =>
  lastInboundAt !== null && lastInboundAt > at

const later = (a: Instant | null, b: Instant | null): Instant | null => a === null ? b : b === null ? a : Math.max(a, b)

/**
 * Merges what is known of another contact of the same customer into `contact`: the later window, and opted out if either
 * was. Only a preference that is newer than both changes that.
 */
export const merge = (contact: Contact, other: Contact): Contact => ({
  ...contact,
  knownSince: isOlder(other, contact) ? other.knownSince : contact.knownSince,
  lastInboundAt: later(contact.lastInboundAt, other.lastInboundAt),
  optedOut: contact.optedOut || other.optedOut,
  preferenceAt: later(contact.preferenceAt, other.preferenceAt)
})

/**
 * Takes what is known of a customer along from the contact of their number before: the later window, and the newest
 * preference, so that a report of the move that comes again changes nothing.
 */
export const follow = (contact: Contact, before: Contact): Contact => {
  const followed = { ...contact, lastInboundAt: later(contact.lastInboundAt, before.lastInboundAt) }
  return before.preferenceAt === null
    ? followed
    : prefer(followed, before.optedOut ? "opt_out" : "opt_in", before.preferenceAt)
}

/**
 * A contact whose customer has moved to another number. The number's next owner has not written yet, so the window
 * closes; an opt-out stays.
 */
export const leave = (contact: Contact): Contact => ({ ...contact, lastInboundAt: null })

/** Applies a preference. The newest wins, in whatever order they arrive; at the same time, an opt-out wins. */
export const prefer = (contact: Contact, preference: Preference, at: Instant): Contact => {
  const { preferenceAt } = contact
  const isNewer = preferenceAt === null || at > preferenceAt || (at === preferenceAt && preference === "opt_out")
  return isNewer ? { ...contact, optedOut: preference === "opt_out", preferenceAt: at } : contact
}

/** Applies a message that came from `phone` and opens the window at `openedAt`. Older messages change nothing. */
export const hear = (contact: Contact, phone: Customer["phone"], openedAt: Instant): Contact => {
  const { customer, lastInboundAt } = contact
  return lastInboundAt !== null && openedAt < lastInboundAt ? contact : {
    ...contact,
    customer: phone === null || customer.phone === null ? customer : { ...customer, phone },
    lastInboundAt: openedAt
  }
}
