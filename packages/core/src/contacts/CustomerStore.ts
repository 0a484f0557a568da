/**
 * Port: everything that is stored about one customer, read and erased in steps of bounded size. `CustomerRecords`
 * decides which records belong to the customer.
 */
import { Context, type Effect } from "effect"
import type { Row } from "../campaigns/Recipient.ts"
import type { CampaignId, DeliveryId, EventId, MediaId, MessageId, WorkspaceId } from "../Id.ts"
import type { ReceivedMessage } from "../inbound/ReceivedMessage.ts"
import type { OutboxEntry } from "../outbox/OutboxEntry.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Contact } from "./Contact.ts"
import type { OptOut } from "./ContactStore.ts"
import type { Names, Place } from "./CustomerRecords.ts"
import type * as Suppression from "./Suppression.ts"

/** One step through the workspace's records of one kind. */
export interface Step {
  readonly workspaceId: WorkspaceId
  readonly names: Names
  readonly place: Place
  /** Where the previous step ended; `null` for the first step. */
  readonly after: string | null
}

/** A step that erases records. */
export interface EraseStep extends Step {
  readonly now: Instant
  /** The hashes of `names.keys`, under which an opt-out is kept (`Suppression.erased`). */
  readonly hashes: Suppression.Hashes
}

/** A message to the customer that a host enqueued in a transaction of its own. */
export type Enqueued = Pick<OutboxEntry, "messageId" | "key" | "message" | "enqueuedAt">

/** A record that a step found: the record itself, or the id by which its own port finds it. */
export type Found =
  | { readonly place: "deliveries"; readonly id: DeliveryId }
  /** `files` are the files that the event names. */
  | { readonly place: "events"; readonly id: EventId; readonly files: ReadonlyArray<MediaId> }
  | { readonly place: "outbox"; readonly entry: Enqueued }
  | { readonly place: "messages"; readonly id: MessageId }
  | { readonly place: "conversations"; readonly message: ReceivedMessage }
  | { readonly place: "contacts"; readonly contact: Contact }
  | { readonly place: "campaignRows"; readonly campaignId: CampaignId; readonly number: number; readonly row: Row }
  | { readonly place: "posts"; readonly provider: string; readonly receivedAt: Instant; readonly body: string }

/** What a step erased, and what must happen before it can erase more. */
export interface Erased {
  readonly erased: number
  /** The customer's files, which the deleted events or conversations named. */
  readonly files: ReadonlyArray<MediaId>
  /** Messages that must leave their campaigns' queues first. */
  readonly queued: ReadonlyArray<MessageId>
  /** How many records a process is working on. */
  readonly busy: number
  /** Where the next step begins; `null` after the last one. */
  readonly next: string | null
}

export class CustomerStore extends Context.Service<CustomerStore, {
  /** The workspace's contacts with one of these keys or user ids. */
  readonly contacts: (workspaceId: WorkspaceId, names: Names) => Effect.Effect<ReadonlyArray<Contact>, StoreError>
  /**
   * The opt-outs that are stored under these keys, whether or not there is a contact, in any order. An opt-out of an
   * erased customer is stored without its name, so it is not found.
   */
  readonly optOuts: (workspaceId: WorkspaceId, names: Names) => Effect.Effect<ReadonlyArray<OptOut>, StoreError>
  /**
   * Finds the customer's records in one step. For `inboundMessages` it finds nothing: `conversations` has the
   * customer's messages with their content.
   */
  readonly find: (
    step: Step
  ) => Effect.Effect<{ readonly found: ReadonlyArray<Found>; readonly next: string | null }, StoreError>
  /**
   * Erases the customer from the records of one step. It deletes deliveries with their attempts, events with the
   * deliveries that were recorded meanwhile, contacts with their rate limits, conversations with the customer's
   * messages, and outbox messages that are not queued yet. A delivery that waited for a deleted one is due. From queued
   * outbox messages, messages, rows of campaigns and provider posts, it erases the content (`MessageErasure`). The
   * provider's ids of the customer's messages stay known, so that none is recorded again. An opt-out stays under the
   * hashes. Safe to repeat.
   */
  readonly erase: (step: EraseStep) => Effect.Effect<Erased, StoreError>
}>()("@wac/core/contacts/CustomerStore") {}

/** A step that found nothing to erase. */
export const nothing: Erased = { erased: 0, files: [], queued: [], busy: 0, next: null }
