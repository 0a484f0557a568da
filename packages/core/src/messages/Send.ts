/**
 * A send: a message with the idempotency key that it was sent under, and how ends, reports and silence move the two
 * together (contract §3 and §4).
 */
import { Duration } from "effect"
import * as Event from "../events/Event.ts"
import type { WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import * as Idempotency from "./Idempotency.ts"
import * as Message from "./Message.ts"
import type { EventIds, SendEnd } from "./MessageStore.ts"

/** A message and its key. */
export interface Send {
  readonly message: Message.Message
  /** `null` once the key is forgotten. */
  readonly binding: Idempotency.Binding | null
  /** The month whose quota it has spent; `null` when that was given back. */
  readonly quotaMonth: string | null
}

/** A send after a step. */
export interface Moved {
  readonly send: Send
  readonly events: ReadonlyArray<Event.Event>
  /** A name by which the provider knows the message from now on, unless another message bore it first. */
  readonly name: string | null
  /** The quota that it gives back. */
  readonly quota: { readonly workspaceId: WorkspaceId; readonly month: string } | null
}

/** Whether somebody who knows has told how the send of a message ended. */
export const isSettled = (message: Message.Message): boolean =>
  message.status !== "sending" && message.status !== "unknown" && !Message.isDeliveryUnknown(message)

/** When a key that was answered at `now` is forgotten. */
export const expiryFrom = (now: Instant): Instant => now + Duration.toMillis(Idempotency.retention)

/** When silence, or the key's age, means something next; `null`: never. */
export const deadlineOf = ({ binding, message }: Send): Instant | null => {
  if (binding === null) return null
  return binding.expiresAt ?? binding.claim?.leaseUntil ??
    (message.status === "unknown"
      ? message.statusAt + Duration.toMillis(Message.unknownTimeout)
      : message.status === "sending"
      ? message.statusAt + Duration.toMillis(Message.retryTimeout)
      : null)
}

/** Ends a claim without an answer of its own; the provider's reports may have given one. */
export const unclaim = (
  send: Send,
  now: Instant,
  change: Partial<Pick<Idempotency.Binding, "lastFailure">> = {}
): Send => ({
  ...send,
  binding: send.binding && {
    ...send.binding,
    ...change,
    claim: null,
    expiresAt: isSettled(send.message) ? expiryFrom(now) : null
  }
})

/** The key is free again; the message stays. */
const forget = (send: Send): Send => ({ ...send, binding: null })

/** A send that nothing is told of. */
export const unchanged = (send: Send): Moved => ({ send, events: [], name: null, quota: null })

/** Gives the message's quota back to the month that it was taken from. */
export const giveQuotaBack = ({ send, ...moved }: Moved): Moved => {
  const { message: { workspaceId }, quotaMonth: month } = send
  return month === null
    ? { ...moved, send }
    : { ...moved, send: { ...send, quotaMonth: null }, quota: { workspaceId, month } }
}

const move = (send: Send, { message, transitions }: Message.Moved, ids: EventIds, now: Instant): Moved => {
  const told = Event.ofTransitions(message, transitions, ids.events, now)
  return { ...unchanged({ ...send, message: told.message }), events: told.events }
}

const apply = (send: Send, report: Message.Report, ids: EventIds, now: Instant): Moved => {
  const { providerMessageId } = report
  return {
    ...move(send, Message.apply(send.message, report, now), ids, now),
    name: providerMessageId === send.message.providerMessageId ? null : providerMessageId
  }
}

const bind = (moved: Moved, change: Partial<Idempotency.Binding>): Moved => {
  const { send } = moved
  return { ...moved, send: { ...send, binding: send.binding && { ...send.binding, ...change } } }
}

/** A message that is still being sent takes a status, or keeps its own from now on. */
const leaveSending = (send: Send, status: "sending" | "unknown", now: Instant): Send =>
  send.message.status === "sending" ? { ...send, message: { ...send.message, status, statusAt: now } } : send

/** How a claimed send ends. Reports that came before stay in force. */
export const settle = (send: Send, end: SendEnd, ids: EventIds, now: Instant): Moved => {
  const { message } = send
  switch (end._tag) {
    case "Accepted": {
      const { providerMessageId } = end
      const moved = apply(send, { status: "sent", at: now, providerMessageId, error: null }, ids, now)
      // the message itself says the answer, but where a report was first with another name
      const isNamedElse = message.providerMessageId !== null && message.providerMessageId !== providerMessageId
      const answer = isNamedElse ? Idempotency.sent(message, providerMessageId) : null
      return bind(moved, { claim: null, answer, expiresAt: expiryFrom(now) })
    }
    case "Refused":
      return giveQuotaBack(
        bind(apply(send, end.report, ids, now), { claim: null, answer: end.answer, expiresAt: expiryFrom(now) })
      )
    case "NotSent":
      return unchanged(unclaim(leaveSending(send, "sending", now), now, { lastFailure: end.answer }))
    case "Unknown":
      return unchanged(unclaim(leaveSending(send, "unknown", now), now))
  }
}

/** What a report of the provider makes of a send: a message that it settles can be answered from here on. */
export const report = (before: Send, report: Message.Report, ids: EventIds, now: Instant): Moved => {
  const moved = apply(before, report, ids, now)
  const { binding, message } = moved.send
  if (binding === null || isSettled(before.message) || !isSettled(message)) return moved
  const { claim, expiresAt } = binding
  // with a live claim the answer is its owner's to give; a key that has expired does not come back
  return (claim === null || claim.leaseUntil <= now) && (expiresAt === null || expiresAt > now)
    ? { ...moved, send: unclaim(moved.send, now) }
    : moved
}

/** What is concluded from silence, or from a key's age. */
export type Conclusion = "unknown" | "failed" | "forgotten"

const fail = (send: Send, error: Message.MessageError, ids: EventIds, now: Instant): Moved => {
  const message: Message.Message = { ...send.message, status: "failed", statusAt: now, failedAt: now, error }
  return move(send, { message, transitions: [{ to: "failed", at: now }] }, ids, now)
}

/** Whether the conclusion that is due next is an event. */
export const concludesWithEvent = ({ binding }: Send): boolean =>
  binding !== null && binding.expiresAt === null && binding.claim === null

/** The one step that is due when the send's deadline has passed (contract §3); the next has a deadline of its own. */
export const conclude = (
  send: Send,
  ids: EventIds,
  now: Instant
): { readonly moved: Moved; readonly conclusions: ReadonlyArray<Conclusion> } => {
  const { binding, message } = send
  if (binding === null) return { moved: unchanged(send), conclusions: [] }
  if (binding.expiresAt !== null) return { moved: unchanged(forget(send)), conclusions: ["forgotten"] }
  if (binding.claim !== null) {
    const becomes = !isSettled(message)
    const left = becomes
      ? { ...send, message: { ...message, status: "unknown", statusAt: binding.claim.leaseUntil } as const }
      : send
    return { moved: unchanged(unclaim(left, now)), conclusions: becomes ? ["unknown"] : [] }
  }
  if (message.status === "unknown") {
    const failed = fail(send, Message.deliveryUnknown, ids, now)
    return { moved: bind(failed, { expiresAt: expiryFrom(now) }), conclusions: ["failed"] }
  }
  const failed = giveQuotaBack(fail(send, Message.notSent, ids, now))
  return { moved: { ...failed, send: forget(failed.send) }, conclusions: ["failed", "forgotten"] }
}
