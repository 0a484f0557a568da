/**
 * Merges of contacts (contract §13): which contact a customer has, once the provider has reported names of the customer
 * together, or a new name. Pure rules, no storage.
 */
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import { type Contact, hasWritten, leave, prefer } from "./Contact.ts"
import * as CustomerNames from "./CustomerNames.ts"
import type { Customer } from "./CustomerNames.ts"

/** Finds the contact of a phone number by one of its customer's names: a key of a number, or a user id. */
export type Find = (name: string) => Contact | undefined

/** The result of {@link resolve}. */
export interface Resolution {
  /** The customer's contact as it is now. */
  readonly contact: Contact
  /** Contacts of other customers that lost a name, as they are now. */
  readonly left: ReadonlyArray<Contact>
  /** Contacts that were merged or have another key now. The storage deletes them. */
  readonly gone: ReadonlyArray<Contact>
  /** Names that belong to other customers now, in the order of the moves. */
  readonly moved: ReadonlyArray<Reassignment>
}

/**
 * What was said under `names` moves to the contact with the key `to`: the contact of the customer who had these names.
 */
export interface Reassignment {
  readonly names: ReadonlyArray<string>
  readonly to: string
}

/**
 * Moves what was said under a contact's numbers to the key `to`, so that it stays with the customer who had the
 * numbers.
 */
export const reassignmentOf = ({ customer, key }: Contact, to: string): Reassignment => ({
  names: CustomerNames.textsOf([...new Set([key, ...CustomerNames.linesOf(customer)])]),
  to
})

/** Whether a contact was known before another contact. */
const isOlder = (contact: Contact, other: Contact): boolean =>
  (contact.knownSince ?? -Infinity) < (other.knownSince ?? -Infinity)

/** The key and the customer of a contact with these names, each name once. */
const calledBy = (key: string, phone: string | null, userId: string | null, aliases: ReadonlyArray<string>) => ({
  key,
  customer: CustomerNames.withAliases(
    phone === null ? { phone, userId: userId! } : { phone, userId },
    aliases.filter((name) => name !== key && name !== userId)
  )
})

/** The contact of a person whose number belongs to another customer now. The person keeps everything but the number. */
const withoutLine = (contact: Contact, userId: string): Contact => ({
  ...contact,
  ...calledBy(userId, null, userId, CustomerNames.idsOf(contact.customer)),
  isUserFirst: true
})

/**
 * The contact of a number whose customer has moved to another number. The window closes, because the number's next
 * owner has not written yet. An opt-out stays.
 */
const withoutPerson = (contact: Contact): Contact => ({
  ...leave(contact),
  ...calledBy(contact.key, contact.customer.phone, null, CustomerNames.linesOf(contact.customer)),
  isUserFirst: false
})

/** A contact that gets a name of another customer. The name brings its opt-out, and nothing else. */
const withOptOutOf = (contact: Contact, before: Contact | undefined): Contact =>
  before?.optedOut === true
    ? { ...contact, optedOut: true, preferenceAt: later(contact.preferenceAt, before.preferenceAt) }
    : contact

const isWrittenLater = (contact: Contact, other: Contact): boolean =>
  (contact.lastInboundAt ?? -Infinity) > (other.lastInboundAt ?? -Infinity)

/**
 * Joins two contacts whose numbers are written forms of one line. If the contacts belong to two people, the line goes
 * to the person with a user id in `ids`, or else to the person who wrote last.
 */
const joinLines = (one: Contact, other: Contact, ids: ReadonlyArray<string>, at: Instant): Resolution => {
  const [mine, theirs] = [one.customer.userId, other.customer.userId]
  const isOne = mine === null || theirs === null || mine === theirs
  const lines = [...CustomerNames.linesOf(one.customer), ...CustomerNames.linesOf(other.customer), one.key, other.key]
  if (isOne) {
    const [kept, gone] = isOlder(other, one) ? [other, one] : [one, other]
    const { phone } = (isWrittenLater(gone, kept) ? gone : kept).customer
    const aliases = [...lines, ...CustomerNames.idsOf(one.customer), ...CustomerNames.idsOf(other.customer)]
    return {
      contact: { ...merge(kept, gone), ...calledBy(kept.key, phone, mine ?? theirs, aliases) },
      left: [],
      gone: [gone],
      moved: []
    }
  }
  const isOthers = ids.includes(theirs) || !ids.includes(mine) && isWrittenLater(other, one)
  const [owner, before] = isOthers ? [other, one] : [one, other]
  // a message after this report has shown to whom the line belongs
  if (hasWritten(before, at)) return { contact: owner, left: [], gone: [], moved: [] }
  return {
    contact: {
      ...withOptOutOf(owner, before),
      ...calledBy(owner.key, owner.customer.phone, owner.customer.userId, [
        ...lines,
        ...CustomerNames.idsOf(owner.customer)
      ])
    },
    left: [withoutLine(before, before.customer.userId!)],
    gone: [before],
    moved: [reassignmentOf(before, before.customer.userId!)]
  }
}

