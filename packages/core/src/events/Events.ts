/**
 * The service that reads recorded events: for receivers that reconcile after an outage, and for people (contract §6
 * *GET /v1/events*).
 */
import { Context, Effect, Layer } from "effect"
import type { NotFound } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as Lookup from "../Lookup.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Event } from "./Event.ts"
import { type EventFilter, type EventPage, type EventPageRequest, EventStore, type LatestFilter } from "./EventStore.ts"

/** Sorts below every event's id. */
const beforeAll = Id.lowestAt("evt", 0)

/** The `after` that continues after a page of `Events.list`, even if the page is the last one for now. */
export const resumeAfter = ({ items, next }: Page<Event>, { after }: PageRequest): string =>
  next ?? items.at(-1)?.id ?? after ?? beforeAll

export class Events extends Context.Service<Events, {
  /**
   * Oldest first. Following the pages to their end never skips an event that was being committed meanwhile: an event
   * that may still be preceded by another is waited for, or left to a later read.
   */
  readonly list: (
    workspaceId: Id.WorkspaceId,
    filter: EventFilter,
    page: EventPageRequest
  ) => Effect.Effect<EventPage, StoreError>
  /** Newest first, for people. The pages may miss events that were being committed meanwhile. */
  readonly latest: (
    workspaceId: Id.WorkspaceId,
    filter: LatestFilter,
    page: PageRequest
  ) => Effect.Effect<EventPage, StoreError>
  readonly get: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<Event, NotFound | StoreError>
}>()("@wac/core/events/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function*() {
      const store = yield* EventStore

      const get = (workspaceId: Id.WorkspaceId, text: string) =>
        Lookup.find("event", Id.parse(Id.EventId, text), (id) => store.get(workspaceId, id))

      return Events.of({ list: store.list, latest: store.latest, get })
    })
  )
}
