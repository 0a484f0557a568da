/**
 * Records events with their deliveries, in the same synchronous step as the change that they report, and deletes
 * events. Writes `State`.
 */
import type { Event, Id, MessageStore } from "@wac/core"
import type { Memory } from "../State.ts"
import { forgetEvent } from "../subscriptions/SubscriptionStore.ts"

/** Writes events to the log, and a delivery for each whose type the workspace's webhook subscribes to. */
export const record = (
  memory: Memory,
  events: ReadonlyArray<Event.Event>,
  deliveryIds: MessageStore.EventIds["deliveries"]
): void =>
  events.forEach((event, i) => {
    log(memory, event)
    const outbox = memory.outboxes.get(event.workspaceId)
    if (outbox === undefined || !outbox.webhook.eventTypes.includes(event.type)) return
    memory.deliveries.set(outbox.add(event, deliveryIds[i]!))
    memory.hint.notify()
  })

/** Writes an event to the log only. */
export const log = (memory: Memory, event: Event.Event): void => {
  const events = memory.events.get(event.workspaceId) ?? []
  memory.events.set(event.workspaceId, events)
  memory.eventPosition.set(event.id, events.push(event) - 1)
  memory.eventPlaces.set(event.id, ++memory.lastPlace)
  memory.eventHint.notify()
  memory.subscriptionHint.notify()
}

/** Deletes the events of a workspace that `isGone` selects, also from the subscriptions. Returns them. */
export const remove = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  isGone: (event: Event.Event) => boolean
): ReadonlyArray<Event.Event> => {
  const kept: Array<Event.Event> = []
  const gone: Array<Event.Event> = []
  for (const event of memory.events.get(workspaceId) ?? []) (isGone(event) ? gone : kept).push(event)
  if (gone.length === 0) return gone
  for (const { id } of gone) {
    memory.eventPosition.delete(id)
    memory.eventPlaces.delete(id)
    forgetEvent(memory, workspaceId, id)
  }
  kept.forEach(({ id }, position) => memory.eventPosition.set(id, position))
  memory.events.set(workspaceId, kept)
  return gone
}
