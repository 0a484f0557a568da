/**
 * Port: contacts and inbound messages. `ContactStep` decides its transitions.
 */
import { Context, type Effect, type Option } from "effect"
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Contact } from "./Contact.ts"
import type { Choose, Chosen, Move, Recorded, RecordInbound, SetPreference, Tell } from "./ContactStep.ts"
import type * as OptOutWords from "./OptOutWords.ts"
import type { Source } from "./Suppression.ts"

/** Which contacts to list: all, or those of one number. */
export interface ContactFilter {
  readonly phoneNumberId?: PhoneNumberId
}

/** An opt-out with a name. */
export interface OptOut {
  /** A number or a user id. */
  readonly name: string
  /** `null` for every number of the workspace. */
  readonly phoneNumberId: PhoneNumberId | null
  readonly at: Instant
  /** `null` in a contact: its customer or the provider. */
  readonly source: Source | null
}

export class ContactStore extends Context.Service<ContactStore, {
  /**
   * Records a customer's message once (by number and provider message id), in one atomic step. `Contact.meet` finds the
   * contact. Its window moves to `ServiceWindow.openedAt` if that is newer, a preference in the message counts from
   * then, and `message.received` is written with its delivery. `messageId` is the message's identifier in the event.
   * The message is remembered until `InboundMessage.rememberedUntil`. Safe to repeat.
   */
  readonly recordInbound: (command: RecordInbound) => Effect.Effect<Recorded, StoreError>
  /**
   * Applies `Contact.prefer` to the customer's contact, which is created if missing. A time in the future counts as
   * now. False if no workspace has the number. Safe to repeat.
   */
  readonly setPreference: (command: SetPreference) => Effect.Effect<boolean, StoreError>
  /**
   * Applies a customer's change of name: the contact of `to` follows the contact of `from` (found by its number, else
   * by its user id), which is left (`Contact.follow`, `Contact.leave`); if only the user id is new, the contact gets it
   * (`Contact.rename`). Nothing changes if there is no such contact or if it has written since. False if no workspace has the number. Safe to repeat.
   */
  readonly move: (command: Move) => Effect.Effect<boolean, StoreError>
  /**
   * Learns that a customer has several names (`Contact.meet`); the contact is created if missing. False if no workspace
   * has the number. Safe to repeat.
   */
  readonly tell: (command: Tell) => Effect.Effect<boolean, StoreError>
  /**
   * Opts a customer out or in under every name that they have, for one number or for every number; a contact need not
   * exist. Safe to repeat: what holds already stays as it is.
   */
  readonly choose: (command: Choose) => Effect.Effect<Chosen, StoreError>
  /**
   * Opt-outs with a name: first those that a person or a program set, then those in contacts that these do not cover.
   * Following the pages misses none that held throughout.
   */
  readonly optOuts: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<OptOut>, StoreError>
  /** How many names are opted out by their hash alone, because their customers were erased. */
  readonly countErased: (workspaceId: WorkspaceId) => Effect.Effect<number, StoreError>
  /** The workspace's words by which customers opt out. */
  readonly words: (workspaceId: WorkspaceId) => Effect.Effect<OptOutWords.Settings, StoreError>
  /** Replaces the words. They count for messages that are recorded from then on. */
  readonly setWords: (workspaceId: WorkspaceId, words: OptOutWords.Settings) => Effect.Effect<void, StoreError>
  /** Every contact of the workspace by one of its customer's names (`CustomerNames.keyOf`), on whatever number. */
  readonly named: (workspaceId: WorkspaceId, name: string) => Effect.Effect<ReadonlyArray<Contact>, StoreError>
  /** A contact of a number, by one of its customer's names (`CustomerNames.keyOf`). */
  readonly get: (
    workspaceId: WorkspaceId,
    phoneNumberId: PhoneNumberId,
    name: string
  ) => Effect.Effect<Option.Option<Contact>, StoreError>
  /**
   * Contacts of the workspace in the order of their places (`Contact.placeOf`). Following the pages misses no contact
   * that existed throughout, unless its number became known meanwhile, which changes its place.
   */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: ContactFilter,
    page: PageRequest
  ) => Effect.Effect<Page<Contact>, StoreError>
}>()("@wac/core/contacts/ContactStore") {}
