/**
 * Port: the numbers that workspaces send from. `PhoneNumberStep` decides its transitions.
 */
import { Context, type Effect, type Option } from "effect"
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { NumberName, PhoneNumber } from "./PhoneNumber.ts"
import type { Assignment, Observe, SealedCredentials, SetCredentials } from "./PhoneNumberStep.ts"

/** The operator's settings of a number. */
export type PhoneNumberSettings = Partial<
  Pick<PhoneNumber, "providerAccountId" | "tier" | "messagingLimit" | "available">
>

export class PhoneNumberStore extends Context.Service<PhoneNumberStore, {
  /**
   * Adds a number to an existing workspace, and stores its own credentials in the same step. A new default replaces the
   * provider's previous default, also in that step; a provider's first number is always its default. False, and no
   * change, if the provider id is known or the workspace already has the number. Safe to repeat.
   */
  readonly add: (number: PhoneNumber, credentials?: SealedCredentials) => Effect.Effect<boolean, StoreError>
  /**
   * Removes a number with its contacts, its remembered messages and its credentials, and also the templates of its
   * account if the workspace has no other number there. Messages and events stay; later provider reports about them
   * have no effect. What was said under further names of a contact moves to the contact's key. If the number was the
   * default, another number of the provider becomes it (`PhoneNumber.withDefaults`). If the removal takes several steps,
   * the first one makes the number unavailable, and another available number the default. False if there is no such
   * number. Safe to repeat.
   */
  readonly remove: (id: PhoneNumberId) => Effect.Effect<boolean, StoreError>
  /**
   * Assigns a number to a provider, an account and a portfolio; omitted fields keep their values. It becomes the
   * default at its provider if its workspace has no other. A provider that loses its default gets another one
   * (`PhoneNumber.withDefaults`). In force from the next *accept*. If numbers come to share a messaging limit, a
   * customer whom several of them have messaged may count once for each of them during the next 24 hours. Safe to
   * repeat.
   */
  readonly assign: (id: PhoneNumberId, to: Assignment) => Effect.Effect<void, StoreError>
  /** The numbers of a workspace, default numbers first. */
  readonly list: (id: WorkspaceId) => Effect.Effect<ReadonlyArray<PhoneNumber>, StoreError>
  /** The numbers that a name selects, in all workspaces, oldest first. */
  readonly named: (name: NumberName) => Effect.Effect<ReadonlyArray<PhoneNumber>, StoreError>
  /** Sets the operator's settings; omitted fields keep their values. In force from the next *accept*. */
  readonly configure: (id: PhoneNumberId, settings: PhoneNumberSettings) => Effect.Effect<void, StoreError>
  /**
   * Applies at `now` a provider report of the time `at` to every number that its name selects (`PhoneNumber.observe`).
   * Returns how many there are. In force from the next *accept*. Reports may arrive in any order and repeatedly.
   */
  readonly observe: (told: Observe) => Effect.Effect<number, StoreError>
  /** The number's own credentials, if any. */
  readonly credentials: (id: PhoneNumberId) => Effect.Effect<Option.Option<SealedCredentials>, StoreError>
  /**
   * Sets a number's own credentials, or removes them with `null`. *Accept* returns their version from its next call.
   * Lifts a block for `credentials` in the same step, like a report of the time `now`. False if there is no such
   * number. Safe to repeat.
   */
  readonly setCredentials: (command: SetCredentials) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/numbers/PhoneNumberStore") {}
