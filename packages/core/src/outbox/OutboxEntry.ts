/**
 * An entry of the outbox: a message that a host enqueued in its own transaction (contract §16), and the rules for
 * moving it into the queue. Pure.
 */
import { Duration, Result } from "effect"
import { type DomainError, reasonOf } from "../Errors.ts"
import { type MessageId, timeOf, type WorkspaceId } from "../Id.ts"
import type { IdempotencyKey } from "../Idempotency.ts"
import * as Message from "../messages/Message.ts"
import type { Later } from "../messages/MessageStore.ts"
import * as QueueRetry from "../queue/QueueRetry.ts"
import * as SendTimes from "../queue/SendTimes.ts"
import type { Instant } from "../Time.ts"

/** The route of the entries' idempotency keys. It separates them from the keys of requests. */
export const route = "enqueue"

/** A committed message that is not queued yet. */
export interface OutboxEntry {
  /** The id that the SQL function made and returned to the host. */
  readonly messageId: MessageId
  readonly workspaceId: WorkspaceId
  readonly key: IdempotencyKey
  /** The host's JSON, unchecked. */
  readonly message: unknown
  /** `Infinity` and `-Infinity` are possible. */
  readonly sendAt: Instant | null
  readonly sendUntil: Instant | null
  readonly enqueuedAt: Instant
  /** How many tries to queue it have failed. */
  readonly tries: number
}

/**
 * When an entry's message came about, however much later it is queued or fails: the time of its id, by which lists look
 * for it.
 */
export const createdAt = ({ messageId }: Pick<OutboxEntry, "messageId">): Instant => timeOf(messageId)

type Times = Pick<OutboxEntry, "enqueuedAt" | "sendAt" | "sendUntil">

const fromOf = ({ enqueuedAt, sendAt }: Times): Instant => Math.max(sendAt ?? enqueuedAt, enqueuedAt)

const untilOf = (times: Times): Instant => times.sendUntil ?? fromOf(times) + Duration.toMillis(SendTimes.standardTrial)

/** Whether the time to send an entry is over at `now`, or never came. */
export const isOver = (times: Times, now: Instant): boolean => untilOf(times) <= now

/** How an entry is to be queued at `now`; fails if the time to send it is over. */
export const laterOf = (
  entry: Times & Pick<OutboxEntry, "messageId">,
  now: Instant
): Result.Result<Later, Message.MessageError> => {
  const { sendAt, sendUntil } = entry
  const [from, until] = [fromOf(entry), untilOf(entry)]
  // an entry whose `sendUntil` was never after its `sendAt` is refused when it is queued, as a request would be
  if (isOver(entry, now) && until > from) return Result.fail(Message.notSentInTime)
  return Result.succeed({
    ...(sendAt === null ? {} : { sendAt }),
    ...(Number.isFinite(until) || sendUntil !== null ? { sendUntil: until } : {}),
    // entries come without requests, so no rate limit of requests applies
    isInBatch: true,
    createdAt: createdAt(entry)
  })
}

/** The result of a try to queue an entry. */
export type OutboxEnd =
  /** It is queued. */
  | { readonly _tag: "Moved" }
  /** A temporary error stopped it: it is tried again after `after`, at `until` at the latest. */
  | { readonly _tag: "Again"; readonly after: Duration.Duration; readonly until?: Instant }
  /** It becomes a failed message with this content, sent from this number or the default one. */
  | { readonly _tag: "Failed"; readonly error: Message.MessageError; readonly content: Message.OutboundMessage }

/** An entry that this temporary error stopped is tried again. */
export const again = ({ tries }: Pick<OutboxEntry, "tries">, error: DomainError): OutboxEnd => ({
  _tag: "Again",
  after: QueueRetry.delayOf(tries, error)
})

/**
 * Decides what becomes of an entry that was refused; because of a block of its number that ends by itself at
 * `blockedUntil`, if given.
 */
export const refused = (
  entry: Times & Pick<OutboxEntry, "tries">,
  { blockedUntil, error }: { readonly error: DomainError; readonly blockedUntil?: Instant },
  content: Message.OutboundMessage
): OutboxEnd =>
  blockedUntil !== undefined && blockedUntil < untilOf(entry)
    ? QueueRetry.afterBlock(blockedUntil)
    // a message that is sent later is refused by a quota only while the queue is full (`Policy.queueRefusal`)
    : error._tag === "RateLimited" || error._tag === "ServerError" || reasonOf(error) === "quota_exhausted"
    ? again(entry, error)
    : { _tag: "Failed", error: Message.errorOf(error), content }

/** The log's line about a refused entry. The error's own message may name the customer. */
export const lineOf = (messageId: MessageId, { code, reason }: Message.MessageError): string =>
  `the enqueued message ${messageId} is refused: ${reason ?? code}`

/** The log's line about an entry that a temporary error stopped. */
export const againLineOf = (messageId: MessageId, { code, reason }: Message.MessageError): string =>
  `the enqueued message ${messageId} cannot be queued yet and is tried again: ${reason ?? code}`

const isText = (value: unknown, longest: number): value is string =>
  typeof value === "string" && value.length <= longest

/** Longer than any name of a customer. */
const longestName = 200

/**
 * The listed form of a message that cannot be read: recipient, kind, sender and reference, as far as they are valid.
 */
export const unreadable = (message: unknown): Message.OutboundMessage => {
  const { client_reference: clientReference, from, to, type } = message as { readonly [field: string]: unknown }
  // not as text before it is known to be one: the host's JSON may have a `toString` of its own
  const kind = typeof type === "string" && Object.hasOwn(Message.contents, type) ? type : "text"
  return {
    to: isText(to, longestName) ? to : "",
    type: kind,
    ...(isText(from, longestName) ? { from } : {}),
    ...(isText(clientReference, 255) ? { clientReference } : {}),
    [kind]: {}
  } as never
}
