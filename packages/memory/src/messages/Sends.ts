/**
 * Sends and their idempotency keys: what accepting, settling, reporting and sweeping have in common.
 */
import { Idempotency, Message, type MessageStore, type Time } from "@wac/core"
import { Duration } from "effect"
import type { Memory, Send } from "../State.ts"

/** An idempotency key with its scope. */
export const nameOf = ({ key, route, workspaceId }: MessageStore.KeyedRequest): string =>
  `${workspaceId}\n${route}\n${key}`

/** The message of a send. */
export const messageOf = (memory: Memory, send: Send): Message.Message => memory.messages.get(send.binding.messageId)!

/** What the key means to a request. */
export const judge = (memory: Memory, request: MessageStore.KeyedRequest, now: Time.Instant): Idempotency.Verdict => {
  const send = memory.sends.get(nameOf(request))
  return Idempotency.judge(send?.binding, send && messageOf(memory, send), request.fingerprint, now)
}

/** The send that the claim's owner speaks of, unless the claim was lost. */
export const owned = (
  memory: Memory,
  claim: Pick<MessageStore.SettleSend, "workspaceId" | "messageId" | "claimToken">
): Send | undefined => {
  const send = memory.sendOf.get(claim.messageId)
  return send !== undefined && send.binding.claim?.token === claim.claimToken &&
      messageOf(memory, send).workspaceId === claim.workspaceId
    ? send
    : undefined
}

/** Changes what is kept of the key, and sees to it that the sweep comes back in time. */
export const bind = (memory: Memory, send: Send, change: Partial<Idempotency.Binding>): void => {
  send.binding = { ...send.binding, ...change }
  const at = deadlineOf(send.binding, messageOf(memory, send))
  if (at === null) return
  memory.deadlines.push({ at, name: send.name })
  if (memory.deadlines.peek()!.at >= at) memory.deadlineHint.notify()
}

/** When a key that was answered at `now` is forgotten. */
export const expiryFrom = (now: Time.Instant): Time.Instant => now + Duration.toMillis(Idempotency.retention)

/** Ends a claim without an answer of its own; upstream's reports may have given one. */
export const unclaim = (memory: Memory, send: Send, now: Time.Instant, change?: Partial<Idempotency.Binding>): void =>
  bind(memory, send, {
    ...change,
    claim: null,
    expiresAt: isSettled(messageOf(memory, send)) ? expiryFrom(now) : null
  })

/** Forgets the key; the message stays. */
export const forget = (memory: Memory, send: Send): void => {
  memory.sends.delete(send.name)
  memory.sendOf.delete(send.binding.messageId)
}

/** Gives the message's quota back. */
export const giveQuotaBack = (memory: Memory, send: Send): void => {
  if (send.quotaMonth === null) return
  const counter = quotaCounter(messageOf(memory, send).workspaceId, send.quotaMonth)
  memory.quotaUsed.set(counter, (memory.quotaUsed.get(counter) ?? 0) - 1)
  send.quotaMonth = null
}

/** The counter of a workspace's month. */
export const quotaCounter = (workspaceId: Message.Message["workspaceId"], month: string): string =>
  `${workspaceId} ${month}`

/** Whether somebody who knows has told how the send ended. */
export const isSettled = (message: Message.Message): boolean =>
  message.status !== "sending" && message.status !== "unknown" && !Message.isDeliveryUnknown(message)

/** When silence, or the key's age, means something next; `null`: never. */
export const deadlineOf = (binding: Idempotency.Binding, message: Message.Message): Time.Instant | null =>
  binding.expiresAt ?? binding.claim?.leaseUntil ??
    (message.status === "unknown"
      ? message.statusAt + Duration.toMillis(Message.unknownTimeout)
      : message.status === "sending"
      ? message.statusAt + Duration.toMillis(Message.retryTimeout)
      : null)
