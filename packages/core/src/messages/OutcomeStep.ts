/**
 * The transitions of sends after *accept* (contract §3): outcomes, the provider's reports, cancelling, and silence.
 * Pure: it works on loaded data and returns what to write.
 */
import { Duration, Result } from "effect"
import * as CampaignTally from "../campaigns/CampaignTally.ts"
import * as CampaignTimeline from "../campaigns/CampaignTimeline.ts"
import { Forbidden, ServerError } from "../Errors.ts"
import type * as Event from "../events/Event.ts"
import type { MessageId, PhoneNumberId } from "../Id.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import { type OutboxEntry, route } from "../outbox/OutboxEntry.ts"
import { type Made, make, noNumber, type Writes as OutboxWrites } from "../outbox/OutboxStep.ts"
import type { Decide, Known } from "../Step.ts"
import * as StorageTime from "../StorageTime.ts"
import type { Instant } from "../Time.ts"
import * as KeyedMessage from "./KeyedMessage.ts"
import type { Message } from "./Message.ts"
import {
  type ApplyReport,
  type CancelRefusal,
  type CancelSend,
  type EventIds,
  type ReportResult,
  settledAt,
  type SettleSend,
  type SweepResult
} from "./MessageStore.ts"
import * as Policy from "./Policy.ts"
import { type Loaded, SendBatch, type Writes } from "./SendBatch.ts"

/** What a report needs to find its message. */
export interface LoadedReports extends Loaded {
  /** The message with this provider's identifier. */
  readonly named: (providerMessageId: string) => MessageId | undefined
  /** The phone number with this provider's identifier. The data may be slightly old. */
  readonly number: (providerNumberId: string) => PhoneNumberId | undefined
}

const owns = (
  send: KeyedMessage.KeyedMessage | undefined,
  { claimToken, message }: SettleSend
): send is KeyedMessage.KeyedMessage =>
  send?.binding?.claim?.token === claimToken && send.message.workspaceId === message.workspaceId

/** Decides `MessageStore.settle` for a batch. */
export const settle: Decide<SettleSend, Loaded, boolean, Writes> = (loaded, commands) => {
  const sends = new SendBatch(loaded)
  const answers = commands.map((asked): boolean => {
    const command = settledAt(asked, loaded.now(asked.now))
    const send = sends.of(command.message.id)
    if (!owns(send, command)) return false
    sends.keep(KeyedMessage.settle(send, command.end, command.ids, command.now), command.ids)
    return true
  })
  return { answers, writes: sends.writes() }
}

/** The common outcome of a send: accepted by the provider. */
export interface DirectSettlement {
  readonly message: Message
  readonly event: Event.Recorded
  /** When its key is deleted; `null` if never. */
  readonly expiresAt: Instant | null
  /** How the counts of its campaign change. A campaign's message leaves the queue. */
  readonly tallies: ReadonlyArray<CampaignTally.Tally>
  /** How the counts of its campaign by time change. */
  readonly timeline: ReadonlyArray<CampaignTimeline.Change>
}

/**
 * Decides the common outcome without loading the send. The result may be written if the stored message still {@link
 * isUntold} and the claim's owner has not changed. Returns `undefined` if the send has to be loaded and decided by
 * {@link settle}. Quota, identifiers of other messages and the key's stored answer do not change.
 */
export const settleDirectly = (
  { claimToken, end, ids, message }: SettleSend,
  now: Instant
): DirectSettlement | undefined => {
  if (end._tag !== "Accepted" || end.isHeld === true || !isUntold(message)) return undefined
  const claimed: KeyedMessage.KeyedMessage = {
    message,
    // neither the fingerprint nor the end of the lease matters here
    binding: {
      fingerprint: "",
      messageId: message.id,
      claim: { token: claimToken, leaseUntil: now },
      answer: null,
      lastFailure: null,
      expiresAt: null
    },
    quotaMonth: null,
    returnedMonth: null
  }
  const { events: [event], send } = KeyedMessage.settle(claimed, end, ids, now)
  return {
    message: send.message,
    event: { event: event!, deliveryId: ids.deliveries[0]! },
    expiresAt: send.binding!.expiresAt,
    tallies: message.campaignId === null ? [] : CampaignTally.change(message, send.message),
    timeline: CampaignTimeline.changes([{ before: message, after: send.message }])
  }
}

