import {
  Contact,
  ContactStore,
  Event,
  type Id,
  InboundMessage,
  Page,
  type PhoneNumber,
  ServiceWindow,
  StorageTime,
  type Time
} from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { record } from "../events/Journal.ts"
import { type KeptContact, type Memory, State, userName } from "../State.ts"

/** The contact of a number under a key. */
export const contactOf = (
  memory: Memory,
  phoneNumberId: Contact.Contact["phoneNumberId"],
  key: Contact.Contact["key"]
): Contact.Contact | undefined => memory.contacts.get(Contact.idOf({ phoneNumberId, key }))?.contact

type Store = ContactStore.ContactStore["Service"]

const numberOf = (memory: Memory, providerNumberId: string): PhoneNumber.PhoneNumber | undefined => {
  const id = memory.phoneNumberByProviderId.get(providerNumberId)
  return id && memory.phoneNumbers.get(id)
}

const byUser = (
  memory: Memory,
  number: PhoneNumber.PhoneNumber,
  { userId }: Contact.Customer
): Contact.Contact | undefined => {
  const key = userId === null ? undefined : memory.contactByUser.get(userName(number.id, userId))
  return key === undefined ? undefined : contactOf(memory, number.id, key)
}

const byPhone = (
  memory: Memory,
  number: PhoneNumber.PhoneNumber,
  { phone }: Contact.Customer
): Contact.Contact | undefined => phone === null ? undefined : contactOf(memory, number.id, Contact.keyOf(phone))

const rowOf = (contact: Contact.Contact): KeptContact => ({
  id: Contact.idOf(contact),
  workspaceId: contact.workspaceId,
  contact
})

const keep = (memory: Memory, contact: Contact.Contact): void => {
  const { customer: { userId }, key, phoneNumberId } = contact
  memory.contacts.set(rowOf(contact))
  if (userId !== null) memory.contactByUser.set(userName(phoneNumberId, userId), key)
}

/** `Contact.meet`, kept. */
const meet = (
  memory: Memory,
  number: PhoneNumber.PhoneNumber,
  customer: Contact.Customer,
  at: Time.Instant
): Contact.Contact => {
  const known = { byKey: byPhone(memory, number, customer), byUser: byUser(memory, number, customer) }
  const { contact, gone, left } = Contact.meet(number, customer, known, at)
  if (gone !== undefined) memory.contacts.delete(rowOf(gone))
  if (left !== undefined) keep(memory, left)
  const { userId } = known.byKey?.customer ?? contact.customer
  if (userId !== null && userId !== contact.customer.userId) memory.contactByUser.delete(userName(number.id, userId))
  keep(memory, contact)
  return contact
}

const recordInbound = (memory: Memory, command: Parameters<Store["recordInbound"]>[0]): ContactStore.Recorded => {
  const { message, now } = command
  const number = numberOf(memory, message.providerNumberId)
  if (number === undefined) return "unknown_number"
  const seen = `${number.id} ${message.providerMessageId}`
  if (memory.inbound.get(seen) !== undefined) return "duplicate"
  memory.inbound.set(seen, InboundMessage.rememberedUntil(message, now), now)
  const openedAt = ServiceWindow.openedAt(message.at, now)
  const contact = Contact.hear(meet(memory, number, message.customer, openedAt), message.customer.phone, openedAt)
  keep(
    memory,
    message.preference === undefined ? contact : Contact.prefer(contact, message.preference, openedAt)
  )
  const received = Event.ofInbound(message, number, {
    id: command.ids.events[0]!,
    messageId: command.messageId,
    createdAt: now
  })
  record(memory, [received], command.ids.deliveries)
  return "recorded"
}

const setPreference = (
  memory: Memory,
  { customer, now, preference, providerNumberId, ...told }: Parameters<Store["setPreference"]>[0]
): boolean => {
  const number = numberOf(memory, providerNumberId)
  if (number === undefined) return false
  const at = Math.min(told.at, now)
  keep(memory, Contact.prefer(meet(memory, number, customer, at), preference, at))
  return true
}

const move = (
  memory: Memory,
  { from, now, providerNumberId, to, ...told }: Parameters<Store["move"]>[0]
): boolean => {
  const number = numberOf(memory, providerNumberId)
  if (number === undefined) return false
  const at = Math.min(told.at, now)
  const before = byPhone(memory, number, from) ?? byUser(memory, number, from)
  if (before === undefined || Contact.hasWritten(before, at)) return true
  const contact = meet(memory, number, to, at)
  // to be named anew may itself have changed it
  const left = contactOf(memory, number.id, before.key)
  if (left === undefined || left.key === contact.key) return true
  keep(memory, Contact.merge(contact, left))
  keep(memory, Contact.leave(left))
  return true
}

const list = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  { phoneNumberId }: ContactStore.ContactFilter,
  page: Page.PageRequest
): Page.Page<Contact.Contact> => {
  const start = phoneNumberId === undefined || page.after !== null && page.after > phoneNumberId
    ? page.after
    : phoneNumberId
  const rows = memory.contacts.after(workspaceId, start, page.limit + 1)
  return Page.fromOverread(
    // one number's stand together
    rows.map(({ contact }) => contact).filter((one) =>
      phoneNumberId === undefined || one.phoneNumberId === phoneNumberId
    ),
    page,
    Contact.idOf
  )
}

export const layer = Layer.effect(
  ContactStore.ContactStore,
  Effect.map(State, (memory) =>
    ContactStore.ContactStore.of({
      recordInbound: (command) =>
        Effect.sync(() => recordInbound(memory, StorageTime.judgedAt(command, memory.now(command.now)))),
      setPreference: (command) =>
        Effect.sync(() => setPreference(memory, StorageTime.judgedAt(command, memory.now(command.now)))),
      move: (command) => Effect.sync(() => move(memory, StorageTime.judgedAt(command, memory.now(command.now)))),
      get: (workspaceId, phoneNumberId, key) =>
        Effect.sync(() =>
          Option.filter(
            Option.fromUndefinedOr(contactOf(memory, phoneNumberId, key)),
            (contact) => contact.workspaceId === workspaceId
          )
        ),
      list: (workspaceId, filter, page) => Effect.sync(() => list(memory, workspaceId, filter, page))
    }))
)
