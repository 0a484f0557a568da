/**
 * The records of one customer of a workspace, for export and erasure (contract §7): the names that the
 * customer goes by, and which records are theirs. Pure.
 */
import type { Event } from "../events/Event.ts"
import * as Id from "../Id.ts"
import type { Contact } from "./Contact.ts"
import * as CustomerNames from "./CustomerNames.ts"

/** The kinds of record that hold something of a customer, in the order in which they are erased. */
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

/** Everything that a customer is called by. */
export interface Names {
  /** Phone numbers in all of their forms, and user ids of the provider. */
  readonly texts: ReadonlyArray<string>
  /** Keys of their contacts. */
  readonly keys: ReadonlyArray<string>
}

/** The names of a customer, given a phone number or a user id, and the contacts that are theirs. */
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

/** The fields of an event's data that name a customer. */
export const parties = ["to", "from", "to_user_id", "from_user_id"] as const

/** Whether an event is about a customer. */
export const isOf = ({ texts }: Names, { data }: Pick<Event, "data">): boolean =>
  parties.some((field) => texts.includes(data[field] as string))

/**
 * How a customer's names stand in the JSON of a provider's post: in quotes, and a number without its plus.
 */
export const quoted = ({ texts }: Names): ReadonlyArray<string> => texts.map((text) => `"${text.replace(/^\+/, "")}"`)

/** The files that an event of a customer's message names. */
export const filesOf = (data: unknown): ReadonlyArray<Id.MediaId> => {
  if (typeof data !== "object" || data === null) return []
  return Object.entries(data).flatMap(([name, value]) =>
    name === "media_id" && typeof value === "string" && Id.parse(Id.MediaId, value)._tag === "Some"
      ? [value as Id.MediaId]
      : filesOf(value)
  )
}

/** The remainder of an uploaded row of a campaign. */
export const erasedRow = { problem: { reason: "malformed", message: "the customer was erased" } } as const
