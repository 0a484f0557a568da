/**
 * `ContactStore` in memory: each method is one synchronous step over `State`, decided by `ContactStep`.
 */
import { Contact, ContactStep, ContactStore, CustomerNames, type Id, OptOutWords, Page } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { record } from "../events/Journal.ts"
import { customerName, forgetContact, inboundName, type KeptContact, type Memory, State } from "../State.ts"

const contactAt = (memory: Memory, place: KeptContact["id"] | undefined): Contact.Contact | undefined =>
  place === undefined ? undefined : memory.contacts.get(place)?.contact

/** The contact of a number by a name of its customer (`CustomerNames.keyOf`). */
export const contactNamed = (
  memory: Memory,
  phoneNumberId: Contact.Contact["phoneNumberId"],
  name: string
): Contact.Contact | undefined => contactAt(memory, memory.contactByName.get(customerName(phoneNumberId, name)))

/** Every contact of a workspace by a name of its customer (`CustomerNames.keyOf`). */
const contactsNamed = (memory: Memory, workspaceId: Id.WorkspaceId, name: string): ReadonlyArray<Contact.Contact> =>
  memory.phoneNumbers.all(workspaceId).flatMap(({ id }) => contactNamed(memory, id, name) ?? [])

/** Whether the workspace knows a customer by this very name. */
export const isKnownName = (memory: Memory, workspaceId: Id.WorkspaceId, name: string): boolean =>
  contactsNamed(memory, workspaceId, CustomerNames.keyOf(name)).some((contact) =>
    CustomerNames.isKnownBy(contact)(name)
  )

const wordsOf = (memory: Memory, workspaceId: Id.WorkspaceId): OptOutWords.Settings =>
  memory.optOutWords.get(workspaceId) ?? OptOutWords.noSettings

/** What the steps load. */
const loaded = (memory: Memory): ContactStep.LoadedInbound => ({
  now: memory.now,
  number: (providerNumberId) => {
    const id = memory.phoneNumberByProviderId.get(providerNumberId)
    const number = id && memory.phoneNumbers.get(id)
    return number && { ...number, words: wordsOf(memory, number.workspaceId) }
  },
  contact: (number, name) => contactNamed(memory, number, name),
  isRemembered: (number, providerMessageId) => memory.inbound.get(inboundName(number, providerMessageId)) !== undefined
})

const rowOf = (contact: Contact.Contact): KeptContact => ({
  id: Contact.placeOf(contact),
  workspaceId: contact.workspaceId,
  contact
})

const write = (memory: Memory, { gone, kept }: ContactStep.Writes): void => {
  for (const contact of [...gone, ...kept]) {
    const before = contactAt(memory, Contact.placeOf(contact))
    if (before !== undefined) forgetContact(memory, rowOf(before))
  }
  for (const contact of kept) {
    const row = rowOf(contact)
    memory.contacts.set(row)
    for (const name of Contact.keysOf(contact.key, contact)) {
      memory.contactByName.set(customerName(contact.phoneNumberId, name), row.id)
    }
  }
}

const recordInbound = (memory: Memory, command: ContactStep.RecordInbound): ContactStep.Recorded => {
  const { answers: [answer], writes } = ContactStep.recordInbound(loaded(memory), [command])
  write(memory, writes)
  for (const one of writes.remembered) {
    const now = memory.now(command.now)
    memory.inbound.set(inboundName(one.number.id, one.providerMessageId), one, now)
    memory.inboundById.set(one.messageId, one, now)
  }
  record(memory, writes.events.map(({ event }) => event), writes.events.map(({ deliveryId }) => deliveryId))
  return answer!
}

const setPreference = (memory: Memory, command: ContactStep.SetPreference): boolean => {
  const { answers: [answer], writes } = ContactStep.setPreference(loaded(memory), [command])
  write(memory, writes)
  return answer!
}

const move = (memory: Memory, command: ContactStep.Move): boolean => {
  const { answers: [answer], writes } = ContactStep.move(loaded(memory), [command])
  write(memory, writes)
  return answer!
}

const tell = (memory: Memory, command: ContactStep.Tell): boolean => {
  const { answers: [answer], writes } = ContactStep.tell(loaded(memory), [command])
  write(memory, writes)
  return answer!
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
    // groups the contacts of a number
    rows.map(({ contact }) => contact).filter((one) =>
      phoneNumberId === undefined || one.phoneNumberId === phoneNumberId
    ),
    page,
    Contact.placeOf
  )
}

export const layer = Layer.effect(
  ContactStore.ContactStore,
  Effect.map(State, (memory) =>
    ContactStore.ContactStore.of({
      recordInbound: (command) => Effect.sync(() => recordInbound(memory, command)),
      setPreference: (command) => Effect.sync(() => setPreference(memory, command)),
      move: (command) => Effect.sync(() => move(memory, command)),
      tell: (command) => Effect.sync(() => tell(memory, command)),
      words: (workspaceId) => Effect.sync(() => wordsOf(memory, workspaceId)),
      setWords: (workspaceId, words) => Effect.sync(() => void memory.optOutWords.set(workspaceId, words)),
      named: (workspaceId, name) => Effect.sync(() => contactsNamed(memory, workspaceId, name)),
      get: (workspaceId, phoneNumberId, name) =>
        Effect.sync(() =>
          Option.filter(
            Option.fromUndefinedOr(contactNamed(memory, phoneNumberId, name)),
            (contact) => contact.workspaceId === workspaceId
          )
        ),
      list: (workspaceId, filter, page) => Effect.sync(() => list(memory, workspaceId, filter, page))
    }))
)
