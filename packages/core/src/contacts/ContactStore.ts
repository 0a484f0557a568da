/**
 * Port: contacts, opt-outs and inbound messages. `ContactStep` decides its transitions.
 */
import { Context, type Effect, type Option } from "effect"
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Contact } from "./Contact.ts"
import type { Choose, Chosen, Move, Recorded, RecordInbound, RecordNames, SetPreference } from "./ContactStep.ts"
import type * as OptOutWords from "./OptOutWords.ts"
import type { Source } from "./Suppression.ts"

/** Which contacts to list: all, or the contacts of one number. */
export interface ContactFilter {
  readonly phoneNumberId?: PhoneNumberId
}

/** The opt-out of a name. */
export interface OptOut {
  /** A number or a user id. */
  readonly name: string
  /** The number for which the name is opted out; `null` for every number of the workspace. */
  readonly phoneNumberId: PhoneNumberId | null
  readonly at: Instant
  /** Who opted the customer out; `null` for an opt-out in a contact, by the customer or the provider. */
  readonly source: Source | null
}

export class ContactStore extends Context.Service<ContactStore, {
  /**
   * Records a customer's message once (by number and provider message id), in one atomic step. `ContactMerge.resolve`
   * finds the contact. Its window moves to `ServiceWindow.openedAt` if that is newer, a preference in the message
   * counts from then, and `message.received` is written with its delivery. `messageId` is the message's identifier in
   * the event. The message is remembered until `InboundMessage.rememberedUntil`. Safe to repeat.
   */
  readonly recordInbound: (command: RecordInbound) => Effect.Effect<Recorded, StoreError>
  /**
   * Applies `Contact.prefer` to the customer's contact, which is created if missing. A time in the future counts as
   * now. False if no workspace has the number. Safe to repeat.
   */
  readonly setPreference: (command: SetPreference) => Effect.Effect<boolean, StoreError>
  /**
   * Applies a customer's change of name: the contact of `to` follows the contact of `from` (found by its number, else
   * by its user id), which is left (`ContactMerge.follow`, `Contact.leave`). If only the user id is new, the contact
   * stays and gets it (`ContactMerge.rename`). Nothing changes if there is no contact of `from` or if it has written
   * since. False if no workspace has the number. Safe to repeat.
   */
  readonly move: (command: Move) => Effect.Effect<boolean, StoreError>
  /**
   * Records that a customer has several names (`ContactMerge.resolve`). The contact is created if missing. False if no
   * workspace has the number. Safe to repeat.
   */
  readonly recordNames: (command: RecordNames) => Effect.Effect<boolean, StoreError>
  /**
   * Opts a customer out or in under all of their names, for one number or for every number. The customer need not have
   * a contact. Nothing is written if the customer has chosen anything that the caller has not read. Safe to repeat: an
   * opt-out that is in force already stays as it is.
   */
  readonly choose: (command: Choose) => Effect.Effect<Chosen, StoreError>
  /**
   * The opted-out names: first the opt-outs that a person or a program set, then opt-outs in contacts that the first do
   * not cover. Following the pages misses no opt-out that was in force throughout.
   */
  readonly optOuts: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<OptOut>, StoreError>
  /** How many names are opted out by their hash only, because their customers were erased. */
  readonly countErased: (workspaceId: WorkspaceId) => Effect.Effect<number, StoreError>
  /** The workspace's words by which customers opt out. */
  readonly words: (workspaceId: WorkspaceId) => Effect.Effect<OptOutWords.Settings, StoreError>
  /** Replaces the words. The new words count for messages recorded from then on. */
  readonly setWords: (workspaceId: WorkspaceId, words: OptOutWords.Settings) => Effect.Effect<void, StoreError>
  /** Every contact of the workspace by a name of its customer (`CustomerNames.keyOf`), on any number. */
  readonly named: (workspaceId: WorkspaceId, name: string) => Effect.Effect<ReadonlyArray<Contact>, StoreError>
  /** A contact of a number, by a name of its customer (`CustomerNames.keyOf`). */
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
