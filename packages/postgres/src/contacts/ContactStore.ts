import { Contact, type ContactStep, ContactStore, InboundMessage, Page } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Asked, asked } from "../Asked.ts"
import { plain } from "../Column.ts"
import { Database } from "../Database.ts"

/** A command for `wac_record_inbound`. */
const inboundOf = (
  { ids, message, messageId, now }: Parameters<ContactStore.ContactStore["Service"]["recordInbound"]>[0],
  askedAt: Asked
) => ({
  now: askedAt(now),
  provider_number_id: message.providerNumberId,
  provider_message_id: message.providerMessageId,
  key: Contact.keyFor(message.customer),
  phone: message.customer.phone,
  user_id: message.customer.userId,
  at: message.at,
  type: message.type,
  // as text: it may hold what PostgreSQL can keep in JSON, and cannot read
  content: JSON.stringify(message.content),
  context: message.context === null ? null : JSON.stringify(message.context),
  preference: message.preference,
  late: InboundMessage.isLate(message, now),
  expires_at: InboundMessage.rememberedUntil(message, now),
  message_id: messageId,
  event: ids.events[0],
  delivery: ids.deliveries[0]
})

/** A customer as the functions take them, under a prefix. */
const named = (prefix: string, customer: Contact.Customer) => ({
  [`${prefix}_key`]: Contact.keyFor(customer),
  [`${prefix}_phone`]: customer.phone,
  [`${prefix}_user`]: customer.userId
})

const getText =
  "select wac_contact(c) as contact from contacts c where c.phone_number_id = $2 and c.key = $3 and c.workspace_id = $1"

/**
 * Through `contacts_list`, of which `key > ''` is the condition: from wherever, all of a workspace's or one number's.
 */
export const listText = (isAfter: boolean, isOfNumber: boolean): string =>
  `select wac_contact(c) as contact from contacts c
  where c.workspace_id = $1 and c.key > ''${isAfter ? " and (c.phone_number_id, c.key) > ($3, $4)" : ""}${
    isOfNumber ? ` and c.phone_number_id = $${isAfter ? 5 : 3}` : ""
  }
  order by c.phone_number_id, c.key limit $2`

export const layer = Layer.effect(
  ContactStore.ContactStore,
  Effect.gen(function*() {
    const { batched, query } = yield* Database
    const askedAt = yield* asked
    const recordInbound = yield* batched<ReturnType<typeof inboundOf>, ContactStep.Recorded>(
      "ContactStore.recordInbound",
      "wac_record_inbound"
    )
    const setPreference = yield* batched<unknown, boolean>("ContactStore.setPreference", "wac_set_preferences")
    const move = yield* batched<unknown, boolean>("ContactStore.move", "wac_move_contacts")

    return ContactStore.ContactStore.of({
      recordInbound: (command) => recordInbound(inboundOf(command, askedAt)),
      setPreference: ({ at, customer, now, preference, providerNumberId }) =>
        setPreference({
          provider_number_id: providerNumberId,
          ...named("customer", customer),
          opted_out: preference === "opt_out",
          told_at: at,
          now: askedAt(now)
        }),
      move: ({ at, from, now, providerNumberId, to }) =>
        move({
          provider_number_id: providerNumberId,
          ...named("from", from),
          ...named("to", to),
          told_at: at,
          now: askedAt(now)
        }),
      get: (workspaceId, phoneNumberId, key) =>
        Effect.map(
          query("ContactStore.get", getText, [workspaceId, phoneNumberId, key]),
          ([row]) => Option.map(Option.fromUndefinedOr(row), (row) => plain<Contact.Contact>(row, "contact"))
        ),
      list: (workspaceId, { phoneNumberId }, page) => {
        const after = page.after === null ? undefined : Contact.named(page.after)
        return Effect.map(
          query("ContactStore.list", listText(after !== undefined, phoneNumberId !== undefined), [
            workspaceId,
            page.limit + 1,
            ...after === undefined ? [] : [after.phoneNumberId, after.key],
            ...phoneNumberId === undefined ? [] : [phoneNumberId]
          ]),
          (rows) => Page.fromOverread(rows.map((row) => plain<Contact.Contact>(row, "contact")), page, Contact.idOf)
        )
      }
    })
  })
)
