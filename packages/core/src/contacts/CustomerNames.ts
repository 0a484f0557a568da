/**
 * The names of a customer (contract §13): what is a name, which names are one, and which of them a send may use. A
 * customer has one line, which is a phone number in all of its written forms, one user id per portfolio at a time, and
 * the parent of that id. Which names belong together beyond that, `Contact.meet` learns from what the provider reports.
 * Pure.
 */
import { InvalidBody } from "../Errors.ts"
import { canonicalOf, e164Expected, isE164, nationalPrefixesOf } from "../numbers/PhoneNumber.ts"

/** Further names of a customer. */
interface Aliases {
  /**
   * Other numbers of the line that the tables of `CustomerNames` do not know, as keys, and other user ids: the parent,
   * and former ones. Omitted if there is none.
   */
  readonly aliases?: ReadonlyArray<string>
}

/**
 * A customer as the provider identifies them: by phone number, by the provider's user id, or by both. `phone` is in the
 * provider's form, which need not be a possible number: `+52 1 …` no longer is.
 */
export type Customer =
  & Aliases
  & (
    | { readonly phone: string; readonly userId: string | null }
    | { readonly phone: null; readonly userId: string }
  )

/** The name of a contact. */
export interface Named {
  readonly key: string
  readonly customer: Customer
}

/** A user id as the provider reports it: a country, a point, and `ENT.` if it is shared by a group of businesses. */
export const userIdPattern = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/

/** Any text in the form of a phone number: a plus and 7 to 15 digits. */
export const numberPattern = /^\+[1-9][0-9]{6,14}$/

/** A name that is no number and no user id in the usual form, but may be one that the provider gave: visible ASCII. */
export const foreignPattern = /^[A-Za-z][!-~]{1,199}$/

/** Any text that may be a name of a customer at all. */
export const pattern = new RegExp(`${numberPattern.source}|${foreignPattern.source}`)

/** Whether a text may be a name of a customer at all. */
export const isName = (text: string): boolean => pattern.test(text)

/** Whether a name is a phone number in any form. */
export const isNumber = (name: string): boolean => name.startsWith("+")

/** Whether a name is a user id in any form. */
export const isUserId = (name: string): boolean => /^[A-Za-z]/.test(name)

/** Whether a user id is shared by a group of businesses, and so is the parent of the ids that each of them uses. */
export const isParentId = (name: string): boolean => /^[A-Z]{2}\.ENT\./.test(name)

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
 * The key of a customer who is named by number or user id: for a number, the same for every written form of one line.
 * Not a number to send to.
 */
export const keyOf = (name: string): string => {
  if (!isNumber(name)) return name
  const canonical = canonicalOf(name)
  for (const [variant, kept] of variants) if (variant.test(canonical)) return canonical.replace(variant, kept)
  return canonical
}

/** The other form of a line in the tables, if it has one. */
const variantsOf = (key: string): ReadonlyArray<string> =>
  others.flatMap(([kept, other]) => kept.test(key) ? [key.replace(kept, other)] : [])

/** A name without the national prefix that versions before kept in a number. */
export const sendable = (name: string): string => isNumber(name) ? canonicalOf(name) : name

/**
 * Every written form of the line with this key, the key first: those of the tables, and those with a national prefix.
 */
export const formsOf = (key: string): ReadonlyArray<string> => {
  if (!isNumber(key)) return [key]
  const plain = [key, ...variantsOf(key)]
  const prefixed = plain.flatMap((form) =>
    nationalPrefixesOf(form).map(({ code, prefix }) => `${code}${prefix}${form.slice(code.length)}`)
  )
  return [...new Set([...plain, ...prefixed.filter((form) => keyOf(form) === key)])]
}

/**
 * The kind of a name in a request: one that anybody may be addressed by; one that is only valid if the workspace knows
 * a customer by it; or a number in a form that is never valid.
 */
export type Judged =
  | { readonly _tag: "Valid" }
  | { readonly _tag: "IfKnown" }
  | { readonly _tag: "NotCanonical"; readonly canonical: string }

