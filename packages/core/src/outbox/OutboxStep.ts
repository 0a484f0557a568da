/**
 * Decides what happens to each entry of the outbox after a process tried to queue it (contract §16). Pure.
 */
import { Duration } from "effect"
import type * as Id from "../Id.ts"
import * as KeyedMessage from "../messages/KeyedMessage.ts"
import { type Message, unsent } from "../messages/Message.ts"
import type { EventIds, KeyedRequest } from "../messages/MessageStore.ts"
import { SendBatch, type Writes as SendWrites } from "../messages/SendBatch.ts"
import type * as SendBinding from "../messages/SendBinding.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as OutboxEntry from "./OutboxEntry.ts"

/** Records what came of an entry that `OutboxStore.claim` handed out. */
export interface EndEntry {
  readonly now: Instant
  readonly entry: Pick<OutboxEntry.OutboxEntry, "messageId" | "workspaceId">
  /** The claim's owner token. */
  readonly token: string
  readonly request: KeyedRequest
  readonly end: OutboxEntry.OutboxEnd
  /** The name of the running provider. A failed message that names no sender gets this provider's default number. */
  readonly provider: string
  /** One event id and one delivery id are enough. */
  readonly ids: EventIds
}

/** The stored state for an entry. */
export interface Found {
  /** Whether the caller still owns the entry: it was not moved, and nobody took it over after the lease. */
  readonly isOwn: boolean
  /** Whether its workspace exists. */
  readonly isKnown: boolean
  /** Whether its message exists already, because an earlier try queued it. */
  readonly isMade: boolean
  /** The number that a failed message names, or the default number; `undefined` if there is none. */
  readonly sender: Pick<PhoneNumber, "id" | "phoneNumber"> | undefined
}

/** What the step loads. */
export interface Loaded extends Known {
  readonly found: (command: EndEntry) => Found
}

/** A message that is written as queued, before the writes of `sends` fail it. It is in no queue. */
export interface Made {
  readonly request: KeyedRequest
  readonly message: Message
  readonly answer: SendBinding.Queued
}

/** What the ends of entries write. */
export interface Writes {
  readonly moved: ReadonlyArray<{ readonly messageId: Id.MessageId; readonly movedAt: Instant }>
  readonly delayed: ReadonlyArray<{ readonly messageId: Id.MessageId; readonly dueAt: Instant }>
  readonly made: ReadonlyArray<Made>
  readonly sends: SendWrites
}

/** A placeholder for the number of a failed message whose workspace has no number, or not the one that it names. */
export const noNumber = {
  id: `pn_${"0".repeat(26)}` as Id.PhoneNumberId,
  phoneNumber: "" as PhoneNumber["phoneNumber"]
}

/** The queued message that an entry becomes at `now`, so that it can fail or be cancelled. */
export const make = (
  { content, messageId, now, request, sender }: {
    readonly messageId: Id.MessageId
    readonly content: Message["content"]
    readonly now: Instant
    readonly request: KeyedRequest
    readonly sender: NonNullable<Found["sender"]>
  }
): { readonly made: Made; readonly send: KeyedMessage.KeyedMessage } => {
  const { fingerprint, workspaceId } = request
  const message = unsent({
    id: messageId,
    workspaceId,
    apiKeyId: null,
    campaignId: null,
    variant: null,
    phoneNumberId: sender.id,
    from: sender.phoneNumber,
    content,
    status: "queued",
    createdAt: Math.min(OutboxEntry.createdAt({ messageId }), now),
    statusAt: now,
    sendAt: now
  })
  const answer = { _tag: "Queued", messageId, workspaceId, apiKeyId: null, sendAt: now } as const
  const binding = { fingerprint, messageId, claim: null, answer, lastFailure: null, expiresAt: null }
  return { made: { request, message, answer }, send: { message, binding, quotaMonth: null, returnedMonth: null } }
}

/** Decides `OutboxStore.end` for a batch. */
export const end: Decide<EndEntry, Loaded, boolean, Writes> = (loaded, commands) => {
  const before = new Map<Id.MessageId, KeyedMessage.KeyedMessage>()
  const sends = new SendBatch({ send: (id) => before.get(id) })
  const moved = new Map<Id.MessageId, Instant>()
  const delayed: Array<Writes["delayed"][number]> = []
  const made: Array<Made> = []
  const answers = commands.map((command) => {
    const { end, entry: { messageId }, ids, request } = command
    const now = loaded.now(command.now)
    const { isKnown, isMade, isOwn, sender = noNumber } = loaded.found(command)
    if (!isOwn || moved.has(messageId)) return false
    if (end._tag === "Again") {
      delayed.push({ messageId, dueAt: Math.min(now + Duration.toMillis(end.after), end.until ?? Infinity) })
      return true
    }
    moved.set(messageId, now)
    // without a workspace, nobody would see a failed message
    if (end._tag === "Moved" || isMade || !isKnown) return true
    const one = make({ messageId, content: end.content, now, request, sender })
    before.set(messageId, one.send)
    made.push(one.made)
    sends.keep(KeyedMessage.failQueued(one.send, end.error, ids, now), ids)
    return true
  })
  return {
    answers,
    writes: {
      moved: [...moved].map(([messageId, movedAt]) => ({ messageId, movedAt })),
      delayed,
      made,
      sends: sends.writes()
    }
  }
}
