/**
 * Opt-outs of names (contract §13): opt-outs that a person or a program set, and opt-outs of customers who were erased.
 * They are stored under a keyed hash of the name, so that they outlive everything else that is known of the customer.
 * An opt-out for every number of the workspace may have exceptions for single numbers. Pure.
 */
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import type * as Contact from "./Contact.ts"
import * as CustomerNames from "./CustomerNames.ts"

/** Who opted the customer out: the customer, the provider, an API key, a member, or an imported list. */
export const sources = ["customer", "provider", "api", "person", "import"] as const
/** Who opted the customer out. */
export type Source = (typeof sources)[number]

/** An opt-out of a name, or a number's exception from one, as it is stored. */
export interface Suppression {
  readonly workspaceId: WorkspaceId
  /** The number for which it holds; `null` for every number of the workspace. */
  readonly phoneNumberId: PhoneNumberId | null
  /** The hash of the name's key (`Contact.keyFor`), which is the same for every written form of a number. */
  readonly hash: string
  /** False for an exception: this number may write despite an opt-out for every number. */
  readonly optedOut: boolean
  /** The opted-out name, when and by whom; `null` once the customer was erased, and in an exception. */
  readonly name: { readonly key: string; readonly at: Instant; readonly source: Source } | null
}

/** The hash of each name, by the name's key (`CustomerNames.keyOf`). */
export type Hashes = Readonly<Record<string, string>>

/** The text that is hashed for a name in a workspace. */
export const secretOf = (workspaceId: WorkspaceId, key: string): string => `suppression ${workspaceId} ${key}`

/** Identifies a suppression within its workspace. */
export const placeOf = ({ hash, phoneNumberId }: Pick<Suppression, "hash" | "phoneNumberId">): string =>
  `${hash} ${phoneNumberId ?? ""}`

/**
 * The opt-out that is in force for a number, given what is stored under one name. An exception for the number takes
 * precedence.
 */
export const inForce = (
  stored: ReadonlyArray<Suppression>,
  phoneNumberId: PhoneNumberId | null
): Suppression | undefined => {
  const own = stored.find((one) => one.phoneNumberId === phoneNumberId) ??
    stored.find((one) => one.phoneNumberId === null)
  return own?.optedOut === true ? own : undefined
}

/**
 * Whether the customer has chosen since the opt-out: the contact holds a newer choice. An opt-out without a name counts
 * as older than any choice.
 */
export const isOutdated = ({ name }: Suppression, { preferenceAt }: Contact.Contact): boolean =>
  preferenceAt !== null && (name === null || name.at < preferenceAt)

/**
 * Whether a number must not write to a customer, because of the customer's contact or of what is stored under the name
 * that the send uses.
 */
export const isOptedOut = (
  contact: Contact.Contact | undefined,
  stored: ReadonlyArray<Suppression>,
  phoneNumberId: PhoneNumberId
): boolean => {
  if (contact?.optedOut === true) return true
  const found = inForce(stored, phoneNumberId)
  return found !== undefined && (contact === undefined || !isOutdated(found, contact))
}

/**
 * Applies an opt-out that is stored under one of a contact's names. An opt-out of an erased customer has no time: it
 * counts as older than the report at `at`, in which the customer appears again.
 */
export const applied = (contact: Contact.Contact, { name }: Suppression, at: Instant): Contact.Contact =>
  contact.optedOut
    ? contact
    : { ...contact, optedOut: true, preferenceAt: Math.max(contact.preferenceAt ?? 0, name?.at ?? at - 1) }

/** A name, its hash, and what is stored under the hash. */
export interface Named {
  readonly name: string
  readonly hash: string
  readonly stored: ReadonlyArray<Suppression>
}

/**
 * The opt-outs that names get because they were reported together: each name is opted out wherever another one is. An
 * exception comes with its opt-out for every number, but is not given to a name that is opted out for every number
 * already.
 */
export const shared = (names: ReadonlyArray<Named>): ReadonlyArray<Suppression> =>
  names.flatMap(({ hash, name, stored }) => {
    const isGeneral = stored.some((one) => one.phoneNumberId === null)
    const others = names.filter((one) => one.hash !== hash).flatMap(({ stored }) => stored).filter((one) =>
      (one.optedOut || !isGeneral) && !stored.some(({ phoneNumberId }) => phoneNumberId === one.phoneNumberId)
    )
    // an opt-out comes before an exception
    return [...others.filter(({ optedOut }) => !optedOut), ...others.filter(({ optedOut }) => optedOut)]
      .map((one) => ({ ...one, hash, name: one.name && { ...one.name, key: name } }))
  })

/** The suppressions to store (`kept`) and to delete (`gone`). */
export interface Changes {
  readonly kept: ReadonlyArray<Suppression>
  readonly gone: ReadonlyArray<Suppression>
}

