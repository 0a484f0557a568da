/**
 * The names of a customer (contract §13): which texts are names, which names mean the same customer, and which names a
 * send may use. A customer has one line (a phone number in all of its written forms), one user id per portfolio at a
 * time, and the parent of that id. From the provider's reports, `ContactMerge.resolve` learns which other names belong
 * together. Pure.
 */
import { InvalidBody } from "../Errors.ts"
import { canonicalOf, e164Expected, isE164, nationalPrefixesOf } from "../numbers/E164.ts"

/** Further names of a customer. */
interface Aliases {
  /**
   * Further numbers of the line, as keys, that are not in the tables of this file; and further user ids: the parent and
   * former ones. Omitted if there are none.
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

/** The part of a contact that holds its customer's names. */
export interface Named {
  readonly key: string
  readonly customer: Customer
}

/**
 * A user id in the usual form: two letters of a country, a dot, `ENT.` if a group of businesses shares the id, and
 * letters and digits.
 */
export const userIdPattern = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/

/** Any text in the form of a phone number: a plus and 7 to 15 digits. */
export const numberPattern = /^\+[1-9][0-9]{6,14}$/

/** Any text that may be a user id, even in an unusual form: visible ASCII characters that begin with a letter. */
export const foreignPattern = /^[A-Za-z][!-~]{1,199}$/

/** Any text that may be a name of a customer. */
export const pattern = new RegExp(`${numberPattern.source}|${foreignPattern.source}`)

/** Whether a text may be a name of a customer. */
export const isName = (text: string): boolean => pattern.test(text)

/** Whether a name is a phone number in any form. */
export const isNumber = (name: string): boolean => name.startsWith("+")

/** Whether a name is a user id in any form. */
export const isUserId = (name: string): boolean => /^[A-Za-z]/.test(name)

/** Whether a user id is the parent that a group of businesses shares, of the ids that each business uses. */
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

/** {@link variants} in the opposite direction. */
const others: ReadonlyArray<readonly [kept: RegExp, variant: string]> = [
  [/^\+55([1-9][1-9])9([6-9][0-9]{7})$/, "+55$1$2"],
  [/^\+52([0-9]{10})$/, "+521$1"],
  [/^\+54([0-9]{10})$/, "+549$1"]
]

/**
 * The key of a customer by a number or user id. All written forms of one line have the same key. A key is not a number
 * to send to.
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

/** A name as a send accepts it: without the national prefix that earlier versions stored in a number. */
export const sendable = (name: string): string => isNumber(name) ? canonicalOf(name) : name

/**
 * Every written form of the line with this key, the key first: the forms in the tables, and forms with a national
 * prefix.
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
 * Whether a request may use a name: any request may, requests may only if the workspace knows a customer by the name,
 * or none may, because the number is not in canonical form.
 */
export type Judged =
  | { readonly _tag: "Valid" }
  | { readonly _tag: "IfKnown" }
  | { readonly _tag: "NotCanonical"; readonly canonical: string }

/** Judges whether a request may use a name. */
export const judge = (name: string): Judged => {
  if (!isNumber(name)) return { _tag: userIdPattern.test(name) ? "Valid" : "IfKnown" }
  if (isE164(name)) return { _tag: "Valid" }
  const canonical = canonicalOf(name)
  if (canonical !== name) return { _tag: "NotCanonical", canonical }
  return { _tag: variantsOf(keyOf(name)).includes(name) ? "Valid" : "IfKnown" }
}

/**
 * The error for a name in a request's field `param`; `undefined` if the request may use the name. `known` is the
 * customer's contact, or whether the workspace knows a customer by the name.
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

/** Whether a customer is known by exactly this name. Other written forms of a number do not count. */
export const isKnownBy = ({ customer: { aliases = [], phone, userId }, key }: Named) => (name: string): boolean =>
  key === name || phone === name || userId === name || aliases.includes(name)

/** The keys of the numbers among a customer's names. All numbers are forms of one line. */
export const linesOf = ({ aliases = [], phone }: Customer): ReadonlyArray<string> => [
  ...new Set([...(phone === null ? [] : [phone]), ...aliases.filter(isNumber)].map(keyOf))
]

/** The user ids among a customer's names, the present one first. */
export const idsOf = ({ aliases = [], userId }: Customer): ReadonlyArray<string> => [
  ...new Set([...(userId === null ? [] : [userId]), ...aliases.filter(isUserId)])
]

/** The customer with their user ids only, without numbers. */
export const personOf = (customer: Customer & { readonly userId: string }): Customer & { readonly phone: null } => ({
  ...withAliases(customer, idsOf(customer).slice(1)),
  phone: null,
  userId: customer.userId
})

/** The names by which the customer's contacts are found: keys of numbers, and user ids. */
export const keysIn = (customer: Customer): ReadonlyArray<string> => [...linesOf(customer), ...idsOf(customer)]

/** All of these names, each number in every written form. */
export const textsOf = (names: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(names.flatMap((name) => isNumber(name) ? [name, ...formsOf(keyOf(name))] : [name]))
]

/** The customer who is known by this name only. */
export const customerOf = (to: string): Customer =>
  isNumber(to) ? { phone: to, userId: null } : { phone: null, userId: to }

/**
 * The customer to whom we wrote under the name `to`, with the names that the provider reported (`told`). A number in
 * `to` remains the customer's `phone`.
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

/** The customer with these aliases instead, each once and in a fixed order. */
export const withAliases = (customer: Customer, aliases: ReadonlyArray<string>): Customer => {
  const { aliases: _, ...named } = customer
  return aliases.length === 0 ? named : { ...named, aliases: [...new Set(aliases)].toSorted() }
}

/** Whether a customer has several names, from which `ContactMerge.resolve` may learn something. */
export const isTelling = (customer: Customer): boolean => keysIn(customer).length > 1

/** Whether a contact already has every name of a customer. */
export const isKnownAs = (contact: Named | undefined, customer: Customer): boolean =>
  contact !== undefined && keysIn(customer).every(isKnownBy(contact))
