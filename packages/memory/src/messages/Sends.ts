/**
 * Sends and their idempotency keys: loads them from `State` for the core's steps and writes the results.
 */
import {
  Campaign,
  CampaignTally,
  KeyedMessage,
  type Message,
  type MessageErasure,
  type MessageStore,
  type OutcomeStep,
  type SendBatch,
  type Time
} from "@wac/core"
import { record } from "../events/Journal.ts"
import { dequeue } from "../queue/Queue.ts"
import type { Memory, Send as StoredSend } from "../State.ts"

/** The key of a send in `State`: its idempotency key with the workspace and route. */
export const nameOf = ({ key, route, workspaceId }: Omit<MessageStore.KeyedRequest, "fingerprint">): string =>
  `${workspaceId}\n${route}\n${key}`

/** A message, with its idempotency key if that is still kept. */
export const sendOf = (memory: Memory, id: Message.Message["id"]): KeyedMessage.KeyedMessage | undefined => {
  const message = memory.messages.get(id)
  const kept = memory.sendOf.get(id)
  return message && {
    message,
    binding: kept?.binding ?? null,
    quotaMonth: kept?.quotaMonth ?? null,
    returnedMonth: memory.returnedMonths.get(id) ?? null
  }
}

/** The records that the steps load. */
export const loaded = (memory: Memory): OutcomeStep.LoadedReports => ({
  now: memory.now,
  send: (id) => sendOf(memory, id),
  named: (providerMessageId) => memory.messageByProviderId.get(providerMessageId),
  number: (providerNumberId) => memory.phoneNumberByProviderId.get(providerNumberId)
})

/** Schedules the sweep for the send's deadline. */
export const awaitDeadline = (
  memory: Memory,
  { name }: StoredSend,
  send: Pick<KeyedMessage.KeyedMessage, "binding" | "message">
): void => {
  const at = KeyedMessage.deadlineOf(send)
  if (at === null) return
  memory.deadlines.push({ at, name })
  if (memory.deadlines.peek()!.at >= at) memory.deadlineHint.notify()
}

/** Deletes the key; the message stays. */
export const forget = (memory: Memory, send: StoredSend): void => {
  memory.sends.delete(send.name)
  memory.sendOf.delete(send.binding.messageId)
}

/** Replaces the idempotency key of a send. The old key no longer finds the send. */
export const rekey = (memory: Memory, { messageId, ...key }: MessageErasure.Erasure["rekeyed"][number]): void => {
  const kept = memory.sendOf.get(messageId)!
  memory.sends.delete(kept.name)
  kept.name = nameOf(key)
  memory.sends.set(kept.name, kept)
  awaitDeadline(memory, kept, sendOf(memory, messageId)!)
}

/** Deletes a message without its key. */
export const remove = (memory: Memory, message: Message.Message): void => {
  memory.messages.delete(message)
  const entry = memory.conversations.get(message.id)
  if (entry !== undefined) memory.conversations.delete(entry)
  memory.returnedMonths.delete(message.id)
}

const keep = (memory: Memory, send: KeyedMessage.KeyedMessage): void => {
  const { binding, message, quotaMonth, returnedMonth } = send
  memory.messages.set(message)
  if (returnedMonth === null) memory.returnedMonths.delete(message.id)
  else memory.returnedMonths.set(message.id, returnedMonth)
  const kept = memory.sendOf.get(message.id)
  if (kept === undefined) return
  if (binding === null) return forget(memory, kept)
  kept.binding = binding
  kept.quotaMonth = quotaMonth
  awaitDeadline(memory, kept, send)
}

/** Writes the result of a step. */
export const write = (
  memory: Memory,
  { dequeued, events, names, priced, quotas, removed, sends, tallies, timelines }: SendBatch.Writes
): void => {
  for (const { messageId, providerMessageId } of names) {
    if (!memory.messageByProviderId.has(providerMessageId)) memory.messageByProviderId.set(providerMessageId, messageId)
  }
  for (const { messages, month, workspaceId } of quotas) {
    const counter = quotaCounter(workspaceId, month)
    memory.quotaUsed.set(counter, (memory.quotaUsed.get(counter) ?? 0) + messages)
  }
  for (const { campaignId, changes } of tallies) {
    const kept = memory.campaigns.get(campaignId)
    if (kept === undefined) continue
    const { campaign } = kept.job
    const counted = Campaign.counted(CampaignTally.add(campaign.tallies, changes))
    kept.job = { ...kept.job, campaign: { ...campaign, ...counted } }
  }
  for (const { at, campaignId, ...change } of timelines) {
    const timeline = memory.campaigns.get(campaignId)?.timeline
    const known = timeline?.get(at)
    timeline?.set(at, {
      at,
      sent: (known?.sent ?? 0) + change.sent,
      delivered: (known?.delivered ?? 0) + change.delivered,
      read: (known?.read ?? 0) + change.read
    })
  }
  for (const { messages, ...count } of priced) {
    const name = JSON.stringify(count)
    memory.priced.set(name, { ...count, messages: (memory.priced.get(name)?.messages ?? 0) + messages })
  }
  for (const send of sends) keep(memory, send)
  for (const id of dequeued) dequeue(memory, id)
  for (const id of removed) {
    forget(memory, memory.sendOf.get(id)!)
    remove(memory, memory.messages.get(id)!)
  }
  record(memory, events.map(({ event }) => event), events.map(({ deliveryId }) => deliveryId))
}

/** The key of a workspace's monthly counter. */
export const quotaCounter = (workspaceId: Message.Message["workspaceId"], month: string): string =>
  `${workspaceId} ${month}`

/** Whether a sweep would find anything. */
export const isDue = (memory: Memory, now: Time.Instant): boolean => {
  const next = memory.deadlines.peek()
  return next !== undefined && next.at <= now
}

/**
 * Removes up to `most` passed deadlines and returns their sends. A send that has moved on since has a later deadline in
 * the heap.
 */
export const due = (memory: Memory, most: number, now: Time.Instant): ReadonlyArray<KeyedMessage.KeyedMessage> => {
  const found = new Map<string, KeyedMessage.KeyedMessage>()
  while (found.size < most && isDue(memory, now)) {
    const { name } = memory.deadlines.pop()!
    const kept = memory.sends.get(name)
    if (kept !== undefined) found.set(name, sendOf(memory, kept.binding.messageId)!)
  }
  return [...found.values()]
}
