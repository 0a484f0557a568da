/**
 * Port: messages, with the idempotency keys of their sends. A method that writes is one transition of the domain: every
 * implementation makes it atomic and writes the webhook events in the same transaction. `AcceptStep`, `OutcomeStep` and
 * `AbandonStep` decide the transitions of sends.
 */
import { Context, Duration, type Effect, type Option, type Result } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import type { NumberPart } from "../contacts/NumberPart.ts"
import type { Forbidden, InvalidBody, RateLimited, ServerError, Unauthorized } from "../Errors.ts"
import type { ApiKeyId, CampaignId, DeliveryId, EventId, MessageId, WorkspaceId } from "../Id.ts"
import type { IdempotencyKey } from "../Idempotency.ts"
import type { ReceivedMessage } from "../inbound/ReceivedMessage.ts"
import type { KeyBinding } from "../keys/KeyBinding.ts"
import type { Limits } from "../limits/Limits.ts"
import type { Reading } from "../limits/RateLimit.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { Capabilities } from "../provider/Capabilities.ts"
import type * as SendTimes from "../queue/SendTimes.ts"
import type { Forgotten } from "../Retention.ts"
import * as StorageTime from "../StorageTime.ts"
import type { StoreError } from "../StoreError.ts"
import type { Template } from "../templates/Template.ts"
import type { Instant } from "../Time.ts"
import type * as Conversation from "./Conversation.ts"
import { type Message, type MessageStatus, type OutboundMessage, type Report, unsent } from "./Message.ts"
import type { NamedMessage } from "./MessageReferences.ts"
import type { Answer, Queued, Verdict } from "./SendBinding.ts"

/** The idempotency key of a request, scoped to the workspace and the route, and not to the API key. */
export interface KeyedRequest {
  readonly workspaceId: WorkspaceId
  /** Method and route: `POST /v1/messages`, or `POST /internal/messages` from the dashboard; a campaign, or the outbox. */
  readonly route: string
  readonly key: IdempotencyKey
  readonly fingerprint: string
}

/** New identifiers for the events and deliveries that a transition may write. Unused ones are discarded. */
export interface EventIds {
  readonly events: ReadonlyArray<EventId>
  readonly deliveries: ReadonlyArray<DeliveryId>
  /** `Event.trace` of these events. */
  readonly trace?: string | null
}

/** Messages that wait for their turn to be sent: of a campaign (contract §11), or of callers (contract §15). */
export interface Queue {
  /** `null` for messages that callers queued. */
  readonly campaignId: CampaignId | null
}

/** A request to queue a message instead of sending it (contract §15). */
export interface Later extends SendTimes.RequestedTimes {
  /**
   * Whether the message spends none of the workspace's tokens, because it is not a request of its own: an item of a
   * batch, whose tokens were spent for all items together, or a message of the outbox.
   */
  readonly isInBatch: boolean
  /**
   * When the message came about, if it has waited elsewhere since: the time of its id, by which lists look for it. By
   * default it comes about when it is queued.
   */
  readonly createdAt?: Instant
  /** Why the request is refused, unless its key has an answer, which an equal request of another form may have got. */
  readonly refusal?: InvalidBody
}

