/**
 * A send: a message with its idempotency key, and the transitions that change the two together: outcomes, reports,
 * silence, skipping and cancelling (contract §3 and §4). Pure.
 */
import { Duration } from "effect"
import * as Event from "../events/Event.ts"
import type { WorkspaceId } from "../Id.ts"
import * as Idempotency from "../Idempotency.ts"
import type { Instant } from "../Time.ts"
import * as Message from "./Message.ts"
import type { EventIds, SendEnd } from "./MessageStore.ts"
import * as SendBinding from "./SendBinding.ts"

/** A message and its key. */
export interface KeyedMessage {
  readonly message: Message.Message
  /** `null` once the key is deleted. */
  readonly binding: SendBinding.SendBinding | null
  /** The month whose quota the message has spent; `null` if the quota was given back. */
  readonly quotaMonth: string | null
  /** The month whose quota was given back, which a correction spends again; `null` if there is none. */
  readonly returnedMonth: string | null
}

/** How the number of messages that count against a month's quota changes. */
export interface QuotaChange {
  readonly workspaceId: WorkspaceId
  readonly month: string
  /** The messages to add; negative if they no longer count. */
  readonly messages: number
}

/** A send after a transition. */
export interface Update {
  readonly send: KeyedMessage
  readonly events: ReadonlyArray<Event.Event>
  /** The provider's identifier that the message takes, unless another message already has it. */
  readonly name: string | null
  readonly quota: QuotaChange | null
}

/**
 * Whether the message has an outcome: it is not `queued`, `sending` or `unknown`, and did not fail only because its
 * outcome never became known (`delivery_unknown`).
 */
const isSettled = (message: Message.Message): boolean =>
  message.status !== "queued" && message.status !== "sending" && message.status !== "unknown" &&
  !Message.isDeliveryUnknown(message)

/** When a key answered at `now` is deleted. */
export const expiryFrom = (now: Instant): Instant => now + Duration.toMillis(Idempotency.retention)

/** {@link expiryFrom}, or `null` for a campaign's message: its key is kept so that no customer gets it twice. */
const expiryOf = ({ campaignId }: Message.Message, now: Instant): Instant | null =>
  campaignId === null ? expiryFrom(now) : null

/**
 * How long a message may stay in a status without any report before it fails. The limit for `sending` does not hold for
 * messages of the queue, which are tried again until their own end.
 */
export const silences: ReadonlyArray<{
  readonly status: Message.MessageStatus
  readonly after: Duration.Duration
  /** Whether this holds for messages of the queue. */
  readonly ofQueue: boolean
}> = [
  { status: "unknown", after: Message.unknownTimeout, ofQueue: true },
  { status: "sending", after: Message.retryTimeout, ofQueue: false }
]

/** When the key's age, the end of the claim's lease, or silence next changes the send; `null` if never. */
export const deadlineOf = ({ binding, message }: Pick<KeyedMessage, "binding" | "message">): Instant | null => {
  if (binding === null) return null
  const silence = silences.find(({ ofQueue, status }) =>
    status === message.status && (ofQueue || !Message.isOfQueue(message))
  )
  return binding.expiresAt ?? binding.claim?.leaseUntil ??
    (silence === undefined ? null : message.statusAt + Duration.toMillis(silence.after))
}

/** Releases a claim without storing an answer. If a report has settled the message, the key gets its expiry. */
export const release = (
  send: KeyedMessage,
  now: Instant,
  change: Partial<Pick<SendBinding.SendBinding, "lastFailure">> = {}
): KeyedMessage => ({
  ...send,
  binding: send.binding && {
    ...send.binding,
    ...change,
    claim: null,
    expiresAt: isSettled(send.message) ? expiryOf(send.message, now) : null
  }
})

/** Deletes the key and keeps the message. */
const forget = (send: KeyedMessage): KeyedMessage => ({ ...send, binding: null })

/** A send that did not change, without events. */
export const unchanged = (send: KeyedMessage): Update => ({ send, events: [], name: null, quota: null })

/** Gives the message's quota back to the month that it was spent in. */
export const giveQuotaBack = ({ send, ...moved }: Update): Update => {
  const { message: { workspaceId }, quotaMonth: month } = send
  return month === null
    ? { ...moved, send }
    : {
      ...moved,
      send: { ...send, quotaMonth: null, returnedMonth: month },
      quota: { workspaceId, month, messages: -1 }
    }
}

/** Spends again what {@link giveQuotaBack} gave back. */
const spendQuotaAgain = ({ send, ...moved }: Update): Update => {
  const { message: { workspaceId }, returnedMonth: month } = send
  return month === null
    ? { ...moved, send }
    : {
      ...moved,
      send: { ...send, quotaMonth: month, returnedMonth: null },
      quota: { workspaceId, month, messages: 1 }
    }
}

const move = (send: KeyedMessage, { message, transitions }: Message.Update, ids: EventIds, now: Instant): Update => {
  const told = Event.ofTransitions(message, transitions, ids, now)
  return { ...unchanged({ ...send, message: told.message }), events: told.events }
}

const apply = (send: KeyedMessage, report: Message.Report, ids: EventIds, now: Instant): Update => {
  const { providerMessageId } = report
  const moved = {
    ...move(send, Message.apply(send.message, report, now), ids, now),
    name: providerMessageId === send.message.providerMessageId ? null : providerMessageId
  }
  return send.message.status === "failed" && moved.send.message.status !== "failed" ? spendQuotaAgain(moved) : moved
}

const bind = (moved: Update, change: Partial<SendBinding.SendBinding>): Update => {
  const { send } = moved
  return { ...moved, send: { ...send, binding: send.binding && { ...send.binding, ...change } } }
}

