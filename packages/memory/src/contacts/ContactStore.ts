/**
 * `ContactStore` in memory: each method is one synchronous step over `State`, decided by `ContactStep`.
 */
import {
  Contact,
  ContactStep,
  ContactStore,
  CustomerNames,
  type Id,
  OptOutWords,
  Page,
  type Suppression
} from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { record } from "../events/Journal.ts"
import { type ContactRecord, customerName, forgetContact, inboundName, type Memory, State } from "../State.ts"

const contactAt = (memory: Memory, place: ContactRecord["id"] | undefined): Contact.Contact | undefined =>
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

/** Whether the workspace knows a customer by exactly this name. */
export const isKnownName = (memory: Memory, workspaceId: Id.WorkspaceId, name: string): boolean =>
  contactsNamed(memory, workspaceId, CustomerNames.keyOf(name)).some((contact) =>
    CustomerNames.isKnownBy(contact)(name)
  )

const wordsOf = (memory: Memory, workspaceId: Id.WorkspaceId): OptOutWords.Settings =>
  memory.optOutWords.get(workspaceId) ?? OptOutWords.noSettings

/** The opt-outs of a workspace under a hash of a name. */
export const suppressionsOf = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  hash: string
): ReadonlyArray<Suppression.Suppression> => memory.suppressions.get(`${workspaceId} ${hash}`) ?? []

/** Writes and removes opt-outs. */
export const writeSuppressions = (memory: Memory, { gone, kept }: Suppression.Changes): void => {
  const replace = (one: Suppression.Suppression, by: ReadonlyArray<Suppression.Suppression>) => {
    const others = suppressionsOf(memory, one.workspaceId, one.hash).filter(({ phoneNumberId }) =>
      phoneNumberId !== one.phoneNumberId
    )
    memory.suppressions.set(`${one.workspaceId} ${one.hash}`, [...others, ...by])
  }
  for (const one of gone) replace(one, [])
  for (const one of kept) replace(one, [one])
}

/** The contacts, opt-outs and messages that the steps load. */
const loaded = (memory: Memory): ContactStep.LoadedInbound => ({
  now: memory.now,
  number: (providerNumberId) => {
    const id = memory.phoneNumberByProviderId.get(providerNumberId)
    const number = id && memory.phoneNumbers.get(id)
    return number && { ...number, words: wordsOf(memory, number.workspaceId) }
  },
  contact: (number, name) => contactNamed(memory, number, name),
  suppressions: (workspaceId, hash) => suppressionsOf(memory, workspaceId, hash),
  isRemembered: (number, providerMessageId) => memory.inbound.get(inboundName(number, providerMessageId)) !== undefined
})

const rowOf = (contact: Contact.Contact): ContactRecord => ({
  id: Contact.placeOf(contact),
  workspaceId: contact.workspaceId,
  contact
})

const write = (memory: Memory, { gone, kept, moved, suppressions }: ContactStep.Writes): void => {
  writeSuppressions(memory, suppressions)
  for (const { names, phoneNumberId, to, workspaceId } of moved) {
    for (const entry of memory.conversations.all(workspaceId)) {
      if (entry.phoneNumberId !== phoneNumberId || !names.includes(entry.customer)) continue
      memory.conversations.set({ ...entry, customer: to })
    }
  }
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
  for (const { customer, message: received } of writes.said) {
    const { id, phoneNumberId, workspaceId } = received
    memory.conversations.set({ id, workspaceId, phoneNumberId, customer, received })
  }
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

const recordNames = (memory: Memory, command: ContactStep.RecordNames): boolean => {
  const { answers: [answer], writes } = ContactStep.recordNames(loaded(memory), [command])
  write(memory, writes)
  return answer!
}

const choose = (memory: Memory, command: ContactStep.Choose): ContactStep.Chosen => {
  const numbersOf = (workspaceId: Id.WorkspaceId) => memory.phoneNumbers.all(workspaceId).map(({ id }) => id)
  const { answers: [answer], writes } = ContactStep.choose({ ...loaded(memory), numbersOf }, [command])
  write(memory, writes)
  return answer!
}

const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0

/** The stored opt-outs that have a name. */
export const optOutsOf = (memory: Memory, workspaceId: Id.WorkspaceId) =>
  [...memory.suppressions.values()].flat().flatMap(({ name, optedOut, phoneNumberId, ...one }) =>
    one.workspaceId === workspaceId && optedOut && name !== null
      ? [{ name: name.key, phoneNumberId, at: name.at, source: name.source }]
      : []
  )

const optOuts = (memory: Memory, workspaceId: Id.WorkspaceId, page: Page.PageRequest) => {
  const stored = optOutsOf(memory, workspaceId)
  const placeOf = (phoneNumberId: Id.PhoneNumberId | null, name: string) => `${phoneNumberId ?? ""} ${name}`
  const covered = new Set(stored.map(({ name, phoneNumberId }) => placeOf(phoneNumberId, name)))
  const isCovered = ({ customer, key, phoneNumberId }: Contact.Contact) =>
    [null, phoneNumberId].some((number) =>
      [key, customer.userId ?? key].some((name) => covered.has(placeOf(number, name)))
    )
  const ofContacts = memory.contacts.all(workspaceId).flatMap(({ contact }) =>
    contact.optedOut && !isCovered(contact)
      ? [{ name: contact.key, phoneNumberId: contact.phoneNumberId, at: contact.preferenceAt!, source: null }]
      : []
  )
  const all = [...stored.map((one) => ({ part: "a", one })), ...ofContacts.map((one) => ({ part: "b", one }))]
    .map(({ one, part }) => ({
      one,
      place: JSON.stringify(
        part === "a" ? [part, one.name, one.phoneNumberId ?? ""] : [part, one.phoneNumberId!, one.name]
      )
    }))
    .sort((a, b) => compare(a.place, b.place))
    .filter(({ place }) => page.after === null || place > page.after)
  const { items, next } = Page.fromOverread(all.slice(0, page.limit + 1), page, ({ place }) => place)
  return { items: items.map(({ one }) => one), next }
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
    // `Contact.placeOf` begins with the number, so the contacts of a number are neighbours
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
      recordNames: (command) => Effect.sync(() => recordNames(memory, command)),
      choose: (command) => Effect.sync(() => choose(memory, command)),
      optOuts: (workspaceId, page) => Effect.sync(() => optOuts(memory, workspaceId, page)),
      countErased: (workspaceId) =>
        Effect.sync(() =>
          new Set(
            [...memory.suppressions.values()].flat().filter((one) =>
              one.workspaceId === workspaceId && one.optedOut && one.name === null
            ).map(({ hash }) => hash)
          ).size
        ),
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
