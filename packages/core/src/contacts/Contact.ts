/**
 * Contacts (contract §7): one customer as seen from one phone number of a workspace, with the service window and the
 * wish not to be written to.
 */
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"

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
  /** When the customer last said whether they want to be written to; `null`: never. */
  readonly preferenceAt: Instant | null
}

/** What a contact is called outside: `<phone number id>:<key>`. */
export const idOf = ({ key, phoneNumberId }: Pick<Contact, "key" | "phoneNumberId">): string =>
  `${phoneNumberId}:${key}`

/** What {@link idOf} was made of. Anything else names nobody. */
export const named = (id: string): Pick<Contact, "key" | "phoneNumberId"> => {
  const end = id.indexOf(":")
  return end < 0
    ? { phoneNumberId: id as PhoneNumberId, key: "" }
    : { phoneNumberId: id.slice(0, end) as PhoneNumberId, key: id.slice(end + 1) }
}

/** What a customer said of being written to; who said nothing has none. */
export type Preference = "opt_out" | "opt_in"

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
export const preferenceOf = (text: string): Preference | undefined => {
  const word = text.trim().toUpperCase()
  return optOutWords.has(word) ? "opt_out" : optInWords.has(word) ? "opt_in" : undefined
}

/** `STOP PROMOTIONS` is what upstream's own button for it says. */
const optOutLabels = new Set(["STOP", "STOPALL", "UNSUBSCRIBE", "STOP PROMOTIONS"])

/**
 * The same of a button that a customer chose, by its label or the value behind it. There CANCEL, END and QUIT are of an
 * order, an appointment or a form rather than of being written to.
 */
export const preferenceOfChoice = (label: string): Preference | undefined => {
  const word = label.trim().toUpperCase()
  return optOutLabels.has(word) ? "opt_out" : optInWords.has(word) ? "opt_in" : undefined
}

/** What is known of a customer: the contacts that their number and the provider's identifier lead to. */
export interface Known {
  readonly byKey: Contact | undefined
  readonly byUser: Contact | undefined
}

/** What naming a customer has made of their contacts. */
export interface Met {
  /** Theirs, as it is now. */
  readonly contact: Contact
  /** The one that they had under another number, as it is left behind. */
  readonly left?: Contact
  /** The one that they had without a number; it is to go. */
  readonly gone?: Contact
}

/**
 * Finds or makes the contact of a customer whom upstream named at a time. Where it brings a number and an identifier
 * together, what was known under each becomes one: the newest window, and the newest word on being written to. Older
 * words part nobody who has written since.
 */
export const meet = (
  number: { readonly id: PhoneNumberId; readonly workspaceId: WorkspaceId },
  customer: Customer,
  { byKey, byUser }: Known,
  at: Instant
): Met => {
  const { phone, userId } = customer
  const own = (phone === null ? byUser : byKey) ?? {
    workspaceId: number.workspaceId,
    phoneNumberId: number.id,
    key: keyFor(customer),
    customer: phone === null ? customer : { phone, userId: null },
    lastInboundAt: null,
    optedOut: false,
    preferenceAt: null
  }
  if (userId === null || own.customer.phone === null || own.customer.userId === userId) return { contact: own }
  const wasPhone = byUser?.customer.phone ?? null
  if (own.customer.userId !== null && hasWritten(own, at) || wasPhone !== null && hasWritten(byUser!, at)) {
    return { contact: own }
  }
  const linked = { ...own, customer: { ...own.customer, userId } }
  if (byUser === undefined) return { contact: linked }
  const contact = merge(linked, byUser)
  return wasPhone === null
    ? { contact, gone: byUser }
    : { contact, left: leave({ ...byUser, customer: { phone: wasPhone, userId: null } }) }
}

/** Whether it was heard from after that time. */
export const hasWritten = ({ lastInboundAt }: Contact, at: Instant): boolean =>
  lastInboundAt !== null && lastInboundAt > at

/** A contact with what is known of another that is the same customer. */
export const merge = (contact: Contact, other: Contact): Contact => {
  const times = [contact.lastInboundAt, other.lastInboundAt].filter((at) => at !== null)
  const merged = { ...contact, lastInboundAt: times.length === 0 ? null : Math.max(...times) }
  return other.preferenceAt === null
    ? merged
    : prefer(merged, other.optedOut ? "opt_out" : "opt_in", other.preferenceAt)
}

/**
 * A contact whose customer has moved on to another number: whoever has the number next has written nothing yet, but
 * goes on being left alone, if that was the last word.
 */
export const leave = (contact: Contact): Contact => ({ ...contact, lastInboundAt: null })

/** A contact after a word on being written to. The newest counts, in whatever order they come; of two at once the no. */
export const prefer = (contact: Contact, preference: Preference, at: Instant): Contact => {
  const { preferenceAt } = contact
  const isNewer = preferenceAt === null || at > preferenceAt || (at === preferenceAt && preference === "opt_out")
  return isNewer ? { ...contact, optedOut: preference === "opt_out", preferenceAt: at } : contact
}

/** A contact after a message of theirs, which came from `phone` and opens the window at `openedAt`. */
export const hear = (contact: Contact, phone: Customer["phone"], openedAt: Instant): Contact => {
  const { customer, lastInboundAt } = contact
  return lastInboundAt !== null && openedAt < lastInboundAt ? contact : {
    ...contact,
    customer: phone === null || customer.phone === null ? customer : { ...customer, phone },
    lastInboundAt: openedAt
  }
}
