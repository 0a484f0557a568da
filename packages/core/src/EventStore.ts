/**
 * Port: recorded events. They are written by the ports that make the changes they tell of.
 */
import { Context, type Effect, type Option } from "effect"
import type { Event, EventType } from "./Event.ts"
import type { EventId, WorkspaceId } from "./Id.ts"
import type { Page, PageRequest } from "./Page.ts"
import type { StoreError } from "./StoreError.ts"
import type { Instant } from "./Time.ts"

export class EventStore extends Context.Service<EventStore, {
  readonly get: (workspaceId: WorkspaceId, id: EventId) => Effect.Effect<Option.Option<Event>, StoreError>
  /**
   * Events of the workspace, *oldest first*, at or after `since` and of one type if those are given. Following the
   * pages never skips an event that was being committed meanwhile.
   */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: { readonly since?: Instant; readonly type?: EventType },
    page: PageRequest
  ) => Effect.Effect<Page<Event>, StoreError>
}>()("@wac/core/EventStore") {}