/**
 * Finds or creates the contact of a customer whom the provider named at time `at`, and learns from the names that were
 * reported together (contract §13):
 *
 * - Contacts whose names had no counterpart, or the same counterpart, are merged ({@link merge}). The merged contact
 *   keeps the older id.
 * - A number that comes with a different user id belongs to that user from then on. The number brings its opt-out, but
 *   no window.
 * - A user id that comes with a different number has moved to that number, with its window and opt-out.
 * - A report takes no name from a contact that has written since the report.
 */
export const resolve = (
  number: { readonly id: PhoneNumberId; readonly workspaceId: WorkspaceId },
  customer: Customer,
  find: Find,
  at: Instant
): Resolution => {
  const left: Array<Contact> = []
  const gone: Array<Contact> = []
  const moved: Array<Reassignment> = []
  const lines = CustomerNames.linesOf(customer)
  const ids = CustomerNames.idsOf(customer)
  const [id] = ids
  const fresh = (phone: string | null, userId: string | null): Contact => ({
    workspaceId: number.workspaceId,
    phoneNumberId: number.id,
    ...calledBy(phone === null ? userId! : CustomerNames.keyOf(phone), phone, userId, []),
    isUserFirst: phone === null,
    knownSince: at,
    lastInboundAt: null,
    optedOut: false,
    preferenceAt: null
  })

  const [first, ...more] = distinct(lines, find)
  let ofLine = first && more.reduce((one, other) => {
    const joined = joinLines(one, other, ids, at)
    left.push(...joined.left)
    gone.push(...joined.gone)
    moved.push(...joined.moved)
    return joined.contact
  }, first)

  const found = distinct(ids, find)
  const isLine = (contact: Contact) => contact === first || more.includes(contact)
  const byId = id === undefined ? undefined : find(id)
  // an id that is reported beside the first one is its parent, or a former id of the person
  const isSame = ({ customer: { userId } }: Contact) => userId === null || ids.includes(userId)
  let person = byId ?? found.find(isSame)
  if (person !== undefined && isLine(person)) person = ofLine
  const others = found.filter((one) => one !== byId && one !== person && !isLine(one))
  if (ofLine === undefined) {
    const numbered = others.find((one) => one.customer.phone !== null && isSame(one))
    if (lines.length === 0 && person?.customer.phone === null) ofLine = numbered
  }
  const phone = customer.phone ?? lines[0] ?? ofLine?.customer.phone ?? null

  const isFree = ofLine === undefined || ofLine === person || id === undefined || isSame(ofLine)
  const isStale = ofLine !== undefined && !isFree && hasWritten(ofLine, at) ||
    phone !== null && person !== undefined && person !== ofLine && person.customer.phone !== null &&
      (ofLine !== undefined || lines.length > 0) && hasWritten(person, at)
  if (isStale) return { contact: ofLine ?? fresh(phone, null), left, gone, moved }

  const lineOf = ofLine ?? (lines.length === 0 ? person : undefined)
  const shownPhone = lineOf?.customer.phone ?? phone
  const userId = byId !== undefined && byId.customer.userId !== null
    ? byId.customer.userId
    : id ?? ofLine?.customer.userId ?? null
  // a written form whose customer has written since the report stays theirs
  const isTheirs = (line: string) => {
    const holder = find(line)
    return holder !== undefined && holder.key !== ofLine?.key && !gone.includes(holder)
  }
  const names = [
    ...lines.filter((line) => !isTheirs(line)),
    ...ids,
    ...(lineOf === undefined ? [] : CustomerNames.linesOf(lineOf.customer)),
    ...(person === undefined ? [] : CustomerNames.idsOf(person.customer)),
    ...(isFree && ofLine !== undefined ? CustomerNames.idsOf(ofLine.customer) : [])
  ]
  let own = person === undefined
    ? isFree && ofLine !== undefined ? ofLine : withOptOutOf(fresh(phone, userId), ofLine)
    : ofLine === undefined || ofLine === person
    ? person
    : isFree
    ? { ...merge(ofLine, person), isUserFirst: person.isUserFirst && isOlder(person, ofLine) }
    : withOptOutOf(person, ofLine)
  if (person === undefined && ofLine !== undefined && ofLine.customer.userId === null) {
    own = { ...own, isUserFirst: false }
  }
  if (!isFree) {
    left.push(withoutLine(ofLine!, ofLine!.customer.userId!))
    moved.push(reassignmentOf(ofLine!, ofLine!.customer.userId!))
  }
  const key = lineOf?.customer.phone != null
    ? lineOf.key
    : shownPhone === null
    ? userId!
    : CustomerNames.keyOf(shownPhone)
  if (person !== undefined && person !== ofLine && person.key !== key) {
    if (person.customer.phone === null) gone.push(person)
    else {
      left.push(withoutPerson(person))
      moved.push(reassignmentOf(person, key))
    }
  }
  for (const other of others) {
    if (other === ofLine) continue
    if (isSame(other) && other.customer.phone === null) {
      own = merge(own, other)
      gone.push(other)
    } else {
      own = withOptOutOf(own, other)
      if (ids.includes(other.customer.userId ?? "")) {
        left.push(withoutPerson(other))
        moved.push(reassignmentOf(other, key))
      } else left.push(other)
    }
  }
  return {
    contact: { ...own, ...calledBy(key, shownPhone, userId, names) },
    left: left.map((one) => withoutAliases(one, ids)),
    gone,
    moved
  }
}