/** The command to accept a send. It is judged at the storage's time (`StorageTime`); the lease keeps its length. */
export interface AcceptSend {
  readonly now: Instant
  readonly request: KeyedRequest
  /** `null` if an authenticated person sends the message, or a campaign. Then no API key is checked. */
  readonly apiKeyId: ApiKeyId | null
  /**
   * The queue whose message this is; `null` for a request. A queued message spends none of the workspace's tokens, and
   * is claimed only if it exists: without it, the verdict is `Unknown`.
   */
  readonly queue: Queue | null
  /** How the message is to be queued; `null` to send it. */
  readonly later: Later | null
  readonly message: OutboundMessage
  /** The keyed hash of the recipient's name (`Suppression.secretOf`), by which suppressions are found. */
  readonly hash: string
  /**
   * Why what the message refers to cannot be sent, as far as it is known. A message to be queued is refused for it;
   * repeated requests, and a message that is to be sent now, are not.
   */
  readonly referenceRefusal?: InvalidBody | undefined
  /** The message's id, if this is the first try under the key. */
  readonly messageId: MessageId
  /** The owner token of the claim, if the claim is granted. */
  readonly claimToken: string
  readonly leaseUntil: Instant
  readonly limits: Limits
  /** The name of the running provider (`Provider.name`). Numbers of other providers cannot send. */
  readonly provider: string
  /** What the running provider's channel has. */
  readonly capabilities: Capabilities
}

/**
 * The message that *accept* claims: a new one at the first try, afterwards the message of the previous try with the
 * content and the sender of this try: another number may have become the default one, and reports come to the sender. The two contents can differ only in the form of the customer's name, if an earlier version of
 * the service stored the message. Pure.
 */
export const claimedMessage = (
  { apiKeyId, message, messageId, now, queue, request }: AcceptSend,
  sender: PhoneNumber,
  before: Message | undefined
): Message =>
  before === undefined
    ? unsent({
      id: messageId,
      workspaceId: request.workspaceId,
      apiKeyId,
      campaignId: null,
      variant: null,
      phoneNumberId: sender.id,
      from: sender.phoneNumber,
      content: message,
      status: "sending",
      createdAt: now
    })
    : {
      ...before,
      phoneNumberId: sender.id,
      from: sender.phoneNumber,
      apiKeyId: queue === null ? apiKeyId : before.apiKeyId,
      content: message,
      status: "sending",
      statusAt: now
    }

/** A claimed send. The caller owns it until `leaseUntil`. */
export interface ClaimedSend {
  readonly _tag: "Claimed"
  readonly message: Message
  readonly sender: PhoneNumber
  readonly template: Template | undefined
  readonly contact: Contact | undefined
}

/** A message that was queued. */
export interface QueuedSend {
  readonly _tag: "Queued"
  readonly answer: Queued
}

/** Why a campaign leaves a customer out. Nothing was written. No other send gets this result. */
export type Exclusion =
  /** The contact has received as many marketing templates from campaigns as a customer may. */
  | { readonly _tag: "Capped" }
  /** The campaign has already written to the contact under another name. */
  | { readonly _tag: "Duplicate" }

/** The result of *accept*. `readings` contains every rate limiter that was checked. */
export type Accepted =
  & { readonly readings: ReadonlyArray<Reading> }
  & (
    | ClaimedSend
    | QueuedSend
    | Exclusion
    | Exclude<Verdict, { readonly _tag: "Unbound" | "Released" }>
    /** Refused by our own checks. Nothing was written. */
    | {
      readonly _tag: "Refused"
      readonly error: Unauthorized | Forbidden | InvalidBody | RateLimited | ServerError
      /**
       * Only for a queue's send, or one that is to be queued, that a block of its number refused: when the block ends, by
       * the storage's clock.
       */
      readonly blockedUntil?: Instant
    }
  )

/** The command to undo an *accept*. */
export type AbandonSend = Pick<AcceptSend, "now" | "request" | "message" | "claimToken" | "limits">

/** Why a message is not cancelled: it cannot be, or not now. */
export type CancelRefusal = Forbidden | ServerError

/** The command to cancel a queued message. */
export interface CancelSend {
  readonly now: Instant
  readonly workspaceId: WorkspaceId
  readonly messageId: MessageId
  /**
   * The numbers to which the caller's API key is bound: it may cancel only their messages. `null` if it is not bound.
   */
  readonly boundTo: KeyBinding["phoneNumberIds"]
  /** For a message that is still in the outbox (`OutboxCancel.make`). */
  readonly enqueued: {
    /** The fingerprint of the message's key. */
    readonly fingerprint: string
    /** The name of the running provider, whose default number a message without a sender gets. */
    readonly provider: string
    readonly read: (message: unknown) => OutboundMessage
  }
}

