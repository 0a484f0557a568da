/**
 * Port: the numbers that workspaces send from. `PhoneNumberStep` says what its transitions decide.
 */
import { Context, type Effect, type Option } from "effect"
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { NumberName, PhoneNumber } from "./PhoneNumber.ts"
import type { Observe, SealedCredentials, SetCredentials } from "./PhoneNumberStep.ts"

/** What the operator sets of a number. */
export type PhoneNumberSettings = Partial<
  Pick<PhoneNumber, "providerAccountId" | "tier" | "messagingLimit" | "available">
>

export class PhoneNumberStore extends Context.Service<PhoneNumberStore, {
  /**
   * Adds a further number to a workspace that exists; as its default, the one before of the same provider ceases to be
   * that in the same step, and the first of a provider is its default in any case. False, and nothing changed, when its
   * name with the provider is known, or its workspace has the number already. Safe to repeat.
   */
  readonly add: (number: PhoneNumber) => Effect.Effect<boolean, StoreError>
  /**
   * Removes a number, with its contacts, what is remembered of their messages, its credentials, and the templates of its
   * account if the workspace has no other number of that. Messages and events stay as they are; what upstream reports of
   * them from then on finds nothing. If it was the default, the oldest other one of its provider becomes that. False when
   * there is no such number. Safe to repeat.
   */
  readonly remove: (id: PhoneNumberId) => Effect.Effect<boolean, StoreError>
  /**
   * Gives a number to an account of a provider. It is the default there if its workspace has no other, and who it leaves
   * without a default gets the oldest other one of that provider. Safe to repeat.
   */
  readonly assign: (
    id: PhoneNumberId,
    to: Pick<PhoneNumber, "provider" | "providerAccountId">
  ) => Effect.Effect<void, StoreError>
  /** The numbers of a workspace, default ones first. */
  readonly list: (id: WorkspaceId) => Effect.Effect<ReadonlyArray<PhoneNumber>, StoreError>
  /** The numbers of that name, of all workspaces, oldest first. */
  readonly named: (name: NumberName) => Effect.Effect<ReadonlyArray<PhoneNumber>, StoreError>
  /** Settings of a number; fields left out stay. In force from the next *accept* on. */
  readonly configure: (id: PhoneNumberId, settings: PhoneNumberSettings) => Effect.Effect<void, StoreError>
  /**
   * Applies upstream's word of the time `at` to every number of that name, by `PhoneNumber.observe`; answers with how
   * many there are. In force from the next *accept* on. Words may come in any order and any number of times.
   */
  readonly observe: (told: Observe) => Effect.Effect<number, StoreError>
  /** The credentials of a number's own. */
  readonly credentials: (id: PhoneNumberId) => Effect.Effect<Option.Option<SealedCredentials>, StoreError>
  /**
   * Gives a number credentials of its own, or with `null` takes them away; known by their version from the next
   * *accept* on. A block for `credentials` is lifted in the same step, by a word of the time `now`. False when there is
   * no such number. Safe to repeat.
   */
  readonly setCredentials: (command: SetCredentials) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/numbers/PhoneNumberStore") {}
