/**
 * `PhoneNumberStore` in memory: each method is one synchronous step over `State`, decided by `PhoneNumberStep`.
 */
import { Contact, type Id, PhoneNumber, PhoneNumberStep, PhoneNumberStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { forgetContact, forgetTemplate, type Memory, State } from "../State.ts"

/** The records that adding, removing and assigning numbers load. */
const loaded = (memory: Memory): PhoneNumberStep.LoadedWorkspaces => ({
  now: memory.now,
  byId: (id) => memory.phoneNumbers.get(id),
  ofWorkspace: (id) => memory.phoneNumbers.all(id),
  isKnown: (providerNumberId) => memory.phoneNumberByProviderId.has(providerNumberId)
})

/** Writes numbers as a step has left them. */
const keepNumbers = (memory: Memory, { numbers }: PhoneNumberStep.Writes): void => {
  for (const number of numbers) {
    memory.phoneNumbers.set(number)
    memory.phoneNumberByProviderId.set(number.providerNumberId, number.id)
  }
}

/** Writes new numbers with their credentials. */
export const keepAdded = (memory: Memory, writes: PhoneNumberStep.AddWrites): void => {
  keepNumbers(memory, writes)
  for (const { credentials, id } of writes.credentials) memory.credentials.set(id, credentials)
}

const add = (memory: Memory, command: PhoneNumberStep.Add): boolean => {
  const { answers: [isAdded], writes } = PhoneNumberStep.add(loaded(memory), [command])
  keepAdded(memory, writes)
  return isAdded!
}

/** Moves what was said under further names of contacts to their keys: afterwards nothing joins the names. */
const joinConversations = (
  memory: Memory,
  { id, workspaceId }: PhoneNumber.PhoneNumber,
  contacts: ReadonlyArray<Contact.Contact>
): void => {
  const keys = new Map(
    contacts.flatMap((contact) => Contact.keysOf(contact.key, contact).map((name) => [name, contact.key] as const))
  )
  // a name that is another contact's key is theirs
  for (const { key } of contacts) keys.set(key, key)
  for (const entry of memory.conversations.all(workspaceId)) {
    const key = entry.phoneNumberId === id ? keys.get(entry.customer) : undefined
    if (key !== undefined && key !== entry.customer) memory.conversations.set({ ...entry, customer: key })
  }
}

const remove = (memory: Memory, id: Id.PhoneNumberId): boolean => {
  const { answers: [isRemoved], writes } = PhoneNumberStep.remove(loaded(memory), [id])
  for (const number of writes.removed) {
    memory.phoneNumbers.delete(number)
    memory.phoneNumberByProviderId.delete(number.providerNumberId)
    memory.toldAt.delete(id)
    memory.credentials.delete(id)
    memory.countedCustomers.delete(id)
    for (const table of [memory.inbound, memory.inboundById]) table.forget(({ number }) => number.id === id)
    const contacts = memory.contacts.all(number.workspaceId).filter(({ contact }) => contact.phoneNumberId === id)
    joinConversations(memory, number, contacts.map(({ contact }) => contact))
    for (const row of contacts) forgetContact(memory, row)
  }
  for (const { providerAccountId, workspaceId } of writes.left) {
    for (const template of memory.templates.all(workspaceId)) {
      if (template.providerAccountId === providerAccountId) forgetTemplate(memory, template)
    }
  }
  keepNumbers(memory, writes)
  return isRemoved!
}

const assign = (memory: Memory, command: PhoneNumberStep.Assign): void =>
  keepNumbers(memory, PhoneNumberStep.assign(loaded(memory), [command]).writes)

const list = (memory: Memory, id: Id.WorkspaceId): ReadonlyArray<PhoneNumber.PhoneNumber> =>
  [...memory.phoneNumbers.all(id)].sort((a, b) => Number(b.isDefault) - Number(a.isDefault))

/** The numbers that a name selects, oldest first. */
export const named = (memory: Memory, name: PhoneNumber.NumberName): ReadonlyArray<PhoneNumber.PhoneNumber> =>
  [...memory.phoneNumbers.values()]
    .filter((number) => PhoneNumber.isNamed(number, name))
    .sort((a, b) => a.id < b.id ? -1 : 1)

const configure = (
  memory: Memory,
  id: Id.PhoneNumberId,
  settings: PhoneNumberStore.PhoneNumberSettings
): void => {
  const number = memory.phoneNumbers.get(id)
  if (number !== undefined) memory.phoneNumbers.set({ ...number, ...settings })
}

const observedOf = (memory: Memory, number: PhoneNumber.PhoneNumber): PhoneNumberStep.Observed => ({
  number,
  toldAt: memory.toldAt.get(number.id) ?? {}
})

const keepObserved = (memory: Memory, { observed }: PhoneNumberStep.ObserveWrites): void => {
  for (const { number, toldAt } of observed) {
    memory.phoneNumbers.set(number)
    memory.toldAt.set(number.id, toldAt)
  }
}

const observe = (memory: Memory, command: PhoneNumberStep.Observe): number => {
  const { answers: [count], writes } = PhoneNumberStep.observe({
    now: memory.now,
    named: (name) => named(memory, name).map((number) => observedOf(memory, number))
  }, [command])
  keepObserved(memory, writes)
  return count!
}

const setCredentials = (memory: Memory, command: PhoneNumberStep.SetCredentials): boolean => {
  const { answers: [isKnown], writes } = PhoneNumberStep.setCredentials({
    now: memory.now,
    byId: (id) => {
      const number = memory.phoneNumbers.get(id)
      return number && observedOf(memory, number)
    }
  }, [command])
  keepObserved(memory, writes)
  for (const { credentials, id } of writes.credentials) {
    if (credentials === null) memory.credentials.delete(id)
    else memory.credentials.set(id, credentials)
  }
  return isKnown!
}

export const layer = Layer.effect(
  PhoneNumberStore.PhoneNumberStore,
  Effect.map(State, (memory) =>
    PhoneNumberStore.PhoneNumberStore.of({
      add: (number, credentials) => Effect.sync(() => add(memory, { number, credentials })),
      remove: (id) => Effect.sync(() => remove(memory, id)),
      assign: (id, to) => Effect.sync(() => assign(memory, { id, ...to })),
      list: (id) => Effect.sync(() => list(memory, id)),
      named: (name) => Effect.sync(() => named(memory, name)),
      configure: (id, settings) => Effect.sync(() => configure(memory, id, settings)),
      observe: (told) => Effect.sync(() => observe(memory, told)),
      credentials: (id) => Effect.sync(() => Option.fromUndefinedOr(memory.credentials.get(id))),
      setCredentials: (command) => Effect.sync(() => setCredentials(memory, command))
    }))
)
