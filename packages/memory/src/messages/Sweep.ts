/**
 * What silence means by now (contract §3), and the forgetting of idempotency keys.
 */
import { Message, type MessageStore, type Time } from "@wac/core"
import { keepMoved } from "../events/Journal.ts"
import type { Memory, Send } from "../State.ts"
import { bind, deadlineOf, expiryFrom, forget, giveQuotaBack, isSettled, messageOf, unclaim } from "./Sends.ts"

export const nothing: MessageStore.Swept = { unknown: 0, failed: 0, forgotten: 0 }

export const sum = (a: MessageStore.Swept, b: MessageStore.Swept): MessageStore.Swept => ({
  unknown: a.unknown + b.unknown,
  failed: a.failed + b.failed,
  forgotten: a.forgotten + b.forgotten
})

/** Whether a sweep would find something to look at. */
export const isDue = (memory: Memory, now: Time.Instant): boolean => {
  const next = memory.deadlines.peek()
  return next !== undefined && next.at <= now
}

/** Looks at sends whose deadline has come, as many as there are identifiers for their events. */
export const sweep = (memory: Memory, ids: MessageStore.EventIds, now: Time.Instant): MessageStore.Swept => {
  let swept = nothing
  for (let i = 0; i < ids.events.length && isDue(memory, now); i++) {
    const send = memory.sends.get(memory.deadlines.pop()!.name)
    const at = send && deadlineOf(send.binding, messageOf(memory, send))
    // what has moved on since has a later deadline in line
    if (send === undefined || at === undefined || at === null || at > now) continue
    const own = { events: [ids.events[i]!], deliveries: [ids.deliveries[i]!] }
    swept = sum(swept, conclude(memory, send, own, now))
  }
  return swept
}

/** Takes the one step that is due; the next, if it is due as well, is found by its own deadline. */
const conclude = (memory: Memory, send: Send, ids: MessageStore.EventIds, now: Time.Instant): MessageStore.Swept => {
  const { claim, expiresAt } = send.binding
  const message = messageOf(memory, send)
  if (expiresAt !== null) {
    forget(memory, send)
    return { ...nothing, forgotten: 1 }
  }
  if (claim !== null) {
    const becomes = !isSettled(message)
    if (becomes) memory.messages.set({ ...message, status: "unknown", statusAt: claim.leaseUntil })
    unclaim(memory, send, now)
    return { ...nothing, unknown: becomes ? 1 : 0 }
  }
  if (message.status === "unknown") {
    fail(memory, message, Message.deliveryUnknown, ids, now)
    bind(memory, send, { expiresAt: expiryFrom(now) })
    return { ...nothing, failed: 1 }
  }
  fail(memory, message, Message.notSent, ids, now)
  giveQuotaBack(memory, send)
  forget(memory, send)
  return { ...nothing, failed: 1, forgotten: 1 }
}

const fail = (
  memory: Memory,
  message: Message.Message,
  error: Message.MessageError,
  ids: MessageStore.EventIds,
  now: Time.Instant
): void => {
  const failed: Message.Message = { ...message, status: "failed", statusAt: now, failedAt: now, error }
  keepMoved(memory, { message: failed, transitions: [{ to: "failed", at: now }] }, ids, now)
}
