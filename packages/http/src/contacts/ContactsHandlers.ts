/**
 * The handlers of `/internal/contacts`: a workspace's customers, their conversations and their opt-outs.
 */
import { Api, Caller } from "@wac/api"
import { Contact, Contacts, type Conversation, Messages, NumberPart, OptOuts, StoreError, Time } from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import { sentContent } from "../messages/MessagesHandlers.ts"
import * as Paging from "../Paging.ts"

/** A contact as the dashboard shows it. */
export const shown = ({ contact, windowOpenUntil }: Contacts.ContactState) => ({
  id: Contact.idOf(contact),
  phoneNumberId: contact.phoneNumberId,
  phone: contact.customer.phone,
  userId: contact.customer.userId,
  lastInboundAt: Time.isoOrNull(contact.lastInboundAt),
  windowOpenUntil: Time.isoOrNull(windowOpenUntil),
  optedOut: contact.optedOut,
  preferenceAt: Time.isoOrNull(contact.preferenceAt)
})

/** A message of a conversation as the dashboard shows it. */
const conversationMessage = (entry: Conversation.Entry) => {
  if (entry.direction === "inbound") {
    const { content, context, from, id, receivedAt, to, type } = entry.message
    return {
      id,
      direction: entry.direction,
      status: "received" as const,
      from,
      to,
      type,
      content,
      context,
      at: Time.iso(receivedAt)
    }
  }
  const { content: { to, type }, createdAt, from, id, status } = entry.message
  return {
    id,
    direction: entry.direction,
    status,
    from,
    to,
    type,
    ...sentContent(entry.message),
    at: Time.iso(createdAt)
  }
}

/** The maximum number of customers in the response to a search. */
const foundAtOnce = 20

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const contacts = yield* Contacts.Contacts
    const optOuts = yield* OptOuts.OptOuts
    const messages = yield* Messages.Messages
    const choose = (preference: Contact.Preference) =>
      Effect.fnUntraced(function*({ params: { id } }: { readonly params: { readonly id: string } }) {
        const { workspaceId } = yield* Caller.CurrentSession
        const { contact: { key, phoneNumberId } } = yield* contacts.get(workspaceId, id)
        yield* optOuts.choose(workspaceId, { name: key, phoneNumberId, preference, source: "person" })
        const exchange = yield* Exchange
        // the audit outlives the customer's data, so it gets only a hash
        exchange.changed = { target: yield* optOuts.hashOf(key) }
        return shown(yield* contacts.get(workspaceId, id))
      }, StoreError.orUnavailable)

    return HttpApiBuilder.group(Api, "contacts", (handlers) =>
      handlers.handleAll({
        list: Effect.fnUntraced(function*({ query: { cursor: _cursor, limit: _limit, ...filter }, query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return Paging.internalList(
            yield* contacts.list(workspaceId, filter, yield* Paging.request(query, "contacts")),
            shown
          )
        }, StoreError.orUnavailable),
        find: Effect.fnUntraced(function*({ query: { number } }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const found = yield* messages.numbersWith(workspaceId, NumberPart.read(number), foundAtOnce + 1)
          return {
            data: found.slice(0, foundAtOnce).map((number) => ({ number })),
            hasMore: found.length > foundAtOnce
          }
        }, StoreError.orUnavailable),
        get: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return shown(yield* contacts.get(workspaceId, params.id))
        }, StoreError.orUnavailable),
        messages: Effect.fnUntraced(function*({ params, query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const page = yield* Paging.request(query, "msg")
          return Paging.internalList(
            yield* messages.conversationWith(workspaceId, params.id, page),
            conversationMessage
          )
        }, StoreError.orUnavailable),
        optOut: choose("opt_out"),
        optIn: choose("opt_in")
      }))
  })
)