/** Judges a name that a request uses. */
export const judge = (name: string): Judged => {
  if (!isNumber(name)) return { _tag: userIdPattern.test(name) ? "Valid" : "IfKnown" }
  if (isE164(name)) return { _tag: "Valid" }
  const canonical = canonicalOf(name)
  if (canonical !== name) return { _tag: "NotCanonical", canonical }
  return { _tag: variantsOf(keyOf(name)).includes(name) ? "Valid" : "IfKnown" }
}

/**
 * Why a request cannot use the name that its field `param` has; `known` is the customer's contact, or whether the
 * workspace has one by this name.
 */
export const refusal = (
  name: string,
  known: Named | boolean | undefined,
  param = "to"
): InvalidBody | undefined => {
  const judged = judge(name)
  if (judged._tag === "Valid") return undefined
  const isKnown = typeof known === "object" ? isKnownBy(known)(name) : known
  if (judged._tag === "IfKnown" && isKnown === true) return undefined
  return new InvalidBody({
    reason: "invalid_field",
    param,
    message: judged._tag === "NotCanonical"
      ? `${param} has a national prefix after its country code; the number in E.164 format is ${judged.canonical}`
      : isNumber(name)
      ? `${param} ${e164Expected}, or a name by which this workspace already knows a customer`
      : `${param} is not the provider's user id of a customer, such as US.13491208655302741918`
  })
}

/** Whether a customer is known by this very name: no other written form of it counts. */
export const isKnownBy = ({ customer: { aliases = [], phone, userId }, key }: Named) => (name: string): boolean =>
  key === name || phone === name || userId === name || aliases.includes(name)

/** The keys of the numbers among a customer's names. They are forms of one line. */
export const linesOf = ({ aliases = [], phone }: Customer): ReadonlyArray<string> => [
  ...new Set([...(phone === null ? [] : [phone]), ...aliases.filter(isNumber)].map(keyOf))
]

/** The user ids among a customer's names, the present one first. */
export const idsOf = ({ aliases = [], userId }: Customer): ReadonlyArray<string> => [
  ...new Set([...(userId === null ? [] : [userId]), ...aliases.filter(isUserId)])
]

/** The customer without their line. */
export const personOf = (customer: Customer & { readonly userId: string }): Customer & { readonly phone: null } => ({
  ...withAliases(customer, idsOf(customer).slice(1)),
  phone: null,
  userId: customer.userId
})

/** The names by which the customer's contacts are found. */
export const keysIn = (customer: Customer): ReadonlyArray<string> => [...linesOf(customer), ...idsOf(customer)]

/** Every name of a customer in every written form. */
export const textsOf = (names: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(names.flatMap((name) => isNumber(name) ? [name, ...formsOf(keyOf(name))] : [name]))
]

/** The customer, as far as one name tells. */
export const customerOf = (to: string): Customer =>
  isNumber(to) ? { phone: to, userId: null } : { phone: null, userId: to }

/**
 * The customer whom we wrote to under the name `to`, of whom the provider reports other names. The number that we wrote
 * to stays the first form of the line.
 */
export const addressed = (to: string, told: Customer | undefined): Customer => {
  const named = customerOf(to)
  if (told === undefined) return named
  const aliases = [
    ...linesOf(told).filter((line) => named.phone !== null && line !== keyOf(named.phone)),
    ...idsOf(told).filter((id) => id !== told.userId),
    ...(named.userId !== null && told.userId !== null && named.userId !== told.userId ? [named.userId] : [])
  ]
  const phone = named.phone ?? told.phone
  return withAliases(
    phone === null ? { phone, userId: told.userId ?? named.userId! } : { phone, userId: told.userId ?? named.userId },
    aliases
  )
}

/** A customer with these other names, in a fixed order. */
export const withAliases = (customer: Customer, aliases: ReadonlyArray<string>): Customer => {
  const { aliases: _, ...named } = customer
  return aliases.length === 0 ? named : { ...named, aliases: [...new Set(aliases)].toSorted() }
}

/** Whether several names are told together, so that there may be something to learn. */
export const isTelling = (customer: Customer): boolean => keysIn(customer).length > 1

/** Whether a contact already has every name of a customer. */
export const isKnownAs = (contact: Named | undefined, customer: Customer): boolean =>
  contact !== undefined && keysIn(customer).every(isKnownBy(contact))
