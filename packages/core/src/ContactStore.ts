/**
 * Port: contacts, and what customers write to us.
 */
import { Context, type Effect, type Option } from "effect"
import type { Contact } from "./Contact.ts"
import type { MessageId, PhoneNumberId, WorkspaceId } from "./Id.ts"
import type { InboundMessage } from "./InboundMessage.ts"
import type { EventIds } from "./MessageStore.ts"
import type { StoreError } from "./StoreError.ts"
import type { Instant } from "./Time.ts"

/** What came of recording it. */
export type Recorded =
  | "recorded"
  /** The same message was recorded before; nothing changed. */
  | "duplicate"
  /** No workspace has the number. */
  | "unknown_number"

export class ContactStore extends Context.Service<ContactStore, {
  /**
   * Records a customer's message once (by number and provider's id), in one step: the contact's window moves to
   * `ServiceWindow.openedAt` if that is newer, a preference is set or cleared, and `message.received` is written with
   * its delivery. `messageId` is the identifier that the event gives the message. Safe to repeat.
   */
  readonly recordInbound: (command: {
    readonly now: Instant
    readonly message: InboundMessage
    readonly messageId: MessageId
    readonly ids: EventIds
  }) => Effect.Effect<Recorded, StoreError>
  readonly get: (
    workspaceId: WorkspaceId,
    phoneNumberId: PhoneNumberId,
    key: Contact["key"]
  ) => Effect.Effect<Option.Option<Contact>, StoreError>
}>()("@wac/core/ContactStore") {}
