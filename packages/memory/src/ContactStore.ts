import {
  Contact,
  ContactStore,
  Event,
  type InboundMessage,
  type PhoneNumber,
  ServiceWindow,
  type Time
} from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { record } from "./Journal.ts"
import { type Memory, State } from "./State.ts"

/** A contact among all contacts. */
export const contactName = (phoneNumberId: PhoneNumber.PhoneNumber["id"], key: Contact.Contact["key"]): string =>
  `${phoneNumberId} ${key}`

type RecordInbound = Parameters<ContactStore.ContactStore["Service"]["recordInbound"]>[0]

const recordInbound = (memory: Memory, command: RecordInbound): ContactStore.Recorded => {
  const { message, now } = command
  const id = memory.phoneNumberByProviderId.get(message.providerNumberId)
  const number = id && memory.phoneNumbers.get(id)
  if (number === undefined) return "unknown_number"
  const seen = `${number.id} ${message.providerMessageId}`
  if (memory.inbound.has(seen)) return "duplicate"
  memory.inbound.add(seen)
  const name = contactName(number.id, Contact.keyFor(message.customer))
  memory.contacts.set(name, heardFrom(memory.contacts.get(name), number, message, now))
  const received = Event.ofInbound(message, number, {
    id: command.ids.events[0]!,
    messageId: command.messageId,
    createdAt: now
  })
  record(memory, [received], command.ids.deliveries)
  return "recorded"
}

const heardFrom = (
  before: Contact.Contact | undefined,
  number: PhoneNumber.PhoneNumber,
  message: InboundMessage.InboundMessage,
  now: Time.Instant
): Contact.Contact => {
  const openedAt = ServiceWindow.openedAt(message.at, now)
  return {
    workspaceId: number.workspaceId,
    phoneNumberId: number.id,
    key: Contact.keyFor(message.customer),
    customer: message.customer,
    lastInboundAt: Math.max(openedAt, before?.lastInboundAt ?? openedAt),
    optedOut: message.preference === undefined ? before?.optedOut ?? false : message.preference === "opt_out"
  }
}

export const layer = Layer.effect(
  ContactStore.ContactStore,
  Effect.map(State, (memory) =>
    ContactStore.ContactStore.of({
      recordInbound: (command) => Effect.sync(() => recordInbound(memory, command)),
      get: (workspaceId, phoneNumberId, key) =>
        Effect.sync(() =>
          Option.filter(
            Option.fromUndefinedOr(memory.contacts.get(contactName(phoneNumberId, key))),
            (contact) => contact.workspaceId === workspaceId
          )
        )
    }))
)