/** Whether a message is still `sending`, without an event or the provider's identifier. */
export const isUntold = ({ providerMessageId, sequence, status }: Message): boolean =>
  status === "sending" && providerMessageId === null && sequence === 0

const hasArrived = ({ status }: Message): boolean => status === "delivered" || status === "read"

/**
 * Decides `MessageStore.applyReport` for a batch. Finds the message by our reference, then by the provider's
 * identifier, among those of the reported number.
 */
export const applyReport: Decide<ApplyReport, LoadedReports, ReportResult | undefined, Writes> = (loaded, commands) => {
  const sends = new SendBatch(loaded)
  const find = (
    { providerNumberId, reference, report: { providerMessageId } }: ApplyReport
  ): KeyedMessage.KeyedMessage | undefined => {
    const number = providerNumberId === null ? undefined : loaded.number(providerNumberId)
    const ofNumber = (id: MessageId | null | undefined): KeyedMessage.KeyedMessage | undefined => {
      const send = id ? sends.of(id) : undefined
      return providerNumberId === null || send?.message.phoneNumberId === number ? send : undefined
    }
    return ofNumber(reference) ??
      ofNumber(providerMessageId === null ? null : loaded.named(providerMessageId) ?? sends.named(providerMessageId))
  }
  const answers = commands.map((asked): ReportResult | undefined => {
    const { ids, now, report } = StorageTime.judgedAt(asked, loaded.now(asked.now))
    const send = find(asked)
    if (send === undefined) return undefined
    const moved = KeyedMessage.report(send, report, ids, now)
    sends.keep(moved, ids)
    const { content: { to }, phoneNumberId, workspaceId } = send.message
    const { message } = moved.send
    const arrivedOf = hasArrived(message) && !hasArrived(send.message) ? message.sentAt ?? message.createdAt : null
    return { to, phoneNumberId, workspaceId, arrivedOf }
  })
  return { answers, writes: sends.writes() }
}

/** A message in the outbox that is not queued yet. */
export interface Enqueued extends Pick<OutboxEntry, "workspaceId" | "key" | "message"> {
  /** Until when it belongs to a process that is queueing it (`OutboxStore.lease`); `null` if to none. */
  readonly claimedUntil: Instant | null
  /** The number that it names, or the default number; `undefined` if there is none. */
  readonly sender: Pick<PhoneNumber, "id" | "phoneNumber"> | undefined
}

/** What a cancel loads. */
export interface LoadedCancels extends Loaded {
  /** The messages in the outbox, if the storage has one. */
  readonly enqueued?: ((id: MessageId) => Enqueued | undefined) | undefined
}

/** What a cancel writes: messages of the outbox first. */
export interface CancelWrites extends Writes, Pick<OutboxWrites, "made" | "moved"> {}

/**
 * Decides `MessageStore.cancel` for a batch; the answer is `undefined` if the workspace sent no such message. A message
 * leaves `queued` once a try claims it, so nobody calls the provider for a message that is cancelled here.
 */
export const cancel: Decide<
  CancelSend,
  LoadedCancels,
  Result.Result<Message, CancelRefusal> | undefined,
  CancelWrites
