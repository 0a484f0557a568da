/**
 * Port: everything that is stored of one customer, by steps of bounded size. `CustomerRecords` decides what is theirs.
 */
import { Context, type Effect } from "effect"
import type { Row } from "../campaigns/Recipient.ts"
import type { CampaignId, DeliveryId, EventId, MediaId, MessageId, WorkspaceId } from "../Id.ts"
import type { ReceivedMessage } from "../inbound/ReceivedMessage.ts"
import type { OutboxEntry } from "../outbox/OutboxEntry.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Contact } from "./Contact.ts"
import type { Names, Place } from "./CustomerRecords.ts"
import type * as Suppression from "./Suppression.ts"

/** A step over the records of a workspace in one place. */
export interface Step {
  readonly workspaceId: WorkspaceId
  readonly names: Names
  readonly place: Place
  /** Where the step before has ended; `null` for the first one. */
  readonly after: string | null
}

/** A step that erases. */
export interface EraseStep extends Step {
  readonly now: Instant
  /** The hashes of `names.keys`, under which an opt-out is kept (`Suppression.erased`). */
  readonly hashes: Suppression.Hashes
}

/** A message to the customer that a host enqueued in a transaction of its own. */
export type Enqueued = Pick<OutboxEntry, "messageId" | "key" | "message" | "enqueuedAt">

/** A record of the customer: itself, or the id by which its own port finds it. */
export type Found =
  | { readonly place: "deliveries"; readonly id: DeliveryId }
  | { readonly place: "events"; readonly id: EventId }
  | { readonly place: "outbox"; readonly entry: Enqueued }
  | { readonly place: "messages"; readonly id: MessageId }
  | { readonly place: "conversations"; readonly message: ReceivedMessage }
  | { readonly place: "contacts"; readonly contact: Contact }
  | { readonly place: "campaignRows"; readonly campaignId: CampaignId; readonly number: number; readonly row: Row }
  | { readonly place: "posts"; readonly provider: string; readonly receivedAt: Instant; readonly body: string }

/** The records that a step has erased, and the work that it found must come first. */
export interface Erased {
  readonly erased: number
  /** The customer's files, which events named that are now deleted. */
  readonly files: ReadonlyArray<MediaId>
  /** Messages that their campaigns have to skip first. */
  readonly queued: ReadonlyArray<MessageId>
  /** Records that a process is working on. */
  readonly busy: number
  /** Where the next step begins; `null` after the last one. */
  readonly next: string | null
}

export class CustomerStore extends Context.Service<CustomerStore, {
  /** The workspace's contacts with one of these keys or user ids. */
  readonly contacts: (workspaceId: WorkspaceId, names: Names) => Effect.Effect<ReadonlyArray<Contact>, StoreError>
  /**
   * The customer's records of one step. `inboundMessages` finds none: `conversations` says more, of what the customer
   * wrote.
   */
  readonly find: (
    step: Step
  ) => Effect.Effect<{ readonly found: ReadonlyArray<Found>; readonly next: string | null }, StoreError>
  /**
   * Erases what the step finds of the customer: deliveries with their attempts, events, rows of contacts with their
   * rate limits, conversations with what the customer wrote, messages in the outbox that are not queued yet; of those
   * that are, of messages, rows of campaigns and provider posts, what
   * they said (`MessageErasure`). Customers' messages stay known by the provider's id, so that none is recorded again.
   * An opt-out stays under the hashes. Safe to repeat.
   */
  readonly erase: (step: EraseStep) => Effect.Effect<Erased, StoreError>
}>()("@wac/core/contacts/CustomerStore") {}

/** A step that found nothing to erase. */
export const nothing: Erased = { erased: 0, files: [], queued: [], busy: 0, next: null }
