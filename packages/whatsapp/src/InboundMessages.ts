/**
 * Reads customers' messages (`messages` of a post), and messages that the business writes on its own phone.
 */
import { CustomerNames, type InboundItem } from "@wac/core"
import * as Customers from "./Customers.ts"
import { aside, contentIn } from "./InboundContents.ts"
import * as Payload from "./Payload.ts"
import { type PostSource, skipped, timeOf } from "./PostSource.ts"

const Context = Payload.shape({ id: Payload.word, from: Customers.phone })

/** The context of a message: the quoted message, whether it was forwarded, and the advertisement that led to it. */
const contextOf = (message: Payload.Fields): Payload.Json | null => {
  const { from, id } = Context(message["context"])
  const context = {
    ...(id === undefined ? {} : { message_id: id }),
    ...(id === undefined || from === undefined ? {} : { from }),
    ...Payload.pick(message["context"], ["forwarded", "frequently_forwarded", "referred_product"]),
    ...Payload.pick(message, ["referral"])
  }
  return Object.keys(context).length === 0 ? null : context
}

/** The types of entries in `messages` that are no messages: the customer opened the chat. */
const noMessages = new Set(["request_welcome"])

const Message = Payload.shape({
  id: Payload.word,
  from: Customers.phone,
  from_user_id: Customers.userId,
  from_parent_user_id: Customers.userId,
  to: Customers.phone,
  to_user_id: Customers.userId,
  timestamp: Payload.instant,
  type: Payload.word,
  group_id: Payload.word
})

/** Reads an entry of `messages`: a customer's message, or the platform's notice about a customer. */
export const read = (
  json: Payload.Json,
  customers: Customers.Directory,
  source: PostSource
): InboundItem.InboundItem => {
  const message = Payload.fields(json) ?? {}
  const { from, from_parent_user_id, from_user_id, group_id, id, timestamp, type } = Message(json)
  const at = timeOf(timestamp, source)
  if (type === "system") return Customers.moved(message["system"], { from, at }, source)
  if (type !== undefined && noMessages.has(type)) return skipped("message", type)
  const named = customers.find(from, from_user_id, from_parent_user_id)
  const customer = named && CustomerNames.withAliases(named, [
    ...named.aliases ?? [],
    ...Customers.sharedNumbers(message)
  ])
  if (source.numberId === undefined) return skipped("message:without_number")
  if (id === undefined) return skipped("message:without_id")
  if (customer === undefined) return skipped("message:without_sender")
  const profile = customers.profileOf(customer)
  return {
    _tag: "Message",
    message: {
      providerNumberId: source.numberId,
      providerMessageId: id,
      customer,
      at,
      ...(group_id === undefined ? contentIn(message, type) : inGroup(message, type)),
      context: contextOf(message),
      preference: undefined,
      ...(profile === undefined ? {} : { profile })
    }
  }
}

/** The content of a message in a group. The business cannot answer its sender there, so it is passed on unchanged. */
const inGroup = (message: Payload.Fields, type: string | undefined) =>
  aside(type, Payload.pick(message, ["group_id", ...type === undefined ? [] : [type]]))

/** Reads a message that the business wrote to a customer on its own phone. */
export const readEcho = (json: Payload.Json, source: PostSource): InboundItem.InboundItem => {
  const message = Payload.fields(json) ?? {}
  const { group_id, id, timestamp, to, to_user_id, type } = Message(json)
  if (group_id !== undefined) return skipped("echo:group")
  const customer = Customers.of(to, to_user_id)
  if (source.numberId === undefined) return skipped("echo:without_number")
  if (id === undefined) return skipped("echo:without_id")
  if (customer === undefined) return skipped("echo:without_recipient")
  return {
    _tag: "Message",
    message: {
      providerNumberId: source.numberId,
      providerMessageId: id,
      customer,
      at: timeOf(timestamp, source),
      ...contentIn(message, type),
      context: contextOf(message),
      preference: undefined,
      isEcho: true
    }
  }
}
