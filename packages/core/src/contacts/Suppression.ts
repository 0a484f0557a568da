/**
 * Opt-outs that belong to names (contract §13): those that a person or a program set, and those of customers who were
 * erased. They are found by a keyed hash of a name, so that they outlive everything else that is known of the customer.
 * An opt-out for every number of the workspace may have numbers that are excepted from it. Pure.
 */
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import type * as Contact from "./Contact.ts"
import * as CustomerNames from "./CustomerNames.ts"

/** Who opted the customer out: the customer, the provider, an API key, a member, or a list that was imported. */
export const sources = ["customer", "provider", "api", "person", "import"] as const
/** Who opted the customer out. */
export type Source = (typeof sources)[number]

export interface Suppression {
  readonly workspaceId: WorkspaceId
  /** `null` for every number of the workspace. */
  readonly phoneNumberId: PhoneNumberId | null
  /** Of the name's key (`Contact.keyFor`), so that every written form of a number has the same. */
  readonly hash: string
  /** False for a number that is excepted from an opt-out for every number. */
  readonly optedOut: boolean
  /** The name that was opted out; `null` once the customer was erased, and in an exception. */
  readonly name: { readonly key: string; readonly at: Instant; readonly source: Source } | null
}

/** The hashes of names, by `CustomerNames.keyOf` the name. */
export type Hashes = Readonly<Record<string, string>>

/** The text that is hashed for a name in a workspace. */
export const secretOf = (workspaceId: WorkspaceId, key: string): string => `suppression ${workspaceId} ${key}`

/** Identifies a suppression among those of its workspace. */
export const placeOf = ({ hash, phoneNumberId }: Pick<Suppression, "hash" | "phoneNumberId">): string =>
  `${hash} ${phoneNumberId ?? ""}`

/** The opt-out that holds for a number, given what is stored under one name; an exception of the number comes first. */
export const inForce = (
  stored: ReadonlyArray<Suppression>,
  phoneNumberId: PhoneNumberId | null
): Suppression | undefined => {
  const own = stored.find((one) => one.phoneNumberId === phoneNumberId) ??
    stored.find((one) => one.phoneNumberId === null)
  return own?.optedOut === true ? own : undefined
}

/** Whether a customer has chosen since: the contact holds the newest choice, unless it knows of none. */
export const isOutdated = ({ name }: Suppression, { preferenceAt }: Contact.Contact): boolean =>
  preferenceAt !== null && (name === null || name.at < preferenceAt)

/**
 * Whether a number must not write to a customer who opted out: by the customer's contact, or by what is stored under
 * the name that the send uses.
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
 * The contact with an opt-out that is stored under one of its names. An opt-out of an erased customer has no time: it
 * counts as older than the report, made at `at`, by which the customer is known again.
 */
export const applied = (contact: Contact.Contact, { name }: Suppression, at: Instant): Contact.Contact =>
  contact.optedOut
    ? contact
    : { ...contact, optedOut: true, preferenceAt: Math.max(contact.preferenceAt ?? 0, name?.at ?? at - 1) }

/** The record under each name, given a hash of each. */
export interface Named {
  readonly name: string
  readonly hash: string
  readonly stored: ReadonlyArray<Suppression>
}

/**
 * The opt-outs that names get because they are told together: each of them is opted out wherever another one is. An
 * exception from an opt-out for every number comes along with it, and is made for no name that is opted out already.
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

/** The records to store and to remove. */
export interface Changes {
  readonly kept: ReadonlyArray<Suppression>
  readonly gone: ReadonlyArray<Suppression>
}

/**
 * Ends the opt-out under one name for a number, or for every number. A number that opts in while all others stay opted
 * out is an exception. `isSince` tells whether the choice is newer than an opt-out.
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
  return general === undefined
    ? { kept: [], gone: own }
    : { kept: [{ ...general, phoneNumberId, optedOut: false, name: null }], gone: [] }
}

/**
 * Opts out a name, for a number or for every number. What holds already stays as it is, unless it has lost its name.
 */
export const begun = (stored: ReadonlyArray<Suppression>, wanted: Suppression): Changes => {
  const { phoneNumberId } = wanted
  const found = stored.find((one) => one.phoneNumberId === phoneNumberId && one.optedOut)
  const gone = phoneNumberId === null ? stored.filter((one) => one.phoneNumberId !== null) : []
  return { kept: found !== undefined && found.name !== null ? [] : [wanted], gone }
}

/**
 * The remainder after the erasure of a customer with these names and contacts: that they are opted out, and nothing
 * else. They are for a number if a send to one of their names would have been refused.
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

/** The names that a choice is about must be all that the contacts have. */
export const missing = (
  names: Hashes,
  contacts: ReadonlyArray<Contact.Contact>
): ReadonlyArray<string> =>
  [
    ...new Set(contacts.flatMap(({ customer, key }) => [key, ...CustomerNames.keysIn(customer)]))
  ].filter((name) => names[name] === undefined)
