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
import type { Work, Worked } from "./SubscriptionStep.ts"

/** Opens a subscription. */
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

/** How far a subscription has come. */
export interface Standing {
  readonly name: string
  /**
   * When the oldest event of its types was recorded that it has not handled, apart from those set aside; `null` if it
   * has handled all.
   */
  readonly oldestUnhandledAt: Instant | null
  /** How many events are set aside, up to {@link maxCounted}. */
  readonly failed: number
}

/** How many events that were set aside are counted. */
export const maxCounted = 1000

/** Which events that were set aside: one, or with `null` all of the subscription. */
export interface Choice extends Subscription.Key {
  readonly eventId: EventId | null
}

export class SubscriptionStore extends Context.Service<SubscriptionStore, {
  /**
   * Creates the subscription if there is none of this name. It then begins with the events whose recording has not
   * ended yet. Otherwise it only replaces the types. Safe to repeat.
   */
  readonly open: (command: Open) => Effect.Effect<void, StoreError>
  /**
   * Records the ends of tries and begins others (`SubscriptionStep.work`), in one atomic step. Safe to repeat: what the
   * caller does not name as running or ended counts as a failed try. Never skips an event that was being recorded.
   */
  readonly work: (command: Work) => Effect.Effect<Worked, StoreError>
  /** Gives a claim back, so that another process need not wait for its end. */
  readonly release: (key: Subscription.Key, owner: string) => Effect.Effect<void, StoreError>
  /** Events that were set aside and are still kept, by their ids. */
  readonly failed: (key: Subscription.Key, page: PageRequest) => Effect.Effect<Page<Failed>, StoreError>
  /** Makes events that were set aside due (`Subscription.retried`). Returns how many. */
  readonly retry: (command: Choice & { readonly now: Instant }) => Effect.Effect<number, StoreError>
  /** Gives events that were set aside up. Returns how many. */
  readonly discard: (command: Choice) => Effect.Effect<number, StoreError>
  /** Deletes a subscription with its place and its events that were set aside. False if there is none. */
  readonly remove: (key: Subscription.Key) => Effect.Effect<boolean, StoreError>
  /** The subscriptions of a workspace, by name. */
  readonly standings: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Standing>, StoreError>
  /**
   * When the oldest event of any workspace was recorded that one of its subscriptions has not handled, apart from those
   * set aside; `null` if there is none.
   */
  readonly oldestUnhandledAt: Effect.Effect<Instant | null, StoreError>
}>()("@wac/core/subscriptions/SubscriptionStore") {}
