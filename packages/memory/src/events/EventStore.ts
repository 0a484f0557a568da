/**
 * `EventStore` in memory: each method is one synchronous step over `State`.
 */
import { type Event, EventStore, Id, MessageStore, Page, type Retention, type Time } from "@wac/core"
import { Duration, Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"
import { oldestUnhandled } from "../subscriptions/SubscriptionStore.ts"
import * as Journal from "./Journal.ts"

const matches = ({ messageId, since, type, until }: EventStore.LatestFilter) => (event: Event.Event): boolean =>
  (since === undefined || event.createdAt >= since) && (until === undefined || event.createdAt < until) &&
  (type === undefined || event.type === type) &&
  (messageId === undefined || event.orderKey === messageId)

/**
 * Lists events in the order of recording, not of identifiers: an identifier is created before the step that records its
 * event, so a lower one may appear after a page was read.
 */
const list = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  filter: EventStore.EventFilter,
  page: EventStore.EventPageRequest
): EventStore.EventPage => {
  const log = memory.events.get(workspaceId) ?? []
  const isWanted = matches(filter)
  const found: Array<Event.Event> = []
  for (let i = start(memory, log, page); i < log.length && found.length <= page.limit; i++) {
    if (isWanted(log[i]!)) found.push(log[i]!)
  }
  return pageOf(memory, found, page)
}

/** Lists events, newest first. */
const latest = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  filter: EventStore.LatestFilter,
  page: Page.PageRequest
): EventStore.EventPage => {
  const log = memory.events.get(workspaceId) ?? []
  const isWanted = matches(filter)
  const found: Array<Event.Event> = []
  for (let i = end(memory, log, page.after) - 1; i >= 0 && found.length <= page.limit; i--) {
    if (isWanted(log[i]!)) found.push(log[i]!)
  }
  return pageOf(memory, found, page)
}

const pageOf = (
  memory: Memory,
  found: ReadonlyArray<Event.Event>,
  request: Page.PageRequest
): EventStore.EventPage => {
  const page = Page.fromOverread(found, request, ({ id }) => id)
  return { ...page, places: page.items.map(({ id }) => `${memory.eventPlaces.get(id)!}`) }
}

/**
 * Where a page of events after an event begins. If that event was deleted, and its place is not known, some events
 * before it come again, but none is missed: an event may have been recorded after it under an older id.
 */
const start = (
  memory: Memory,
  log: ReadonlyArray<Event.Event>,
  { after, place }: EventStore.EventPageRequest
): number => {
  if (after === null) return 0
  const last = memory.eventPosition.get(after as Id.EventId)
  if (last !== undefined && log[last]?.id === after) return last + 1
  if (place === undefined && Option.isNone(Id.parse(Id.EventId, after))) return 0
  const from = Id.timeOf(after as Id.EventId) - Duration.toMillis(MessageStore.idAhead)
  const next = log.findIndex(({ createdAt, id }) =>
    place === undefined ? createdAt >= from : memory.eventPlaces.get(id)! > Number(place)
  )
  return next < 0 ? log.length : next
}

/**
 * Where a page of the newest events after an event ends. If that event was deleted, some events after it come again,
 * but none is missed: other events may have been recorded between the creation of its id and its recording.
 */
const end = (memory: Memory, log: ReadonlyArray<Event.Event>, after: string | null): number => {
  if (after === null) return log.length
  const last = memory.eventPosition.get(after as Id.EventId)
  if (last !== undefined && log[last]?.id === after) return last
  if (Option.isNone(Id.parse(Id.EventId, after))) return 0
  const until = Id.timeOf(after as Id.EventId) + Duration.toMillis(MessageStore.idAhead)
  return log.findLastIndex(({ createdAt }) => createdAt < until) + 1
}

const get = (memory: Memory, workspaceId: Id.WorkspaceId, id: Id.EventId): Option.Option<Event.Event> => {
  const position = memory.eventPosition.get(id)
  const event = position === undefined ? undefined : memory.events.get(workspaceId)?.[position]
  return event?.id === id ? Option.some(event) : Option.none()
}

/**
 * Deletes events recorded before a time. Keeps each workspace's events from the oldest one that is not delivered yet,
 * or not handled yet and recorded at `unhandledBefore` or later.
 */
const forget = (memory: Memory, before: Time.Instant, unhandledBefore: Time.Instant): Retention.Forgotten => {
  let removed = 0
  for (const workspaceId of memory.events.keys()) {
    const open = memory.outboxes.get(workspaceId)?.open ?? []
    const until = Math.min(
      before,
      ...[...open].map(({ event }) => event.createdAt),
      Math.max(oldestUnhandled(memory, workspaceId) ?? before, unhandledBefore)
    )
    const gone = Journal.remove(memory, workspaceId, (event) => event.createdAt < until)
    if (gone.length === 0) continue
    removed += gone.length
    for (const consignment of memory.deliveries.all(workspaceId)) {
      if (consignment.event.createdAt < until) memory.deliveries.delete(consignment)
    }
  }
  return { removed, isMore: false }
}

export const layer = Layer.effect(
  EventStore.EventStore,
  Effect.map(State, (memory) =>
    EventStore.EventStore.of({
      get: (workspaceId, id) => Effect.sync(() => get(memory, workspaceId, id)),
      list: (workspaceId, filter, page) => Effect.sync(() => list(memory, workspaceId, filter, page)),
      latest: (workspaceId, filter, page) => Effect.sync(() => latest(memory, workspaceId, filter, page)),
      forget: (before, unhandledBefore) => Effect.sync(() => forget(memory, before, unhandledBefore))
    }))
)
