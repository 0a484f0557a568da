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

/** A page of events, oldest first. */
export interface Followed extends EventPage {
  /** The `after` that continues after the page, even if the page is the last one for now. */
  readonly resume: string
}

/** The `after` that continues after a page, even if the page is the last one for now. */
export const resumeAfter = ({ items, next }: Page<Event>, { after }: PageRequest, { since = 0 }: EventFilter): string =>
  next ?? items.at(-1)?.id ?? after ?? Id.lowestAt("evt", since)

/** Whether `after` is no event's id but stands for a time, because {@link resumeAfter} had no event to name. */
const isTime = (after: string): boolean => after === Id.lowestAt("evt", Id.timeOf(after as Id.EventId))

/**
 * The filter and the page to read. Where `after` stands for a time, this is the time, not a place among the ids: an
 * event that was recorded since may have an id from before.
 */
const begun = (filter: EventFilter, page: EventPageRequest): readonly [EventFilter, EventPageRequest] =>
  page.after === null || !isTime(page.after) ? [filter, page] : [
    { ...filter, since: Math.max(filter.since ?? 0, Id.timeOf(page.after as Id.EventId)) },
    { ...page, after: null }
  ]

export class Events extends Context.Service<Events, {
  /**
   * Oldest first. Following the pages to their end never skips an event that was being committed meanwhile: an event
   * that may still be preceded by another is waited for, or left to a later read.
   */
  readonly list: (
    workspaceId: Id.WorkspaceId,
    filter: EventFilter,
    page: EventPageRequest
  ) => Effect.Effect<Followed, StoreError>
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

      const list = (workspaceId: Id.WorkspaceId, filter: EventFilter, request: EventPageRequest) =>
        Effect.map(store.list(workspaceId, ...begun(filter, request)), (page): Followed => ({
          ...page,
          resume: resumeAfter(page, request, filter)
        }))

      return Events.of({ list, latest: store.latest, get })
    })
  )
}
