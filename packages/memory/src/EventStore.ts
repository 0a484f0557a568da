import { type Event, EventStore, type Id, Page } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "./State.ts"

type Filter = Parameters<EventStore.EventStore["Service"]["list"]>[1]

/**
 * In the order of recording, not of identifiers: those are made before the step that records the event, so that a
 * lower one may come after a page was read.
 */
const list = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  { since, type }: Filter,
  page: Page.PageRequest
): Page.Page<Event.Event> => {
  const log = memory.events.get(workspaceId) ?? []
  const found: Array<Event.Event> = []
  for (let i = start(memory, log, page.after); i < log.length && found.length <= page.limit; i++) {
    const event = log[i]!
    if ((since === undefined || event.createdAt >= since) && (type === undefined || event.type === type)) {
      found.push(event)
    }
  }
  return Page.fromOverread(found, page, ({ id }) => id)
}

const start = (memory: Memory, log: ReadonlyArray<Event.Event>, after: string | null): number => {
  if (after === null) return 0
  const last = memory.eventPosition.get(after as Id.EventId)
  if (last !== undefined && log[last]?.id === after) return last + 1
  const next = log.findIndex(({ id }) => id > after)
  return next < 0 ? log.length : next
}

const get = (memory: Memory, workspaceId: Id.WorkspaceId, id: Id.EventId): Option.Option<Event.Event> => {
  const position = memory.eventPosition.get(id)
  const event = position === undefined ? undefined : memory.events.get(workspaceId)?.[position]
  return event?.id === id ? Option.some(event) : Option.none()
}

export const layer = Layer.effect(
  EventStore.EventStore,
  Effect.map(State, (memory) =>
    EventStore.EventStore.of({
      get: (workspaceId, id) => Effect.sync(() => get(memory, workspaceId, id)),
      list: (workspaceId, filter, page) => Effect.sync(() => list(memory, workspaceId, filter, page))
    }))
)
