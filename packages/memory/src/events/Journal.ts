/**
 * Recording events, each in the step that makes the change it tells of, with its delivery.
 */
import type { Event, MessageStore } from "@wac/core"
import type { Memory } from "../State.ts"

/** Writes events to the log, and a delivery of each that the workspace's webhook wants. */
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

/** Writes an event to the log alone. */
export const log = (memory: Memory, event: Event.Event): void => {
  const events = memory.events.get(event.workspaceId) ?? []
  memory.events.set(event.workspaceId, events)
  memory.eventPosition.set(event.id, events.push(event) - 1)
  memory.eventHint.notify()
}