/** The outcome of a claimed send. */
export type SendEnd =
  /** The provider accepted the message and returned its identifier. */
  | { readonly _tag: "Accepted"; readonly providerMessageId: string; readonly isHeld?: boolean }
  /** The provider refused the message for good. `answer` is stored and replayed. */
  | { readonly _tag: "Refused"; readonly report: Report; readonly answer: Answer }
  /** Nothing was sent. The message stays `sending` without a claim. Requests that joined receive `answer`. */
  | { readonly _tag: "NotSent"; readonly answer: Answer }
  /** The outcome is not known. The message becomes `unknown`. */
  | { readonly _tag: "Unknown" }

/** The command of a claim's owner to record the outcome of the send. */
export interface SettleSend {
  readonly now: Instant
  /** The message as *accept* claimed it. */
  readonly message: Message
  readonly claimToken: string
  readonly end: SendEnd
  /** One of each is enough, because a send writes at most one event. */
  readonly ids: EventIds
}

/** The command at the storage's time. A refusal reported at `now` moves to the storage's time as well. Pure. */
export const settledAt = (command: SettleSend, now: Instant): SettleSend => {
  const { end } = command
  return {
    ...command,
    now,
    end: end._tag === "Refused"
      ? { ...end, report: StorageTime.judgedAt({ ...end.report, now: command.now }, now, "at") }
      : end
  }
}

/**
 * A report of the provider, with the keys to find its message: first our opaque reference, then the provider's
 * identifier, each among the messages of the reported number.
 */
export interface ApplyReport {
  readonly now: Instant
  /** `null` matches any number. */
  readonly providerNumberId: string | null
  readonly reference: MessageId | null
  readonly report: Report
  readonly ids: EventIds
}

/** The idempotency key of a request to mark a customer's message as read. */
export interface ReadMarkKey {
  readonly workspaceId: WorkspaceId
  readonly messageId: MessageId
  readonly key: IdempotencyKey
}

/** The result of a sweep. */
export interface SweepResult {
  /** Sends that became `unknown` because their lease ended. */
  readonly unknown: number
  /** Messages that became `failed` after silence. */
  readonly failed: number
  /** Idempotency keys that were deleted. */
  readonly forgotten: number
}

/** Adds the results of two sweeps. */
export const sum = (a: SweepResult, b: SweepResult): SweepResult => ({
  unknown: a.unknown + b.unknown,
  failed: a.failed + b.failed,
  forgotten: a.forgotten + b.forgotten
})

/** The recipient of the message that a report is about. `to` is empty once the customer was erased. */
export interface ReportResult extends Pick<Message, "phoneNumberId" | "workspaceId"> {
  readonly to: string
  /** When the message was sent, if this report is the first to show that it arrived; else `null`. */
  readonly arrivedOf: Instant | null
}

/** Filters a list of messages. All given fields must match; `status` matches exactly. */
export interface MessageFilter {
  readonly status?: MessageStatus
  /** The recipient, in any of these written forms (`CustomerNames.textsOf`). */
  readonly to?: ReadonlyArray<string>
  /** Matches exactly. */
  readonly clientReference?: string
  /** The provider's identifier, as reports use it. At most one message has it. */
  readonly providerMessageId?: string
  /** Created at or after this time. */
  readonly since?: Instant
  /** Created before this time. */
  readonly until?: Instant
}

/** Whether a message matches the filter, ignoring `providerMessageId`. Pure. */
export const isOf = (
  { clientReference, since, status, to, until }: MessageFilter,
  message: Message
): boolean =>
  (status === undefined || message.status === status) &&
  (to === undefined || to.includes(message.content.to)) &&
  (clientReference === undefined || message.content.clientReference === clientReference) &&
  (since === undefined || message.createdAt >= since) &&
  (until === undefined || message.createdAt < until)