/** A contact without the aliases that belong to somebody else now. */
const withoutAliases = (contact: Contact, names: ReadonlyArray<string>): Contact => ({
  ...contact,
  customer: CustomerNames.withAliases(
    contact.customer,
    (contact.customer.aliases ?? []).filter((name) => !names.includes(name))
  )
})

/** The contacts that have these names, each once. */
const distinct = (names: ReadonlyArray<string>, find: Find): ReadonlyArray<Contact> => [
  ...new Set(names.map(find).filter((found) => found !== undefined))
]

const later = (a: Instant | null, b: Instant | null): Instant | null => a === null ? b : b === null ? a : Math.max(a, b)

/**
 * Merges another contact of the same customer into `contact`: takes the later window, and is opted out if either
 * contact was. Only a preference that is newer than the preferences of both changes the opt-out.
 */
export const merge = (contact: Contact, other: Contact): Contact => ({
  ...contact,
  knownSince: isOlder(other, contact) ? other.knownSince : contact.knownSince,
  lastInboundAt: later(contact.lastInboundAt, other.lastInboundAt),
  optedOut: contact.optedOut || other.optedOut,
  preferenceAt: later(contact.preferenceAt, other.preferenceAt)
})

/**
 * Gives a contact's person the user ids of `to`, and keeps the former ids as aliases. `other` is the contact of the new
 * id and is merged. Returns `undefined` if both contacts have numbers, because these are not known to be one line.
 */
export const rename = (
  contact: Contact,
  to: Customer & { readonly phone: null },
  other: Contact | undefined
): Pick<Resolution, "contact" | "gone"> | undefined => {
  if (other !== undefined && other.key === contact.key) return { contact, gone: [] }
  if (other !== undefined && other.customer.phone !== null && contact.customer.phone !== null) return undefined
  const [line, person] = other !== undefined && other.customer.phone !== null ? [other, contact] : [contact, other]
  // a new parent id does not replace the person's own id
  const userId = CustomerNames.isParentId(to.userId) ? contact.customer.userId ?? to.userId : to.userId
  const key = line.customer.phone === null ? userId : line.key
  const names = [to, ...[line, ...(person === undefined ? [] : [person])].map(({ customer }) => customer)]
    .flatMap((customer) => [...CustomerNames.linesOf(customer), ...CustomerNames.idsOf(customer)])
  const renamed = {
    ...(person === undefined ? line : merge(line, person)),
    ...calledBy(key, line.customer.phone, userId, names),
    isUserFirst: person === undefined || isOlder(line, person) ? line.isUserFirst : person.isUserFirst
  }
  return { contact: renamed, gone: [contact, ...(other === undefined ? [] : [other])].filter((one) => one.key !== key) }
}

/**
 * Copies to a contact what is known of its customer from the contact of the customer's former number: the later window
 * and the newer preference. Copying twice changes nothing, so a repeated report of the move is harmless.
 */
export const follow = (contact: Contact, before: Contact): Contact => {
  const followed = { ...contact, lastInboundAt: later(contact.lastInboundAt, before.lastInboundAt) }
  return before.preferenceAt === null
    ? followed
    : prefer(followed, before.optedOut ? "opt_out" : "opt_in", before.preferenceAt)
}
