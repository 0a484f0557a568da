/**
 * Port: the numbers that workspaces send from.
 */
import { Context, type Effect, type Option } from "effect"
import type { PhoneNumberId, WorkspaceId } from "./Id.ts"
import type { NumberChange, NumberName, PhoneNumber } from "./PhoneNumber.ts"
import type { Sealed } from "./Sealed.ts"
import type { StoreError } from "./StoreError.ts"
import type { Instant } from "./Time.ts"

/** What the operator sets of a number. */
export type PhoneNumberSettings = Partial<
  Pick<PhoneNumber, "providerAccountId" | "tier" | "messagingLimit" | "available">
>

/** Credentials of a number's own. */
export interface SealedCredentials {
  /** As in `PhoneNumber`. */
  readonly version: string
  /** What the provider is shown; sealed for the number's id. */
  readonly accessToken: Sealed
  /** Where the provider's interface is, and which version of it to speak; `null`: as configured. */
  readonly baseUrl: string | null
  readonly apiVersion: string | null
}

export class PhoneNumberStore extends Context.Service<PhoneNumberStore, {
  /**
   * Adds a further number to a workspace that exists; as its default, the one before ceases to be that in the same
   * step. False, and nothing changed, when its name with the provider is known, or its workspace has the number
   * already. Safe to repeat.
   */
  readonly add: (number: PhoneNumber) => Effect.Effect<boolean, StoreError>
  /** The numbers of a workspace, the default one first. */
  readonly list: (id: WorkspaceId) => Effect.Effect<ReadonlyArray<PhoneNumber>, StoreError>
  /** The numbers of that name, of all workspaces, oldest first. */
  readonly named: (name: NumberName) => Effect.Effect<ReadonlyArray<PhoneNumber>, StoreError>
  /** Settings of a number; fields left out stay. In force from the next *accept* on. */
  readonly configure: (id: PhoneNumberId, settings: PhoneNumberSettings) => Effect.Effect<void, StoreError>
  /**
   * Applies upstream's word of the time `at` to every number of that name, by `PhoneNumber.observe`; answers with how
   * many there are. In force from the next *accept* on. Words may come in any order and any number of times.
   */
  readonly observe: (told: {
    readonly name: NumberName
    readonly at: Instant
    readonly change: NumberChange
  }) => Effect.Effect<number, StoreError>
  /** The credentials of a number's own. */
  readonly credentials: (id: PhoneNumberId) => Effect.Effect<Option.Option<SealedCredentials>, StoreError>
  /**
   * Gives a number credentials of its own, or with `null` takes them away; known by their version from the next
   * *accept* on. A block for `credentials` is lifted in the same step, by a word of the time `now`. False when there is
   * no such number. Safe to repeat.
   */
  readonly setCredentials: (command: {
    readonly now: Instant
    readonly id: PhoneNumberId
    readonly credentials: SealedCredentials | null
  }) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/PhoneNumberStore") {}
