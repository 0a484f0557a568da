/**
 * Port: recorded events, to read and to delete. The ports that make a change write its events.
 */
import { Context, type Effect, type Option } from "effect"
import type { EventId, MessageId, WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { Forgotten } from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Event, EventType } from "./Event.ts"

/** Which events to list: those recorded at or after `since`, and of one type, if given. */
export interface EventFilter {
  readonly since?: Instant | undefined
  readonly type?: EventType | undefined
}

/** Which of the newest events to list: also recorded before `until`, and of one message, if given. */
export interface LatestFilter extends EventFilter {
  readonly until?: Instant | undefined
  readonly messageId?: MessageId | undefined
}

/** A page of events. */
export interface EventPage extends Page<Event> {
  /** The place of each item in the order of recording. Only the storage knows what it means. */
  readonly places: ReadonlyArray<string>
}

/** Requests a page of events, like any page. */
export interface EventPageRequest extends PageRequest {
  /** The place of the event `after`: the page continues from there if the event was deleted since. */
  readonly place?: string | undefined
}

export class EventStore extends Context.Service<EventStore, {
  readonly get: (workspaceId: WorkspaceId, id: EventId) => Effect.Effect<Option.Option<Event>, StoreError>
  /**
   * Events of the workspace, *oldest first*. Following the pages never skips an event that was being committed
   * meanwhile. After an event that was deleted, no later one is skipped, but without its place some older ones may come
   * again.
   */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: EventFilter,
    page: EventPageRequest
  ) => Effect.Effect<EventPage, StoreError>
  /**
   * Events of the workspace, *newest first*, in the order of recording as far as it is committed. After an event that
   * was deleted, some newer events may come again, but no older one is skipped.
   */
  readonly latest: (
    workspaceId: WorkspaceId,
    filter: LatestFilter,
    page: PageRequest
  ) => Effect.Effect<EventPage, StoreError>
  /**
   * Deletes a bounded number of events that were recorded before `before`, with their deliveries and attempts. Keeps a
   * workspace's events from the oldest one on that is still to be delivered or that a durable subscription has not
   * handled. Events recorded before `unhandledBefore` are not kept for subscriptions.
   */
  readonly forget: (before: Instant, unhandledBefore: Instant) => Effect.Effect<Forgotten, StoreError>
}>()("@wac/core/events/EventStore") {}
