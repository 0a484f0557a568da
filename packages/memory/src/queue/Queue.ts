/**
 * Writes and reads the queues in `State`: callers' messages are in the lane of their number, a campaign's messages in
 * the campaign's own queue.
 */
import type { AcceptStep, Id, Message, QueueWorkStep, Time } from "@wac/core"
import { Heap } from "../Heap.ts"
import type { LaneRecord, Memory, QueuedRecord } from "../State.ts"

/** The lane of a message's number. Creates it if there is none. */
const laneOf = (
  memory: Memory,
  { phoneNumberId, workspaceId }: Pick<Message.Message, "phoneNumberId" | "workspaceId">
): LaneRecord => {
  const known = memory.lanes.get(phoneNumberId)
  if (known !== undefined) return known
  const made: LaneRecord = {
    lane: { phoneNumberId, workspaceId, workAt: null, nextSlot: 0 },
    queue: new Map(),
    order: new Heap((a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.messageId < b.messageId))
  }
  memory.lanes.set(phoneNumberId, made)
  return made
}

/** Changes when a message of a lane is due, and makes the lane's work due at `workAt`, unless it is due earlier. */
export const setDue = (
  memory: Memory,
  kept: LaneRecord,
  queued: QueuedRecord,
  dueAt: Time.Instant,
  workAt: Time.Instant = dueAt
): void => {
  queued.dueAt = dueAt
  kept.order.push({ dueAt, messageId: queued.messageId })
  const before = kept.lane.workAt
  if (before !== null && before <= workAt) return
  kept.lane = { ...kept.lane, workAt }
  memory.queueHint.notify()
}

const count = (memory: Memory, workspaceId: Id.WorkspaceId, change: number): void => {
  memory.queued.set(workspaceId, (memory.queued.get(workspaceId) ?? 0) + change)
}

/** Adds a caller's message to the lane of its number. */
export const enqueue = (memory: Memory, { message, request, sendUntil }: AcceptStep.Queued): void => {
  const kept = laneOf(memory, message)
  const queued: QueuedRecord = { messageId: message.id, request, dueAt: 0, tries: 0, sendUntil, timeZone: null }
  kept.queue.set(message.id, queued)
  count(memory, message.workspaceId, 1)
  setDue(memory, kept, queued, message.sendAt!)
}

/** Removes a message from the campaign's queue or the lane that it is in. */
export const dequeue = (memory: Memory, id: Id.MessageId): void => {
  const message = memory.messages.get(id)
  if (message === undefined) return
  const { campaignId, phoneNumberId, workspaceId } = message
  if (campaignId !== null) memory.campaigns.get(campaignId)?.queue.delete(id)
  else if (memory.lanes.get(phoneNumberId)?.queue.delete(id) === true) count(memory, workspaceId, -1)
}

/**
 * Returns the message of a lane that is due first. Drops outdated entries before it: their messages have a different
 * `dueAt` now, or are no longer queued.
 */
const first = ({ order, queue }: LaneRecord): QueuedRecord | undefined => {
  for (let entry = order.peek(); entry !== undefined; entry = order.peek()) {
    const queued = queue.get(entry.messageId)
    if (queued?.dueAt === entry.dueAt) return queued
    order.pop()
  }
  return undefined
}

/** Removes due messages from a lane's order. The caller must put each back with {@link setDue}. */
export const takeDue = (memory: Memory, kept: LaneRecord, limit: number, now: Time.Instant): QueueWorkStep.Due => {
  // by id, since a message may have two entries for the same time
  const messages = new Map<Id.MessageId, QueueWorkStep.Queued>()
  let next = first(kept)
  for (; next !== undefined && next.dueAt <= now && messages.size < limit; next = first(kept)) {
    kept.order.pop()
    const { messageId, request, sendUntil, tries } = next
    messages.set(messageId, { message: memory.messages.get(messageId)!, request, tries, sendUntil: sendUntil! })
  }
  return { messages: [...messages.values()], nextAt: next === undefined || next.dueAt <= now ? null : next.dueAt }
}

/** Since when the queue of a workspace is held; `null` if it is not. */
export const heldSinceOf = (
  { heartbeat, queueReleases, workspaces }: Memory,
  workspaceId: Id.WorkspaceId
): Time.Instant | null => {
  const heldSince = heartbeat?.heldSince ?? null
  if (heldSince === null || (queueReleases.get(workspaceId) ?? -Infinity) >= heldSince) return null
  return (workspaces.get(workspaceId)?.createdAt ?? Infinity) <= heldSince ? heldSince : null
}

/** Since when the queue of any workspace is held; `null` if none is. */
export const heldSinceOfAny = (memory: Memory): Time.Instant | null => {
  for (const id of memory.workspaces.keys()) {
    const heldSince = heldSinceOf(memory, id)
    if (heldSince !== null) return heldSince
  }
  return null
}

/** The lane whose work is due first, except lanes of held workspaces. */
export const nextLane = (memory: Memory): LaneRecord | undefined => {
  let next: LaneRecord | undefined
  for (const kept of memory.lanes.values()) {
    const { workAt, workspaceId } = kept.lane
    if (workAt === null || heldSinceOf(memory, workspaceId) !== null) continue
    if (next === undefined || workAt < next.lane.workAt!) next = kept
  }
  return next
}

/** When work on any lane is due; `null` if there is none. */
export const nextAt = (memory: Memory): Time.Instant | null => nextLane(memory)?.lane.workAt ?? null
