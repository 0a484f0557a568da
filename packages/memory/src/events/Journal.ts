/**
 * Records events with their deliveries, in the same synchronous step as the change that they report. Writes `State`.
 */
import type { Event, MessageStore } from "@wac/core"
import type { Memory } from "../State.ts"

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
