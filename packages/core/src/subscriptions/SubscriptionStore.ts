/**
 * Port: durable subscriptions (contract §16). Any number of processes may work on one; the storage lets one at a time
 * handle its events. `SubscriptionStep` decides what is handled.
 */
import { Context, type Effect } from "effect"
import type { Event, EventType } from "../events/Event.ts"
import type { EventId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type * as Subscription from "./Subscription.ts"
import type { Work, WorkResult } from "./SubscriptionStep.ts"

/** The command to create a subscription, or to change its types. */
export interface Open extends Subscription.Key {
  readonly types: ReadonlyArray<EventType>
  readonly now: Instant
}

/** An event that was set aside. */
export interface Failed {
  readonly event: Event
  readonly attempts: number
  readonly failedAt: Instant
  /** Why the last try failed. */
  readonly failure: string
}

/** A subscription's progress. */
export interface Standing {
  readonly name: string
  /**
   * When its oldest unhandled event was recorded, apart from events that are set aside; `null` if all are handled.
   */
  readonly oldestUnhandledAt: Instant | null
  /** How many events are set aside, up to {@link maxCounted}. */
  readonly failed: number
}

/** The maximum number of set-aside events that are counted. */
export const maxCounted = 1000

/** Selects events that were set aside: one, or with `null` all of the subscription. */
export interface Choice extends Subscription.Key {
  readonly eventId: EventId | null
}

export class SubscriptionStore extends Context.Service<SubscriptionStore, {
  /**
   * Creates the subscription if there is none of this name. It begins with the events recorded from then on, including
   * events whose recording is in progress. If it exists, this only replaces the types (`Subscription.retyped`). Events
   * of an added type are handled if they are recorded from then on, or after an event that waits to be taken up. Safe
   * to repeat.
   */
  readonly open: (command: Open) => Effect.Effect<void, StoreError>
  /**
   * Records the ends of tries and begins others (`SubscriptionStep.work`), in one atomic step. Safe to repeat: an event
   * that the caller reports neither as running nor as ended counts as a failed try. Never skips an event whose
   * recording is in progress.
   */
  readonly work: (command: Work) => Effect.Effect<WorkResult, StoreError>
  /** Gives a claim back, so that another process need not wait for its end. */
  readonly release: (key: Subscription.Key, owner: string) => Effect.Effect<void, StoreError>
  /** Events that were set aside and are still kept, by their ids. */
  readonly failed: (key: Subscription.Key, page: PageRequest) => Effect.Effect<Page<Failed>, StoreError>
  /** Makes events that were set aside due (`Subscription.retried`). Returns how many. */
  readonly retry: (command: Choice & { readonly now: Instant }) => Effect.Effect<number, StoreError>
  /** Deletes the entries of events that were set aside, so that they are never handled. Returns how many. */
  readonly discard: (command: Choice) => Effect.Effect<number, StoreError>
  /** Deletes a subscription with its place and its entries. False if there is none. */
  readonly remove: (key: Subscription.Key) => Effect.Effect<boolean, StoreError>
  /** The subscriptions of a workspace, by name. */
  readonly standings: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Standing>, StoreError>
  /**
   * When the oldest event was recorded that a subscription of any workspace has not handled, apart from events that are
   * set aside; `null` if there is none.
   */
  readonly oldestUnhandledAt: Effect.Effect<Instant | null, StoreError>
}>()("@wac/core/subscriptions/SubscriptionStore") {}
