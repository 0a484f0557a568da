/**
 * Operations on a workspace's numbers, for the suites.
 */
import { type PhoneNumber, PhoneNumberStore, type StoreError } from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"

type Store = PhoneNumberStore.PhoneNumberStore["Service"]

export const use = <A>(step: (store: Store) => Effect.Effect<A, StoreError.StoreError>) =>
  PhoneNumberStore.PhoneNumberStore.use(step)

/** The numbers of a workspace. */
export const list = ({ workspace }: Pick<Fixture.World, "workspace">) => use((store) => store.list(workspace.id))

/** The one number that a workspace has. */
export const numberOf = (own: Fixture.World) => Effect.map(list(own), ([number]) => number!)

/** A further number of a workspace, not stored. */
export const further = (own: Fixture.World, settings: Fixture.WorldOptions["number"] = {}) =>
  Fixture.phoneNumber(own.workspace.id, { isDefault: false, ...settings })

/** Applies a provider report of the time `at`, which arrives at that time. */
export const observe = (name: PhoneNumber.NumberName, at: number, change: PhoneNumber.NumberChange) =>
  use((store) => store.observe({ name, now: at, at, change }))

/** The provider's reason for a block. */
export const detail = { code: "131048", message: "Spam rate limit hit" }
