/**
 * A message that a host enqueued in a transaction of its own (contract §16), and what becomes of it. Pure.
 */
import { Duration, Result } from "effect"
import { type DomainError, reasonOf } from "../Errors.ts"
import type { MessageId, WorkspaceId } from "../Id.ts"
import type { IdempotencyKey } from "../Idempotency.ts"
import * as Message from "../messages/Message.ts"
import type { Later } from "../messages/MessageStore.ts"
import * as QueueRetry from "../queue/QueueRetry.ts"
import * as SendTimes from "../queue/SendTimes.ts"
import type { Instant } from "../Time.ts"

/** The route of the keys: they are apart from those of requests. */
export const route = "enqueue"

/** A committed message that is not queued yet. */
export interface OutboxEntry {
  /** Given by the function, and returned to the host. */
  readonly messageId: MessageId
  readonly workspaceId: WorkspaceId
  readonly key: IdempotencyKey
  /** The host's JSON, as it is. */
  readonly message: unknown
  /** `Infinity` and `-Infinity` are possible. */
  readonly sendAt: Instant | null
  readonly sendUntil: Instant | null
  readonly enqueuedAt: Instant
  /** How often it was tried in vain to queue it. */
  readonly tries: number
}

/** How an entry is queued at `now`; fails if its time is over. */
export const laterOf = (
  { enqueuedAt, sendAt, sendUntil }: Pick<OutboxEntry, "enqueuedAt" | "sendAt" | "sendUntil">,
  now: Instant
): Result.Result<Later, Message.MessageError> => {
  const from = Math.max(sendAt ?? enqueuedAt, enqueuedAt)
  const until = sendUntil ?? from + Duration.toMillis(SendTimes.standardTrial)
  // one that was over from the beginning is refused when it is queued, as a request would be
  if (until <= now && until > from) return Result.fail(Message.notSentInTime)
  return Result.succeed({
    ...(sendAt === null ? {} : { sendAt }),
    ...(Number.isFinite(until) || sendUntil !== null ? { sendUntil: until } : {}),
    // there is no request that could be too many
    isInBatch: true
  })
}

/** What comes of an entry. */
export type OutboxEnd =
  /** It is queued. */
  | { readonly _tag: "Moved" }
  /** Something temporary holds it up: it is tried again after a while. */
  | { readonly _tag: "Again"; readonly after: Duration.Duration }
  /** It becomes a failed message with this content, sent from this number or the default one. */
  | { readonly _tag: "Failed"; readonly error: Message.MessageError; readonly content: Message.OutboundMessage }

/** Decides what becomes of an entry that was refused. */
export const refused = (
  { tries }: Pick<OutboxEntry, "tries">,
  error: DomainError,
  content: Message.OutboundMessage
): OutboxEnd =>
  // a message that is sent later is refused by a quota only while the queue is full (`Policy.queueRefusal`)
  error._tag === "RateLimited" || error._tag === "ServerError" || reasonOf(error) === "quota_exhausted"
    ? { _tag: "Again", after: QueueRetry.delayOf(tries, error) }
    : { _tag: "Failed", error: Message.errorOf(error), content }

/** The log's line about a refused entry. The error's own message may name the customer. */
export const lineOf = (messageId: MessageId, { code, reason }: Message.MessageError): string =>
  `the enqueued message ${messageId} is refused: ${reason ?? code}`

const isText = (value: unknown, longest: number): value is string =>
  typeof value === "string" && value.length <= longest

/** Longer than any name of a customer. */
const longestName = 200

/** What is listed of a message that cannot be read, as far as it can: whom it was to, its kind, sender and reference. */
export const unreadable = (message: unknown): Message.OutboundMessage => {
  const { client_reference: clientReference, from, to, type } = message as { readonly [field: string]: unknown }
  const kind = Object.hasOwn(Message.contents, `${type}`) ? `${type}` : "text"
  return {
    to: isText(to, longestName) ? to : "",
    type: kind,
    ...(isText(from, longestName) ? { from } : {}),
    ...(isText(clientReference, 255) ? { clientReference } : {}),
    [kind]: {}
  } as never
}
