/**
 * Port: the life of a message. Each method is one transition of the domain, atomic by contract; what a webhook must
 * be told of is written in the same step.
 */
import { Context, Duration, type Effect, type Option } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import type { Forbidden, InvalidBody, RateLimited, ServerError, Unauthorized } from "../Errors.ts"
import type { ApiKeyId, DeliveryId, EventId, MessageId, WorkspaceId } from "../Id.ts"
import type { Limits } from "../limits/Limits.ts"
import type { Reading } from "../limits/RateLimit.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import type { Page, PageRequest } from "../Page.ts"
import * as StorageTime from "../StorageTime.ts"
import type { StoreError } from "../StoreError.ts"
import type { Template } from "../templates/Template.ts"
import type { Instant } from "../Time.ts"
import type { Answer, IdempotencyKey, Verdict } from "./Idempotency.ts"
import type { Message, MessageStatus, OutboundMessage, Report } from "./Message.ts"
import type { Named } from "./Referred.ts"

/** A key as a request came with it: bound to workspace, route and value, not to the API key. */
export interface KeyedRequest {
  readonly workspaceId: WorkspaceId
  /** Method and route: `POST /v1/messages`, or `POST /internal/messages` from the dashboard. */
  readonly route: string
  readonly key: IdempotencyKey
  readonly fingerprint: string
}

/** Fresh identifiers for the events that a transition may write and their deliveries; unused ones are dropped. */
export interface EventIds {
  readonly events: ReadonlyArray<EventId>
  readonly deliveries: ReadonlyArray<DeliveryId>
}

/** Asks to accept a send. Judged at the storage's time (`StorageTime`), of which the lease keeps its length. */
export interface AcceptSend {
  readonly now: Instant
  readonly request: KeyedRequest
  /** `null`: a person sends it, who was authenticated before; there is no key to look at. */
  readonly apiKeyId: ApiKeyId | null
  readonly message: OutboundMessage
  /** The message's id, if this is the first try under the key. */
  readonly messageId: MessageId
  /** The owner token of the claim, if it is granted. */
  readonly claimToken: string
  readonly leaseUntil: Instant
  readonly limits: Limits
  /** The one that runs, by `Provider.name`: nothing is sent from numbers of others. */
  readonly provider: string
}

/** The message as *accept* claims it: a new one, or that of the try before. Pure. */
export const claimedMessage = (
  { apiKeyId, message, messageId, now, request }: AcceptSend,
  sender: PhoneNumber,
  before: Message | undefined
): Message =>
  before === undefined
    ? {
      id: messageId,
      workspaceId: request.workspaceId,
      apiKeyId,
      phoneNumberId: sender.id,
      from: sender.phoneNumber,
      content: message,
      status: "sending",
      statusAt: now,
      providerMessageId: null,
      createdAt: now,
      sentAt: null,
      deliveredAt: null,
      readAt: null,
      failedAt: null,
      error: null,
      pricing: null,
      playedAt: null,
      sequence: 0
    }
    : { ...before, apiKeyId, status: "sending", statusAt: now }

/** A send that its asker now owns, until `leaseUntil`. */
export interface ClaimedSend {
  readonly _tag: "Claimed"
  readonly message: Message
  readonly sender: PhoneNumber
  readonly template: Template | undefined
  readonly contact: Contact | undefined
}

/** What *accept* answers; `readings` are of every limiter that was consulted. */
export type Accepted =
  & { readonly readings: ReadonlyArray<Reading> }
  & (
    | ClaimedSend
    | Exclude<Verdict, { readonly _tag: "Unbound" | "Released" }>
    /** A refusal of our own: nothing is left behind. */
    | { readonly _tag: "Refused"; readonly error: Unauthorized | Forbidden | InvalidBody | RateLimited | ServerError }
  )

/** Asks to take an *accept* back. */
export type AbandonSend = Pick<AcceptSend, "now" | "request" | "message" | "claimToken" | "limits">

/** How a claimed send ended. */
export type SendEnd =
  /** The provider took it and named it. */
  | { readonly _tag: "Accepted"; readonly providerMessageId: string }
  /** The provider refused it for good. `answer` is stored and replayed. */
  | { readonly _tag: "Refused"; readonly report: Report; readonly answer: Answer }
  /** Certainly not sent: the message stays `sending`, without a claim. `answer` goes to those who joined. */
  | { readonly _tag: "NotSent"; readonly answer: Answer }
  /** Nobody knows: the message becomes `unknown`. */
  | { readonly _tag: "Unknown" }

/** How a claimed send ended, by who holds its claim. */
export interface SettleSend {
  readonly now: Instant
  /** As *accept* claimed it. */
  readonly message: Message
  readonly claimToken: string
  readonly end: SendEnd
  /** One of each is enough: a send ends as sent or as failed, or tells of nothing. */
  readonly ids: EventIds
}

/** The same at the storage's time: a refusal that its asker tells of at `now` is of then too. Pure. */
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
 * A report of upstream, and how to find its message: our opaque reference first, then the provider's name for it, each
 * among the messages of the number that upstream speaks of.
 */
export interface ApplyReport {
  readonly now: Instant
  /** `null`: of any number. */
  readonly providerNumberId: string | null
  readonly reference: MessageId | null
  readonly report: Report
  readonly ids: EventIds
}

/** An idempotency key of a request to mark a customer's message as read. */
export interface ReadMarkKey {
  readonly workspaceId: WorkspaceId
  readonly messageId: MessageId
  readonly key: IdempotencyKey
}

/** What a sweep did. */
export interface Swept {
  /** Ended leases that became `unknown`. */
  readonly unknown: number
  /** Messages that became `failed` from silence. */
  readonly failed: number
  /** Idempotency keys that were forgotten. */
  readonly forgotten: number
}