> = (
  loaded,
  commands
) => {
  const taken = new Map<MessageId, KeyedMessage.KeyedMessage>()
  const made: Array<Made> = []
  const moved: Array<CancelWrites["moved"][number]> = []
  const sends = new SendBatch({ send: (id) => taken.get(id) ?? loaded.send(id) })

  /** Takes a message out of the outbox, as one that is queued. */
  const take = (
    { boundTo, enqueued, messageId, now: asked, workspaceId }: CancelSend
  ): Result.Result<KeyedMessage.KeyedMessage, CancelRefusal> | undefined => {
    const entry = loaded.enqueued?.(messageId)
    if (entry?.workspaceId !== workspaceId) return undefined
    const sender = entry.sender ?? noNumber
    const refusal = Policy.bindingRefusal(boundTo, sender.id)
    if (refusal !== undefined) return Result.fail(refusal)
    const now = loaded.now(asked)
    // a process that is gone leaves its claim; one that is late finds the message's key answered
    if (entry.claimedUntil !== null && entry.claimedUntil > now) return Result.fail(beingQueued)
    const request = { workspaceId, route, key: entry.key, fingerprint: enqueued.fingerprint }
    const one = make({ messageId, content: enqueued.read(entry.message), now, request, sender })
    taken.set(messageId, one.send)
    made.push(one.made)
    moved.push({ messageId, movedAt: now })
    return Result.succeed(one.send)
  }

  const answers = commands.map((command) => {
    const { boundTo, messageId, now: asked, workspaceId } = command
    const found = sends.of(messageId)
    const one = found === undefined ? take(command) : Result.succeed(found)
    if (one === undefined) return undefined
    if (Result.isFailure(one)) return Result.fail(one.failure)
    const send = one.success
    if (send.message.workspaceId !== workspaceId) return undefined
    const refusal = Policy.bindingRefusal(boundTo, send.message.phoneNumberId) ?? cancelRefusal(send.message)
    if (refusal !== undefined) return Result.fail(refusal)
    if (send.message.status === "cancelled") return Result.succeed(send.message)
    const cancelled = KeyedMessage.cancel(send, loaded.now(asked))
    sends.keep(cancelled, { events: [], deliveries: [] })
    return Result.succeed(cancelled.send.message)
  })
  return { answers, writes: { ...sends.writes(), made, moved } }
}

/** It takes a moment; afterwards, the message is queued or waits for another try. */
const beingQueued = new ServerError({
  reason: "in_progress",
  message: "the message is being queued at the moment; repeat the request",
  retryAfter: Duration.seconds(1)
})

/** Why a message cannot be cancelled; `undefined` if it can be or already is. */
const cancelRefusal = ({ campaignId, status }: Message): Forbidden | undefined => {
  if (campaignId !== null) {
    return new Forbidden({ reason: "not_queued", message: "a message of a campaign is cancelled by its campaign" })
  }
  if (status === "queued" || status === "cancelled") return undefined
  return status === "failed" || status === "skipped"
    ? new Forbidden({ reason: "not_queued", message: "the message is not queued any more: it failed" })
    : new Forbidden({ reason: "already_sent", message: "the message was sent, or is being sent" })
}

/** The command to act on silence. */
export interface Sweep {
  readonly now: Instant
  /** The maximum number of sends that end with an event equals the number of identifiers. */
  readonly ids: EventIds
}

/** What a sweep loads: sends whose deadline may have passed, locked. */
export interface LoadedSweep extends Known {
  readonly candidates: ReadonlyArray<KeyedMessage.KeyedMessage>
}

/** Decides `MessageStore.sweep` for some candidates: one transition of each send that is due. */
export const sweep: Decide<Sweep, LoadedSweep, SweepResult, Writes> = ({ candidates, now: judged }, commands) => {
  const loaded = new Map(candidates.map((send) => [send.message.id, send]))
  const sends = new SendBatch({ send: (id) => loaded.get(id) })
  const answers = commands.map(({ ids, now: asked }): SweepResult => {
    const now = judged(asked)
    const swept = { unknown: 0, failed: 0, forgotten: 0 }
    let used = 0
    for (const id of loaded.keys()) {
      const send = sends.of(id)!
      const dueAt = KeyedMessage.deadlineOf(send)
      if (dueAt === null || dueAt > now) continue
      const isTold = KeyedMessage.concludesWithEvent(send)
      if (isTold && used === ids.events.length) continue
      const own = { events: ids.events.slice(used, used + 1), deliveries: ids.deliveries.slice(used, used + 1) }
      if (isTold) used++
      const { conclusions, moved } = KeyedMessage.conclude(send, own, now)
      for (const conclusion of conclusions) swept[conclusion]++
      sends.keep(moved, own)
    }
    return swept
  })
  return { answers, writes: sends.writes() }
}
