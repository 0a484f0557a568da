/**
 * Steps about a customer: opt-outs and erasures, for all of the customer's names, which the storage reveals step by
 * step.
 */
import { ContactStep, ContactStore, CustomerNames, CustomerRecords, CustomerStore, type Id, type Time } from "@wac/core"
import { Effect } from "effect"
import type * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"

/** Opts a customer out or in, by one of their names. Returns how many names the customer has. */
export const choose = Effect.fnUntraced(function*(choice: Omit<ContactStep.Choose, "hashes" | "choices">) {
  const store = yield* ContactStore.ContactStore
  const name = CustomerNames.keyOf(choice.name)
  let names: ReadonlyArray<string> = [name]
  let choices = ContactStep.noChoices
  for (;;) {
    const chosen = yield* store.choose({ ...choice, name, hashes: MessageFixture.hashesFor(names), choices })
    if (chosen._tag === "Chosen") return { ...chosen, names: names.length }
    names = [...names, ...chosen.names]
    choices = chosen.choices
  }
})

/** All names of a customer, found by one of them. */
const namesOf = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, name: string) {
  const store = yield* CustomerStore.CustomerStore
  let names = CustomerRecords.namesOf(name, [])
  for (;;) {
    const more = CustomerRecords.namesOf(name, yield* store.contacts(workspaceId, names))
    if (more.texts.length <= names.texts.length) return names
    names = more
  }
})

/** Erases a customer's contacts under all names, given one of them. */
export const eraseContacts = Effect.fnUntraced(
  function*(workspaceId: Id.WorkspaceId, name: string, now: Time.Instant) {
    const store = yield* CustomerStore.CustomerStore
    const names = yield* namesOf(workspaceId, name)
    const hashes = MessageFixture.hashesFor(names.keys)
    return yield* store.erase({ workspaceId, names, hashes, place: "contacts", after: null, now })
  }
)

/** Erases a customer's records in one place, step by step, to the end. */
export const erase = (own: Fixture.World, names: CustomerRecords.Names, place: CustomerRecords.Place) =>
  Effect.gen(function*() {
    const store = yield* CustomerStore.CustomerStore
    const steps: Array<CustomerStore.Erased> = []
    let after: string | null = null
    do {
      const step: CustomerStore.Erased = yield* store.erase({
        workspaceId: own.workspace.id,
        names,
        hashes: MessageFixture.hashesFor(names.keys),
        place,
        after,
        now: own.start
      })
      steps.push(step)
      after = step.next
    } while (after !== null)
    return {
      erased: steps.reduce((sum, { erased }) => sum + erased, 0),
      busy: steps.reduce((sum, { busy }) => sum + busy, 0),
      files: steps.flatMap(({ files }) => files),
      queued: steps.flatMap(({ queued }) => queued)
    }
  })
