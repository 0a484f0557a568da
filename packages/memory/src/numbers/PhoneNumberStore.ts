import { type Id, PhoneNumber, PhoneNumberStore, type Time } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { forgetContact, forgetTemplate, type Memory, State } from "../State.ts"

type Store = PhoneNumberStore.PhoneNumberStore["Service"]

/** Sees to it that every provider that a workspace has numbers with has a default one. */
const keepDefaults = (memory: Memory, workspaceId: Id.WorkspaceId): void => {
  const all = memory.phoneNumbers.all(workspaceId)
  for (const provider of new Set(all.map(({ provider }) => provider))) {
    const [oldest, ...others] = all.filter((number) => number.provider === provider)
    if (![oldest!, ...others].some(({ isDefault }) => isDefault)) {
      memory.phoneNumbers.set({ ...oldest!, isDefault: true })
    }
  }
}

/** Adds a number; false when it is known. */
export const addPhoneNumber = (memory: Memory, number: PhoneNumber.PhoneNumber): boolean => {
  const { isDefault, phoneNumber, provider, providerNumberId, workspaceId } = number
  const others = memory.phoneNumbers.all(workspaceId)
  if (memory.phoneNumberByProviderId.has(providerNumberId)) return false
  if (others.some((other) => other.phoneNumber === phoneNumber)) return false
  if (isDefault) {
    for (const other of others) {
      if (other.provider === provider) memory.phoneNumbers.set({ ...other, isDefault: false })
    }
  }
  memory.phoneNumbers.set(number)
  memory.phoneNumberByProviderId.set(providerNumberId, number.id)
  keepDefaults(memory, workspaceId)
  return true
}

const remove = (memory: Memory, id: Id.PhoneNumberId): boolean => {
  const number = memory.phoneNumbers.get(id)
  if (number === undefined) return false
  const { providerAccountId, providerNumberId, workspaceId } = number
  memory.phoneNumbers.delete(number)
  memory.phoneNumberByProviderId.delete(providerNumberId)
  memory.toldAt.delete(id)
  memory.credentials.delete(id)
  memory.writtenTo.delete(id)
  for (const row of memory.contacts.all(workspaceId)) {
    if (row.contact.phoneNumberId === id) forgetContact(memory, row)
  }
  if (!memory.phoneNumbers.all(workspaceId).some((other) => other.providerAccountId === providerAccountId)) {
    for (const template of memory.templates.all(workspaceId)) {
      if (template.providerAccountId === providerAccountId) forgetTemplate(memory, template)
    }
  }
  keepDefaults(memory, workspaceId)
  return true
}

const assign = (memory: Memory, id: Id.PhoneNumberId, to: Parameters<Store["assign"]>[1]): void => {
  const number = memory.phoneNumbers.get(id)
  if (number === undefined) return
  const isTaken = memory.phoneNumbers.all(number.workspaceId).some((other) =>
    other.id !== id && other.provider === to.provider && other.isDefault
  )
  memory.phoneNumbers.set({ ...number, ...to, isDefault: number.isDefault && !isTaken })
  keepDefaults(memory, number.workspaceId)
}

const list = (memory: Memory, id: Id.WorkspaceId): ReadonlyArray<PhoneNumber.PhoneNumber> =>
  [...memory.phoneNumbers.all(id)].sort((a, b) => Number(b.isDefault) - Number(a.isDefault))

/** The numbers of that name, oldest first. */
export const named = (memory: Memory, name: PhoneNumber.NumberName): ReadonlyArray<PhoneNumber.PhoneNumber> =>
  [...memory.phoneNumbers.values()]
    .filter((number) =>
      "providerNumberId" in name
        ? number.providerNumberId === name.providerNumberId
        : number.providerAccountId === name.providerAccountId &&
          (name.phoneNumber === undefined || number.phoneNumber === name.phoneNumber)
    )
    .sort((a, b) => a.id < b.id ? -1 : 1)

const configure = (
  memory: Memory,
  id: Id.PhoneNumberId,
  settings: PhoneNumberStore.PhoneNumberSettings
): void => {
  const number = memory.phoneNumbers.get(id)
  if (number !== undefined) memory.phoneNumbers.set({ ...number, ...settings })
}

const tell = (
  memory: Memory,
  number: PhoneNumber.PhoneNumber,
  change: PhoneNumber.NumberChange,
  at: Time.Instant
): void => {
  const after = PhoneNumber.observe({ number, toldAt: memory.toldAt.get(number.id) ?? {} }, change, at)
  memory.phoneNumbers.set(after.number)
  memory.toldAt.set(number.id, after.toldAt)
}

const observe = (memory: Memory, { at, change, name }: Parameters<Store["observe"]>[0]): number => {
  const spokenOf = named(memory, name)
  for (const number of spokenOf) tell(memory, number, change, at)
  return spokenOf.length
}

const setCredentials = (memory: Memory, { credentials, id, now }: Parameters<Store["setCredentials"]>[0]): boolean => {
  const number = memory.phoneNumbers.get(id)
  if (number === undefined) return false
  if (credentials === null) memory.credentials.delete(id)
  else memory.credentials.set(id, credentials)
  const changed = { ...number, credentialsVersion: credentials && credentials.version }
  tell(memory, changed, number.block?.reason === "credentials" ? { block: null } : {}, now)
  return true
}

export const layer = Layer.effect(
  PhoneNumberStore.PhoneNumberStore,
  Effect.map(State, (memory) =>
    PhoneNumberStore.PhoneNumberStore.of({
      add: (number) => Effect.sync(() => addPhoneNumber(memory, number)),
      remove: (id) => Effect.sync(() => remove(memory, id)),
      assign: (id, to) => Effect.sync(() => assign(memory, id, to)),
      list: (id) => Effect.sync(() => list(memory, id)),
      named: (name) => Effect.sync(() => named(memory, name)),
      configure: (id, settings) => Effect.sync(() => configure(memory, id, settings)),
      observe: (told) => Effect.sync(() => observe(memory, told)),
      credentials: (id) => Effect.sync(() => Option.fromUndefinedOr(memory.credentials.get(id))),
      setCredentials: (command) => Effect.sync(() => setCredentials(memory, command))
    }))
)