/** What is stored under one name after the changes. */
export const changed = (
  stored: ReadonlyArray<Suppression>,
  { gone, kept }: Changes
): ReadonlyArray<Suppression> => {
  const places = new Set([...gone, ...kept].map(placeOf))
  return [...stored.filter((one) => !places.has(placeOf(one))), ...kept]
}

/**
 * Ends the opt-out of one name for a number, or for every number. If a single number opts in while the others stay
 * opted out, the number gets an exception. `isSince` returns whether the choice is newer than an opt-out.
 */
export const ended = (
  stored: ReadonlyArray<Suppression>,
  phoneNumberId: PhoneNumberId | null,
  isSince: (found: Suppression) => boolean = () => true
): Changes => {
  const found = stored.filter(isSince)
  if (phoneNumberId === null) return { kept: [], gone: found }
  const general = found.find((one) => one.phoneNumberId === null)
  const own = found.filter((one) => one.phoneNumberId === phoneNumberId)
  if (general === undefined) {
    // beside an opt-out that is newer than this choice, the exception stays that an earlier choice made
    const isOptedOut = stored.some((one) => one.phoneNumberId === null)
    return { kept: [], gone: isOptedOut ? own.filter(({ optedOut }) => optedOut) : own }
  }
  return own.some(({ optedOut }) => !optedOut)
    ? { kept: [], gone: [] }
    : { kept: [{ ...general, phoneNumberId, optedOut: false, name: null }], gone: [] }
}

const isRenewed = ({ name }: Suppression, wanted: Suppression): boolean =>
  name === null || wanted.name !== null && wanted.name.source !== "import" && wanted.name.at > name.at

/**
 * Opts out a name for a number, or for every number. An opt-out in force is replaced by a newer one, so that it also
 * outdates what the customer chose in between and is reported later; an imported list knows nothing of that and only
 * replaces one that has lost its name. An opt-out for every number ends the exceptions of single numbers, unless
 * `keepsExceptions`.
 */
export const begun = (
  stored: ReadonlyArray<Suppression>,
  wanted: Suppression,
  keepsExceptions = false
): Changes => {
  const { phoneNumberId } = wanted
  const found = stored.find((one) => one.phoneNumberId === phoneNumberId && one.optedOut)
  const gone = phoneNumberId === null
    ? stored.filter((one) => one.phoneNumberId !== null && (one.optedOut || !keepsExceptions))
    : []
  return { kept: found !== undefined && !isRenewed(found, wanted) ? [] : [wanted], gone }
}

/**
 * What remains after the erasure of a customer with these names and contacts: only the fact of the opt-out, under the
 * hashes. A number remains opted out if a send from it to one of the names would have been refused.
 */
export const erased = (
  workspaceId: WorkspaceId,
  names: Hashes,
  contacts: ReadonlyArray<Contact.Contact>,
  stored: ReadonlyArray<Suppression>
): Changes => {
  const places = new Set<PhoneNumberId | null>([
    null,
    ...contacts.map(({ phoneNumberId }) => phoneNumberId),
    ...stored.map(({ phoneNumberId }) => phoneNumberId)
  ])
  const hashes = Object.values(names)
  const under = (hash: string) => stored.filter((one) => one.hash === hash)
  const isGeneral = hashes.some((hash) => inForce(under(hash), null) !== undefined)
  const wanted = [...places].flatMap(
    (phoneNumberId): ReadonlyArray<Pick<Suppression, "phoneNumberId" | "optedOut">> => {
      if (phoneNumberId === null) return isGeneral ? [{ phoneNumberId, optedOut: true }] : []
      const known = contacts.filter((one) => one.phoneNumberId === phoneNumberId)
      const optedOut = known.some((contact) => contact.optedOut) ||
        Object.entries(names).some(([name, hash]) =>
          isOptedOut(known.find((contact) => CustomerNames.isKnownBy(contact)(name)), under(hash), phoneNumberId)
        )
      return optedOut === isGeneral ? [] : [{ phoneNumberId, optedOut }]
    }
  )
  const kept = hashes.flatMap((hash) => wanted.map((one) => ({ ...one, workspaceId, hash, name: null })))
  const ofKept = new Set(kept.map(placeOf))
  return { kept, gone: stored.filter((one) => !ofKept.has(placeOf(one))) }
}

/** The names of the contacts that `names` lacks. A choice must be made for all names of the contacts. */
export const missing = (
  names: Hashes,
  contacts: ReadonlyArray<Contact.Contact>
): ReadonlyArray<string> =>
  [
    ...new Set(contacts.flatMap(({ customer, key }) => [key, ...CustomerNames.keysIn(customer)]))
  ].filter((name) => names[name] === undefined)
