import { type Id, PhoneNumber, PhoneNumberStore, type Time } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "./State.ts"

type Store = PhoneNumberStore.PhoneNumberStore["Service"]

/** Adds a number; false when it is known. */
export const addPhoneNumber = (memory: Memory, number: PhoneNumber.PhoneNumber): boolean => {
  const { isDefault, phoneNumber, providerNumberId, workspaceId } = number
  const others = memory.phoneNumbers.all(workspaceId)
  if (memory.phoneNumberByProviderId.has(providerNumberId)) return false
  if (others.some((other) => other.phoneNumber === phoneNumber)) return false
  if (isDefault) {
    for (const other of others) memory.phoneNumbers.set({ ...other, isDefault: false })
  }
  memory.phoneNumbers.set(number)
  memory.phoneNumberByProviderId.set(providerNumberId, number.id)
  return true
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
      list: (id) => Effect.sync(() => list(memory, id)),
      named: (name) => Effect.sync(() => named(memory, name)),
      configure: (id, settings) => Effect.sync(() => configure(memory, id, settings)),
      observe: (told) => Effect.sync(() => observe(memory, told)),
      credentials: (id) => Effect.sync(() => Option.fromUndefinedOr(memory.credentials.get(id))),
      setCredentials: (command) => Effect.sync(() => setCredentials(memory, command))
    }))
)
