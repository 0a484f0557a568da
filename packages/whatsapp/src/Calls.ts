/**
 * Reads customers' calls (`calls` of a post). A call is passed on as an unsupported message.
 */
import type { E164, InboundItem } from "@wac/core"
import * as Customers from "./Customers.ts"
import { aside } from "./InboundContents.ts"
import * as Payload from "./Payload.ts"
import { type PostSource, skipped, timeOf } from "./PostSource.ts"

const Call = Payload.shape({
  id: Payload.word,
  from: Customers.phone,
  from_user_id: Customers.userId,
  from_parent_user_id: Customers.userId,
  to: Customers.phone,
  timestamp: Payload.instant,
  event: Payload.word,
  direction: Payload.word
})

/** The fields of a call that its content omits, because the message has them: its parties and its time. */
const named = new Set([
  "from",
  "from_user_id",
  "from_parent_user_id",
  "to",
  "to_user_id",
  "to_parent_user_id",
  "timestamp"
])

/**
 * Reads an event of a customer's call. Meta uses the same id for the beginning and the end of a call, so the message's
 * id includes the event. `own` is the business's number, because some of Meta's examples swap the parties.
 */
export const read = (
  json: Payload.Json,
  own: E164.E164 | undefined,
  customers: Customers.Directory,
  source: PostSource
): InboundItem.InboundItem => {
  const { direction, event, from, from_parent_user_id, from_user_id, id, timestamp, to } = Call(json)
  if (direction === "BUSINESS_INITIATED") return skipped("call:outgoing")
  if (source.numberId === undefined) return skipped("call:without_number")
  if (id === undefined) return skipped("call:without_id")
  const customer = customers.find(from !== undefined && from === own ? to : from, from_user_id, from_parent_user_id)
  if (customer === undefined) return skipped("call:without_sender")
  const profile = customers.profileOf(customer)
  const others = Object.entries(Payload.fields(json) ?? {}).filter(([name]) => !named.has(name))
  return {
    _tag: "Message",
    message: {
      providerNumberId: source.numberId,
      providerMessageId: event === undefined || event === "connect" ? id : `${id}:${event}`,
      customer,
      at: timeOf(timestamp, source),
      ...aside("call", Object.fromEntries(others)),
      context: null,
      preference: undefined,
      ...(profile === undefined ? {} : { profile })
    }
  }
}
