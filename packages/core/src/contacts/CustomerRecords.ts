/**
 * The records of one customer of a workspace, for export and erasure (contract §7): the customer's names, and which
 * records belong to the customer. Pure.
 */
import { Option, Predicate } from "effect"
import type { Event } from "../events/Event.ts"
import * as Id from "../Id.ts"
import type { Contact } from "./Contact.ts"
import * as CustomerNames from "./CustomerNames.ts"

/** The kinds of records that contain data of a customer, in the order in which they are erased. */
export const places = [
  "deliveries",
  "events",
  "outbox",
  "messages",
  "campaignRows",
  "inboundMessages",
  "conversations",
  "posts",
  "contacts"
] as const

/** A kind of record. */
export type Place = (typeof places)[number]

/** All names of a customer. */
export interface Names {
  /** Phone numbers in all written forms, and the provider's user ids. */
  readonly texts: ReadonlyArray<string>
  /** The keys of the customer's contacts. */
  readonly keys: ReadonlyArray<string>
}

/** The names of a customer: a phone number or user id that was given, and the names in the customer's contacts. */
export const namesOf = (given: string, contacts: ReadonlyArray<Contact>): Names => {
  const names = [
    ...new Set([given, ...contacts.flatMap(({ customer, key }) => [key, ...CustomerNames.keysIn(customer)])])
  ]
  const forms = contacts.flatMap(({ customer: { phone } }) => phone ?? [])
  return {
    texts: CustomerNames.textsOf([...names, ...forms]),
    keys: [...new Set(names.map(CustomerNames.keyOf))]
  }
}

/** The names in both. */
export const joined = (some: Names, more: Names): Names => ({
  texts: [...new Set([...some.texts, ...more.texts])],
  keys: [...new Set([...some.keys, ...more.keys])]
})

/** The fields of an event's data that name a customer. */
export const parties = ["to", "from", "to_user_id", "from_user_id"] as const

/**
 * Whether a record is a customer's. If it is about a message of a conversation, the conversation decides: `conversation`
 * is its customer, who may have had the number before somebody else. If not, the names in the record decide.
 */
export const isOf = (
  { texts }: Names,
  conversation: string | undefined,
  named: ReadonlyArray<string | null | undefined>
): boolean =>
  conversation === undefined ? named.some((name) => name != null && texts.includes(name)) : texts.includes(conversation)

/** The names in an event. */
export const partiesOf = ({ data }: Pick<Event, "data">): ReadonlyArray<string> =>
  parties.map((field) => data[field]).filter((name) => typeof name === "string")

/** The customer's names as the JSON of a provider's post contains them: in quotes, and a number without its plus. */
export const quoted = ({ texts }: Names): ReadonlyArray<string> => texts.map((text) => `"${text.replace(/^\+/, "")}"`)

/**
 * What the body of a provider's post says of a customer to these numbers of the workspace, as JSON: a post may hold
 * messages of many customers to numbers of many workspaces. Of each array only the elements stay that name the customer
 * and, where some of them name a number of the workspace, that name one. An element of which a field is the customer's
 * name, such as a message or a status, stays whole. `null` if it is not JSON, whose parts cannot be told apart.
 */
export const inPost = (body: string, names: Names, providerNumberIds: ReadonlyArray<string>): string | null => {
  const customer = quoted(names)
  const numbers = providerNumberIds.map((id) => JSON.stringify(id))
  const namesAny = (written: ReadonlyArray<string>) => (value: unknown): boolean => {
    const text = JSON.stringify(value)
    return written.some((name) => text.includes(name))
  }
  const ofCustomer = namesAny(customer)
  const ofNumber = namesAny(numbers)
  const isTheirs = (element: unknown): boolean =>
    Predicate.isObject(element) && Object.values(element).some((field) => customer.includes(JSON.stringify(field)))
  const part = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value
    if (!Array.isArray(value)) {
      return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, part(field)]))
    }
    const ours = value.some(ofNumber) ? value.filter(ofNumber) : value
    return ours.filter(ofCustomer).map((element) => isTheirs(element) ? element : part(element))
  }
  return Option.getOrNull(Option.liftThrowable(() => JSON.stringify(part(JSON.parse(body))))())
}

const either = (texts: ReadonlyArray<string>): string =>
  `(?:${texts.map((text) => text.replaceAll(/[^0-9A-Za-z]/g, String.raw`\$&`)).join("|")})`

/**
 * A regular expression, for JavaScript and PostgreSQL, of the customer's names in JSON: whole values of the field that
 * names a customer, and numbers within the message of an error. What equals a name elsewhere is not the customer's, such
 * as a status, or one of the workspace's own numbers. A number stands before what must precede it, so that not every
 * place in a long text is checked for that.
 */
export const written = ({ texts }: Names): string => {
  const numbers = texts.filter(CustomerNames.isNumber)
  const values = texts.map((text) => JSON.stringify(text).slice(1, -1))
  return [
    ...(numbers.length === 0
      ? []
      : [String.raw`${either(numbers)}(?![0-9])(?<="message":"(?:[^"\\]|\\.)*)`]),
    ...(values.length === 0 ? [] : [`(?<="customer":")${either(values)}(?=")`])
  ].join("|")
}

/** The ids of the files in the data of an event. */
export const filesOf = (data: unknown): ReadonlyArray<Id.MediaId> => {
  if (typeof data !== "object" || data === null) return []
  return Object.entries(data).flatMap(([name, value]) =>
    name === "media_id" && typeof value === "string" && Id.parse(Id.MediaId, value)._tag === "Some"
      ? [value as Id.MediaId]
      : filesOf(value)
  )
}

/** What replaces a campaign's row when its customer is erased. */
export const erasedRow = { problem: { reason: "malformed", message: "the customer was erased" } } as const