/** Stores the answer under the key and ends the claim. A queued message's key keeps the answer that it was queued. */
const answer = (moved: Update, answer: SendBinding.Answer | null, now: Instant): Update => {
  const { binding, message } = moved.send
  return bind(moved, {
    claim: null,
    answer: binding?.answer?._tag === "Queued" ? binding.answer : answer,
    expiresAt: expiryOf(message, now)
  })
}

/** Changes the status of a message that is still `sending`, or restarts the time of that status. */
const leaveSending = (send: KeyedMessage, status: "sending" | "unknown", now: Instant): KeyedMessage =>
  send.message.status === "sending" ? { ...send, message: { ...send.message, status, statusAt: now } } : send

/** Records the outcome of a claimed send. Earlier reports stay in force. */
export const settle = (send: KeyedMessage, end: SendEnd, ids: EventIds, now: Instant): Update => {
  const { message } = send
  switch (end._tag) {
    case "Accepted": {
      const { isHeld = false, providerMessageId } = end
      const moved = apply(send, { status: "sent", at: now, providerMessageId, error: null, isHeld }, ids, now)
      // the message itself holds the answer, unless an earlier report brought another identifier
      const isNamedElse = message.providerMessageId !== null && message.providerMessageId !== providerMessageId
      return answer(moved, isNamedElse ? SendBinding.sent(message, providerMessageId) : null, now)
    }
    case "Refused": {
      const moved = answer(apply(send, end.report, ids, now), end.answer, now)
      // an earlier report may be better
      return moved.send.message.status === "failed" ? giveQuotaBack(moved) : moved
    }
    case "NotSent":
      return unchanged(release(leaveSending(send, "sending", now), now, { lastFailure: end.answer }))
    case "Unknown":
      return unchanged(release(leaveSending(send, "unknown", now), now))
  }
}

/** Applies a report of the provider. A message that the report settles can be answered from then on. */
export const report = (before: KeyedMessage, report: Message.Report, ids: EventIds, now: Instant): Update => {
  const moved = apply(before, report, ids, now)
  const { binding, message } = moved.send
  if (binding === null || isSettled(before.message) || !isSettled(message)) return moved
  const { claim } = binding
  // during a live claim only its owner answers; an expired key stays expired
  return (claim === null || claim.leaseUntil <= now) && !Idempotency.isExpired(binding, now)
    ? { ...moved, send: release(moved.send, now) }
    : moved
}

/** Whether the queue may try a message: it has no outcome, and nobody is sending it. */
const waits = ({ binding, message: { status } }: KeyedMessage): boolean =>
  binding?.claim === null && (status === "queued" || status === "sending")

/** Ends a campaign's message that was not sent, without an event. Changes nothing unless it waits without a claim. */
export const skip = (send: KeyedMessage, reason: Message.MessageError, now: Instant): Update => {
  const { message } = send
  return waits(send)
    ? giveQuotaBack(
      unchanged({ ...send, message: { ...message, status: "skipped", statusAt: now, error: reason } })
    )
    : unchanged(send)
}

/** Fails a queued message that was not sent (contract §15). Changes nothing unless it waits without a claim. */
export const failQueued = (send: KeyedMessage, error: Message.MessageError, ids: EventIds, now: Instant): Update =>
  waits(send) ? giveQuotaBack(answer(fail(send, error, ids, now), null, now)) : unchanged(send)

/** Cancels a message that is `queued` and was never claimed, without an event (contract §15). */
export const cancel = (send: KeyedMessage, now: Instant): Update =>
  answer(unchanged({ ...send, message: { ...send.message, status: "cancelled", statusAt: now } }), null, now)

/** What the end of a lease (`unknown`), silence (`failed`) or the age of a key (`forgotten`) leads to. */
export type Conclusion = "unknown" | "failed" | "forgotten"

const fail = (send: KeyedMessage, error: Message.MessageError, ids: EventIds, now: Instant): Update => {
  const message: Message.Message = { ...send.message, status: "failed", statusAt: now, failedAt: now, error }
  return move(send, { message, transitions: [{ to: "failed", at: now }] }, ids, now)
}

/** Whether the next {@link conclude} writes an event. */
export const concludesWithEvent = ({ binding }: KeyedMessage): boolean =>
  binding !== null && binding.expiresAt === null && binding.claim === null

/**
 * Takes the one transition that is due at the send's deadline (contract §3). The next transition has its own deadline.
 */
export const conclude = (
  send: KeyedMessage,
  ids: EventIds,
  now: Instant
): { readonly moved: Update; readonly conclusions: ReadonlyArray<Conclusion> } => {
  const { binding, message } = send
  if (binding === null) return { moved: unchanged(send), conclusions: [] }
  if (binding.expiresAt !== null) return { moved: unchanged(forget(send)), conclusions: ["forgotten"] }
  if (binding.claim !== null) {
    const becomes = !isSettled(message)
    const left = becomes
      ? { ...send, message: { ...message, status: "unknown", statusAt: binding.claim.leaseUntil } as const }
      : send
    return { moved: unchanged(release(left, now)), conclusions: becomes ? ["unknown"] : [] }
  }
  if (message.status === "unknown") {
    const failed = fail(send, Message.deliveryUnknown, ids, now)
    return { moved: bind(failed, { expiresAt: expiryOf(message, now) }), conclusions: ["failed"] }
  }
  const failed = giveQuotaBack(fail(send, Message.notSent, ids, now))
  return { moved: { ...failed, send: forget(failed.send) }, conclusions: ["failed", "forgotten"] }
}
