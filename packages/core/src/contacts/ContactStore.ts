/**
 * Port: contacts, and what customers write to us. `ContactStep` says what its transitions decide.
 */
import { Context, type Effect, type Option } from "effect"
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Contact } from "./Contact.ts"
import type { Move, Recorded, RecordInbound, SetPreference } from "./ContactStep.ts"

/** Which contacts: those of one number, where it is given. */
export interface ContactFilter {
  readonly phoneNumberId?: PhoneNumberId
}

export class ContactStore extends Context.Service<ContactStore, {
  /**
   * Records a customer's message once (by number and provider's id), in one step: `Contact.meet` finds whose it is,
   * their window moves to `ServiceWindow.openedAt` if that is newer, a preference that it states counts from then, and
   * `message.received` is written with its delivery. `messageId` is the identifier that the event gives the message.
   * It is remembered until `InboundMessage.rememberedUntil`. Safe to repeat.
   */
  readonly recordInbound: (command: RecordInbound) => Effect.Effect<Recorded, StoreError>
  /**
   * `Contact.prefer`, of one who has or gets a contact; what is to come counts as now. False when no workspace has the
   * number. Safe to repeat.
   */
  readonly setPreference: (command: SetPreference) => Effect.Effect<boolean, StoreError>
  /**
   * A customer goes by another name: the contact of `from` (by its number, else by its user id) is merged into that of
   * `to`, and left (`Contact.merge`, `Contact.leave`), unless there is none or it was heard from since. False when no
   * workspace has the number. Safe to repeat.
   */
  readonly move: (command: Move) => Effect.Effect<boolean, StoreError>
  readonly get: (
    workspaceId: WorkspaceId,
    phoneNumberId: PhoneNumberId,
    key: Contact["key"]
  ) => Effect.Effect<Option.Option<Contact>, StoreError>
  /**
   * Contacts of the workspace in the order of their ids (`Contact.idOf`), which customers that write do not change:
   * following the pages misses nobody who was there all the while.
   */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: ContactFilter,
    page: PageRequest
  ) => Effect.Effect<Page<Contact>, StoreError>
}>()("@wac/core/contacts/ContactStore") {}