/**
 * How far the time in a message's id may differ from the time of its creation, since the two may come from different
 * clocks.
 */
export const idAhead = Duration.hours(1)

export class MessageStore extends Context.Service<MessageStore, {
  /**
   * Accepts a send (contract §3) in one atomic step, with checks in this order: the API key, if there is one, is valid
   * and the workspace is not suspended; the workspace's rate limit; then `SendBinding.judge`. For a send that may be
   * claimed (unbound or released) follow `Policy.refusal` and the rate limits of the number and the pair. Only then
   * does it write anything: the tokens, the quota (once per message), the messaging limit, the message as `sending`,
   * and the key's binding with the claim.
   *
   * Replays, joins and conflicts spend only the workspace's token. A refusal spends nothing. Of concurrent requests
   * with the same key, exactly one gets the claim.
   *
   * A request to send later (`later`) is queued instead of claimed (contract §15): what may change until then
   * (`Policy.refusal` beyond `Policy.knownRefusal`, the number's and the pair's limits) is judged when it is sent. If an
   * earlier request with its key was not sent, it is claimed and sent like that one.
   *
   * After a {@link StoreError} the claim may exist under `claimToken`, or may still be written. Call `abandon` to undo
   * it; without that, the message becomes `unknown` when the lease ends.
   */
  readonly accept: (command: AcceptSend) => Effect.Effect<Accepted, StoreError>
  /**
   * Settles a claimed send: status, provider's identifier, stored answer, event and its delivery, all or nothing, and
   * only under the claim's owner token. Returns false and changes nothing if the claim was lost. `Refused` gives the
   * quota back, unless an earlier report is better. The best report stays in force. Safe to repeat.
   */
  readonly settle: (command: SettleSend) => Effect.Effect<boolean, StoreError>
  /**
   * Undoes an *accept* before the provider was called: tokens and the count against the messaging limit are given back.
   * A message that it made is deleted, with its key and quota; one that was there before loses its claim. Changes nothing if the claim does not exist, was lost or is already
   * settled. It also works for an *accept* whose answer was lost. Safe to repeat.
   */
  readonly abandon: (
    command: AbandonSend
  ) => Effect.Effect<void, StoreError>
  /**
   * Cancels a message that is `queued` and was never claimed (contract §15): it becomes `cancelled` and leaves the queue,
   * and the provider is never called for it. Returns the message, again if repeated; a refusal if the message cannot be
   * cancelled; none if the workspace has no such message. Of a concurrent claim and cancel, one wins. A message that a
   * host enqueued and that is not queued yet is cancelled in the outbox, unless a process is just queueing it
   * (`in_progress`).
   */
  readonly cancel: (
    command: CancelSend
  ) => Effect.Effect<Option.Option<Result.Result<Message, CancelRefusal>>, StoreError>
  /** Judges a key without spending anything. Requests that join a running send learn its outcome this way. */
  readonly lookUp: (request: KeyedRequest, now: Instant) => Effect.Effect<Verdict, StoreError>
  /**
   * Applies a report with `Message.apply` and writes its events. A report that corrects a failure spends again the
   * quota that the failure gave back. A message that the report settles can be answered from then on. Returns undefined
   * if the number has no message with this reference or identifier. Reports may come in any order and number, also
   * before *settle*. Safe to repeat.
   */
  readonly applyReport: (command: ApplyReport) => Effect.Effect<ReportResult | undefined, StoreError>
  /**
   * A message of the workspace that other messages can refer to: one that it sent, one from a customer for as long as
   * it is kept, or one from the business's own phone that is still remembered.
   */
  readonly named: (workspaceId: WorkspaceId, id: MessageId) => Effect.Effect<Option.Option<NamedMessage>, StoreError>
  /**
   * Our id of the message with this provider's identifier, sent from the number or received by it; none if it is
   * unknown. A received message is known until `InboundMessage.rememberedUntil`, even if it is kept for longer, because
   * no index finds the messages of conversations by this identifier.
   */
  readonly idOf: (
    providerNumberId: string,
    providerMessageId: string
  ) => Effect.Effect<Option.Option<MessageId>, StoreError>
  /** The fingerprint that a key for marking a message as read is bound to; none if the key is unused or expired. */
  readonly recallReadMark: (key: ReadMarkKey, now: Instant) => Effect.Effect<Option.Option<string>, StoreError>
  /**
   * Binds a key to a fingerprint until `expiresAt`. Returns the fingerprint that the key is bound to afterwards, which
   * differs from the given one if another request came first. Safe to repeat.
   */
  readonly keepReadMark: (
    command: ReadMarkKey & { readonly fingerprint: string; readonly now: Instant; readonly expiresAt: Instant }
  ) => Effect.Effect<string, StoreError>
  /** A message of the workspace. */
  readonly get: (workspaceId: WorkspaceId, id: MessageId) => Effect.Effect<Option.Option<Message>, StoreError>
  /**
   * Lists messages of the workspace, newest first, without those of campaigns that nobody has started
   * (`Campaign.isUnstarted`). Times, `clientReference` and failures have an index; with another filter, or beside such a
   * campaign, a page reads at most `Page.maxScanned` messages.
   */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: MessageFilter,
    page: PageRequest
  ) => Effect.Effect<Page<Message>, StoreError>
  /** A customer's message to the workspace. */
  readonly received: (
    workspaceId: WorkspaceId,
    id: MessageId
  ) => Effect.Effect<Option.Option<ReceivedMessage>, StoreError>
  /**
   * Lists a conversation, newest first: the messages that were claimed for sending to a customer, and those that the
   * customer wrote, under all of the names in the filter; or whatever any customer wrote.
   */
  readonly conversation: (
    workspaceId: WorkspaceId,
    filter: Conversation.Filter,
    page: PageRequest
  ) => Effect.Effect<Page<Conversation.Entry>, StoreError>
  /**
   * The numbers of customers in conversations of the workspace that have a part (`NumberPart.isIn`), in their order, at
   * most `limit`.
   */
  readonly numbersWith: (
    workspaceId: WorkspaceId,
    part: NumberPart,
    limit: number
  ) => Effect.Effect<ReadonlyArray<string>, StoreError>
  /**
   * Acts on silence (contract §3): claims whose lease ended become `unknown`; messages that were `unknown` for
   * `Message.unknownTimeout` become `failed` (`delivery_unknown`); messages that were `sending` without a claim for
   * `Message.retryTimeout` become `failed` (`not_sent`, quota given back, key deleted), except messages of the queue,
   * which are tried again until their own end. Each failure writes its event. Deletes expired keys, and customers'
   * messages that no longer have to be remembered. Any number of processes may sweep concurrently.
   */
  readonly sweep: (now: Instant) => Effect.Effect<SweepResult, StoreError>
  /**
   * Deletes a bounded number of messages that have ended (`Message.isOver`), whose ids were created before a time, which
   * were sent, or to be sent, before it too (`Message.lastDue`), and whose keys are deleted or belong to a campaign that
   * has ended; likewise the messages of customers, and the uploaded
   * rows of campaigns that have ended.
   */
  readonly forget: (before: Instant) => Effect.Effect<Forgotten, StoreError>
  /**
   * Deletes the contents (`Message.withoutBody`) of a bounded number of messages that have ended, whose ids were created
   * before a time, and which were sent, or to be sent, before it too (`Message.lastDue`). A message that has not ended is
   * looked at again once `before` is a day later.
   */
  readonly forgetBodies: (before: Instant) => Effect.Effect<Forgotten, StoreError>
}>()("@wac/core/messages/MessageStore") {}