/** What two sweeps did together. */
export const sum = (a: Swept, b: Swept): Swept => ({
  unknown: a.unknown + b.unknown,
  failed: a.failed + b.failed,
  forgotten: a.forgotten + b.forgotten
})

/** Which messages: of a status, and to a number exactly as it was given, where these are given. */
export interface MessageFilter {
  readonly status?: MessageStatus
  readonly to?: string
  /** Exactly as it was given to the send. */
  readonly clientReference?: string
  /** The provider's name for it, as reports may use it: one message at most has it. */
  readonly providerMessageId?: string
  /** Created at or after this time. */
  readonly since?: Instant
  /** Created before this time. */
  readonly until?: Instant
}

/** Whether a message is one of those, whatever the provider calls it. Pure. */
export const isOf = (
  { clientReference, since, status, to, until }: MessageFilter,
  message: Message
): boolean =>
  (status === undefined || message.status === status) &&
  (to === undefined || message.content.to === to) &&
  (clientReference === undefined || message.content.clientReference === clientReference) &&
  (since === undefined || message.createdAt >= since) &&
  (until === undefined || message.createdAt < until)

/** A message's id is made before the message is, by another clock perhaps: its time is not further off than this. */
export const idAhead = Duration.hours(1)

/**
 * How many messages a page with a filter looks at, at most: statuses and recipients have no index (a `clientReference` and times have), because every send
 * and every report would pay for it.
 */
export const lookedAt = 10_000

export class MessageStore extends Context.Service<MessageStore, {
  /**
   * Accepts a send (contract §3), in one atomic step and this order: the API key, if it came with one, is live and the workspace not
   * suspended; the workspace's rate limit; then `Idempotency.judge`. For the one that may claim (unbound or released):
   * `Policy.refusal`, then the rate limits of the number and the pair. Only then is anything written: tokens,
   * quota (once per message), messaging limit, the message as `sending`, the key's binding with the claim.
   *
   * Replays, joins and conflicts spend the workspace's token only; a refusal spends nothing. Of racing requests with
   * one key exactly one is claimed. After a {@link StoreError} the claim may have been made under `claimToken`, or may
   * yet be: `abandon` takes it back, or its lease ends as `unknown`.
   */
  readonly accept: (command: AcceptSend) => Effect.Effect<Accepted, StoreError>
  /**
   * Settles a claimed send: status, provider's name, stored answer, event and its delivery, all or nothing, only
   * under the claim's owner token. False, and nothing changed, when the claim was lost. `Refused` gives the quota
   * back. Reports that came before stay in force: a status never moves back. Safe to repeat.
   */
  readonly settle: (command: SettleSend) => Effect.Effect<boolean, StoreError>
  /**
   * Takes an *accept* back before the provider was asked, as if it had been refused: a first try leaves nothing
   * behind, a later one only loses its claim. Without the claim, or once it is known to be lost, it changes nothing;
   * so it is also for an *accept* whose answer was lost. Safe to repeat.
   */
  readonly abandon: (
    command: AbandonSend
  ) => Effect.Effect<void, StoreError>
  /** Judges a key and spends nothing: how those who join a running send learn its end. */
  readonly lookUp: (request: KeyedRequest, now: Instant) => Effect.Effect<Verdict, StoreError>
  /**
   * Applies a report by `Message.apply`, with its events; a message that it settles can be answered from here on.
   * False when the number has no message of that reference or name. Reports may come in any order and any number of
   * times, also before *settle*. Safe to repeat.
   */
  readonly applyReport: (command: ApplyReport) => Effect.Effect<boolean, StoreError>
  /** A message of the workspace as others may refer to it: one that it sent, or one that a customer wrote and that is remembered. */
  readonly named: (workspaceId: WorkspaceId, id: MessageId) => Effect.Effect<Option.Option<Named>, StoreError>
  /** Our name of the message that the provider calls so, sent from the number or written to it; none that is not known. */
  readonly idOf: (
    providerNumberId: string,
    providerMessageId: string
  ) => Effect.Effect<Option.Option<MessageId>, StoreError>
  /** The fingerprint that marking a message as read is bound to under a key; none if there is none, or it has expired. */
  readonly recallReadMark: (key: ReadMarkKey, now: Instant) => Effect.Effect<Option.Option<string>, StoreError>
  /**
   * Binds a key to a fingerprint until `expiresAt`. Returns the fingerprint that it is bound to afterwards: another one if
   * somebody else came first. Safe to repeat.
   */
  readonly keepReadMark: (
    command: ReadMarkKey & { readonly fingerprint: string; readonly now: Instant; readonly expiresAt: Instant }
  ) => Effect.Effect<string, StoreError>
  /** A message of the workspace. */
  readonly get: (workspaceId: WorkspaceId, id: MessageId) => Effect.Effect<Option.Option<Message>, StoreError>
  /**
   * Messages of the workspace, newest first. With a filter a page may hold fewer than its limit, or none, and go on all
   * the same: it ends at the latest after {@link lookedAt} messages.
   */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: MessageFilter,
    page: PageRequest
  ) => Effect.Effect<Page<Message>, StoreError>
  /**
   * What silence means by now (contract §3): claims whose lease ended become `unknown`; `unknown` for
   * `Message.unknownTimeout` becomes `failed` (`delivery_unknown`), unclaimed `sending` for `Message.retryTimeout`
   * `failed` (`not_sent`, quota given back, key forgotten), each with its event; expired keys are forgotten, and
   * customers' messages that need not be remembered any longer.
   * Any number of processes may sweep at once.
   */
  readonly sweep: (now: Instant) => Effect.Effect<Swept, StoreError>
}>()("@wac/core/messages/MessageStore") {}
