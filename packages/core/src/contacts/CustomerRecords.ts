/**
 * What is stored of one customer of a workspace, so that it can be exported and erased (contract §7): the names that the
 * customer goes by, which records are theirs, and what is left of a message. Pure.
 */
import type { Event } from "../events/Event.ts"
import * as Id from "../Id.ts"
import type { Message, OutboundMessage } from "../messages/Message.ts"
import type * as Send from "../messages/Send.ts"
import { type Contact, formsOf, keyOf } from "./Contact.ts"

/** The kinds of record that hold something of a customer, in the order in which they are erased. */
export const places = [
  "deliveries",
  "events",
  "messages",
  "campaignRows",
  "inboundMessages",
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
  const phones = [given, ...contacts.flatMap(({ customer: { phone }, key }) => [key, phone ?? key])]
    .filter((name) => name.startsWith("+"))
  const users = [given, ...contacts.map(({ customer: { userId } }) => userId)]
    .filter((name) => name !== null && !name.startsWith("+")) as ReadonlyArray<string>
  const texts = new Set([...phones.flatMap((phone) => [phone, ...formsOf(keyOf(phone))]), ...users])
  return { texts: [...texts], keys: [...new Set([...phones.map(keyOf), ...users])] }
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

/** What becomes of a message when its customer is erased. */
export type Fate =
  /** It is being sent, so it has to be looked at again. */
  | { readonly _tag: "Busy" }
  /** It waits in a campaign, which has to skip it first. */
  | { readonly _tag: "Queued" }
  /** It was certainly not sent: it is deleted, and its key is free. */
  | { readonly _tag: "Removed" }
  /** Nothing in it names the customer any more. While its key is kept, so is the provider's id, which answers repeats. */
  | { readonly _tag: "Emptied"; readonly message: Message }
  /** It already was so. */
  | { readonly _tag: "Done" }

/** What a message says after its customer was erased. It is only listed, never sent. */
const emptied = ({ type }: OutboundMessage): OutboundMessage => ({ to: "", type, [type]: {} } as never)

/** Whether a message was emptied. */
export const isEmptied = ({ content }: Message): boolean => content.to === ""

/** Decides what becomes of a send. A message keeps its id, times and status, so that counts stay right. */
export const fateOf = ({ binding, message }: Send.Send): Fate => {
  const isWaiting = message.status === "queued" || message.status === "sending"
  if (isWaiting && binding !== null && binding.claim !== null) return { _tag: "Busy" }
  if (isWaiting && message.campaignId !== null) return { _tag: "Queued" }
  if (isWaiting) return { _tag: "Removed" }
  const isKeyed = binding !== null && message.campaignId === null
  if (isEmptied(message) && (isKeyed || message.providerMessageId === null)) return { _tag: "Done" }
  return {
    _tag: "Emptied",
    message: {
      ...message,
      content: emptied(message.content),
      providerMessageId: isKeyed ? message.providerMessageId : null,
      error: message.error && { code: message.error.code, message: "the customer was erased" }
    }
  }
}

/** The key of a campaign's message whose customer was erased: it names nobody, and is no other's. */
export const keyOfErased = (id: Id.MessageId): string => `erased ${id}`

/** What is left of an uploaded row of a campaign. */
export const erasedRow = { problem: { reason: "malformed", message: "the customer was erased" } } as const
