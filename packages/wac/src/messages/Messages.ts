/**
 * Sending and reading messages (specification §4, contract §3), for the host.
 */
import { MessagesApi } from "@wac/api"
import {
  Batch,
  Conversation,
  Errors,
  Id,
  Idempotency,
  Message as Core,
  Messages as Service,
  ReadMarks,
  type ReceivedMessage,
  type SendTimes as Asked,
  StoreError,
  Time,
  WorkspaceStore,
  WorkspaceTokens
} from "@wac/core"
import { MessagesHandlers } from "@wac/http"
import { DateTime, Effect, Option, Record, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Pricing, ReceivedContentByType, ReceivedContext } from "../generated/Event.ts"
import type { MessageStatus, MessageType, SendMessage } from "../generated/MessageContents.ts"
import * as Input from "../Input.ts"
import { HostKeys } from "../keys/HostKeys.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"
import type { TemplateMessage } from "../templates/AccountTemplates.ts"
import { inMillis, type TimeInput, written, writtenTimes } from "../TimeInput.ts"
import { type ErrorCode, ofDomain, type ProviderDetail, type WacError } from "../WacError.ts"

/** A message of any other kind, only within 24 hours after the recipient last wrote. */
export type FreeFormMessage = Exclude<SendMessage, { readonly type: "template" }>

/** A message to send. */
export type NewMessage = TemplateMessage | FreeFormMessage

/** The options of a send. */
export interface SendOptions {
  /**
   * Identifies this send: 1 to 255 visible ASCII characters of your choice. A call with the same key and the same
   * message is never sent twice; it gets the first call's answer, for 24 hours after that. Derive it from what the
   * message is about (`order-1042-shipped`), so that it is the same when your code runs again. It is required, because
   * a generated key would differ at every try, and the message could be sent twice.
   */
  readonly idempotencyKey: string
}

/** When a queued message is sent. */
export interface SendTimes {
  /** Not before this time: at most 90 days ahead; the past means now. Now by default. */
  readonly sendAt?: TimeInput
  /** How long it is tried if something temporary holds it up; 24 hours after `sendAt` by default. */
  readonly sendUntil?: TimeInput
}

/** The options of queueing a message. */
export interface EnqueueOptions extends SendOptions, SendTimes {}

/** A message to be queued with others; its key is as in {@link SendOptions}. */
export type QueueItem = NewMessage & EnqueueOptions

/** The options of marking a message as read. */
export interface ReadOptions extends SendOptions {
  /** Whether to show the customer a typing indicator. */
  readonly typing?: boolean
}

/** A message that the provider accepted. */
export interface SentMessage {
  readonly status: "sent"
  readonly messageId: string
  /** The provider's id of the message. Events carry both ids. */
  readonly providerMessageId: string
  readonly workspaceId: string
  readonly apiKeyId: string
  /** Whether this is the answer to an earlier call with the same key. */
  readonly replayed: boolean
}

/** A message that is queued, to be sent at its time. */
export interface QueuedMessage {
  readonly status: "queued"
  readonly messageId: string
  readonly workspaceId: string
  readonly apiKeyId: string
  /** It is not sent before this time. */
  readonly sendAt: string
  /** Whether this is the answer to an earlier call with the same key. */
  readonly replayed: boolean
}

/** A message that was refused, and so not queued. */
export interface RefusedMessage {
  readonly status: "refused"
  /** The error with which `enqueue` would have rejected. */
  readonly error: WacError
}

/**
 * A message that was sent, or is to be. Times are ISO 8601. In a conversation it has its content, under the name of its
 * type: `{}` once that was deleted.
 */
export interface Message extends MessageContent {
  readonly direction: "outbound"
  readonly messageId: string
  readonly status: MessageStatus
  readonly providerMessageId: string | null
  readonly workspaceId: string
  /** `null` if a person sent it from the dashboard. */
  readonly apiKeyId: string | null
  readonly to: string
  readonly from: string
  readonly type: MessageType
  readonly createdAt: string
  /** The time before which it is not sent; `null` unless its caller queued it. */
  readonly sendAt: string | null
  readonly sentAt: string | null
  readonly deliveredAt: string | null
  readonly readAt: string | null
  readonly failedAt: string | null
  /** Why it failed. */
  readonly error: {
    readonly code: ErrorCode
    readonly reason?: string
    readonly message: string
    readonly provider?: ProviderDetail
  } | null
  readonly clientReference: string | null
  /** The provider's latest pricing; `null` if it reported none. */
  readonly pricing: Pricing | null
  /** When the customer played the voice message. */
  readonly playedAt: string | null
  /** The message that it quotes, by our id. */
  readonly context?: { readonly message_id: string }
}

/** The content of a message of a conversation, under the name of its type, as in the call that sent it. */
type MessageContent = { readonly [Kind in MessageType]?: unknown }

/** A message of a customer. `type` names the field that holds what they wrote, as in the event `message.received`. */
export interface InboundMessage extends Partial<ReceivedContentByType> {
  readonly direction: "inbound"
  readonly status: "received"
  readonly messageId: string
  readonly providerMessageId: string
  readonly workspaceId: string
  /** The customer's number, or user id if the number is not known. A reply can be sent to it. */
  readonly from: string
  readonly fromUserId: string | null
  /** The workspace's number that they wrote to. */
  readonly to: string
  readonly type: string
  readonly context: ReceivedContext | null
  /** The message's own time. */
  readonly receivedAt: string
}

/** A message in either direction: a comparison of `direction` narrows it. */
export type AnyMessage = Message | InboundMessage

/** Which messages of conversations. */
export interface ConversationFilter {
  /**
   * Any name of a customer: a number in E.164 format, or a user id. If omitted, all customers, `inbound` by default.
   */
  readonly contact?: string
  /** Only messages in this direction. */
  readonly direction?: "inbound" | "outbound"
}

/** Which messages: all given fields must match; `to` and `clientReference` exactly as given to the send. */
export interface MessageFilter {
  readonly status?: MessageStatus
  readonly to?: string
  readonly clientReference?: string
  /** The provider's id of the message. */
  readonly providerMessageId?: string
  /** Only messages created at or after this time. */
  readonly since?: TimeInput
  /** Only messages created before this time. */
  readonly until?: TimeInput
}

/** The messages of a workspace. */
export interface Messages {
  /**
   * Sends a message, once for each idempotency key. Resolves when the provider has accepted it; events report what
   * happens afterwards. The send continues even if nothing awaits the promise. Rejects with a `WacError`: after
   * `outcome_unknown` the message may have been sent, and repeating the same call returns the outcome; after
   * `delivery_unknown` no outcome was known within 10 minutes; after any other error nothing was sent. If `enqueue` has
   * used the key for this message, it rejects with `idempotency_conflict`: the message is sent at its time, and not by
   * this call.
   */
  readonly send: (message: NewMessage, options: SendOptions) => Promise<SentMessage>
  /**
   * Queues a message, to be sent once at its time. Resolves when it is accepted; events report what becomes of it. What
   * may change until then, such as the service window, is judged when it is sent. If `send` has used the key for this
   * message, the answer is that it is `sent`.
   */
  readonly enqueue: (message: NewMessage, options: EnqueueOptions) => Promise<QueuedMessage | SentMessage>
  /**
   * Queues 1 to 500 messages, each as `enqueue` would. The results are in their order: one that is refused does not
   * touch the others, and can be queued again under its key.
   */
  readonly enqueueMany: (
    messages: ReadonlyArray<QueueItem>
  ) => Promise<ReadonlyArray<QueuedMessage | SentMessage | RefusedMessage>>
  /**
   * Cancels a queued message: once it has resolved, the message is never sent. Rejects with `already_sent` if its
   * sending has begun. Safe to repeat.
   */
  readonly cancel: (messageId: string) => Promise<Message>
  /** Gets a message by its `messageId`, in either direction. */
  readonly get: (messageId: string) => Promise<AnyMessage>
  /**
   * The conversation with a customer, by any of their names, newest first: what was sent to them, and what they wrote.
   * Without `contact`, what any customer wrote.
   */
  readonly conversation: (filter: ConversationFilter) => Listing.Listing<AnyMessage>
  /**
   * Marks a customer's message as read, by the `message_id` of its event, and optionally shows a typing indicator.
   * Rejects with `not_found` for your own messages.
   */
  readonly markRead: (messageId: string, options: ReadOptions) => Promise<void>
  /**
   * The messages that the workspace sent, newest first. A filtered page may have fewer items than its limit, or none,
   * before the end of the list.
   */
  readonly list: (filter?: MessageFilter) => Listing.Listing<Message>
}

const readMessage = Input.reader(Core.OutboundMessage)
const readTimes = Input.reader(Schema.Struct(MessagesApi.sendTimes))
const readFilter = Input.read(Schema.Struct(MessagesApi.filter))
const readQuery = Input.read(Schema.Struct(MessagesApi.conversation))

const shown = (message: Core.Message) => MessagesHandlers.shown(message) as Message

/** The times as milliseconds; errors use the host's names. */
const askedTimes = (times: SendTimes): Result.Result<Asked.Asked, Errors.InvalidBody> =>
  Result.map(
    readTimes(writtenTimes({ sendAt: times?.sendAt, sendUntil: times?.sendUntil })),
    (read) => Record.map(read as { readonly [name: string]: DateTime.Utc }, DateTime.toEpochMillis)
  )

const hostNames = new Map([["send_at", "sendAt"], ["send_until", "sendUntil"]])

/** An error of the times in the host's names. */
const inHostNames = (error: Errors.DomainError): Errors.DomainError => {
  if (error._tag !== "InvalidBody" || !hostNames.has(error.param ?? "")) return error
  return new Errors.InvalidBody({
    reason: error.reason,
    param: hostNames.get(error.param!)!,
    message: error.message.replaceAll(/send_at|send_until/g, (name) => hostNames.get(name)!)
  })
}

/**
 * The answer to a send. The key of a queued message conflicts with it: the host is told that the message was not sent
 * by this call.
 */
export const sentAtOnce = <Answer extends Idempotency.Sent | Idempotency.Queued>(
  answer: Answer
): Effect.Effect<Extract<Answer, { readonly _tag: "Sent" }>, Errors.IdempotencyConflict> =>
  answer._tag === "Sent" ? Effect.succeed(answer as never) : Effect.fail(
    new Errors.IdempotencyConflict({
      reason: "payload_mismatch",
      message: `the idempotency key was used to queue this message: ${answer.messageId} is sent at its time`
    })
  )

/** A message that was read and can be queued. */
interface Readable {
  readonly key: Idempotency.IdempotencyKey
  readonly message: Core.OutboundMessage
  readonly times: Asked.Asked
}

const readItem = (message: NewMessage, options: EnqueueOptions): Result.Result<Readable, Errors.InvalidBody> =>
  Result.all({
    message: readMessage(message),
    key: Input.idempotencyKey(options?.idempotencyKey),
    times: askedTimes(options)
  })

const received = (message: ReceivedMessage.ReceivedMessage) =>
  ({
    // the content comes first, so that no type can take the place of a field
    [message.type]: message.content,
    direction: "inbound",
    status: "received",
    messageId: message.id,
    providerMessageId: message.providerMessageId,
    workspaceId: message.workspaceId,
    from: message.from,
    fromUserId: message.fromUserId,
    to: message.to,
    type: message.type,
    context: message.context,
    receivedAt: Time.iso(message.receivedAt)
  }) as InboundMessage

const either = (entry: Conversation.Entry): AnyMessage =>
  entry.direction === "inbound" ? received(entry.message) : shown(entry.message)

const spoken = (entry: Conversation.Entry): AnyMessage =>
  entry.direction === "inbound"
    ? received(entry.message)
    : { ...shown(entry.message), ...Conversation.contentOf(entry.message) }

export const make = Effect.gen(function*() {
  const messages = yield* Service.Messages
  const readMarks = yield* ReadMarks.ReadMarks
  const hostKeys = yield* HostKeys
  const random = yield* SecureRandom.SecureRandom
  const workspaces = yield* WorkspaceStore.WorkspaceStore
  const spend = yield* WorkspaceTokens.spender

  /** Asks for a send with the host's key in a workspace. `named` gets the request's id. */
  const ask = Effect.fnUntraced(function*(
    workspaceId: Id.WorkspaceId,
    command: Pick<Service.SendRequest, "key" | "later" | "message">,
    named: (requestId: Id.RequestId) => void
  ) {
    let replayed = false
    const own = yield* hostKeys.of(workspaceId)
    const requestId = yield* Id.generate(random, "req")
    named(requestId)
    const answer = yield* Effect.provideService(
      messages.send({ workspaceId, apiKeyId: own, requestId, ...command }),
      Idempotency.ReplayObserver,
      () => {
        replayed = true
      }
    )
    // only API keys bind keys of this route
    return { ...answer, apiKeyId: answer.apiKeyId ?? own, replayed }
  })

  type Answered = Effect.Success<ReturnType<typeof ask>>

  const sent = (
    { apiKeyId, messageId, providerMessageId, replayed, workspaceId }: Extract<Answered, { readonly _tag: "Sent" }>
  ): SentMessage => ({ status: "sent", messageId, providerMessageId, workspaceId, apiKeyId, replayed })

  const accepted = (answer: Answered): QueuedMessage | SentMessage => {
    if (answer._tag === "Sent") return sent(answer)
    const { apiKeyId, messageId, replayed, sendAt, workspaceId } = answer
    return { status: "queued", messageId, workspaceId, apiKeyId, sendAt: Time.iso(sendAt), replayed }
  }

  return (running: Running, workspaceId: Id.WorkspaceId): Messages => ({
    send: (message, options) => {
      const content = readMessage(message)
      if (Result.isFailure(content)) return running.run(Effect.fail(content.failure))
      const key = Input.idempotencyKey(options?.idempotencyKey)
      if (Result.isFailure(key)) return running.run(Effect.fail(key.failure))
      let named: Id.RequestId | undefined
      return running.run(
        ask(workspaceId, { key: key.success, message: content.success, later: null }, (id) => {
          named = id
        }).pipe(Effect.flatMap(sentAtOnce), Effect.map(sent)),
        () => named
      )
    },
    enqueue: (message, options) => {
      const item = readItem(message, options)
      if (Result.isFailure(item)) return running.run(Effect.fail(item.failure))
      const { key, message: content, times } = item.success
      let named: Id.RequestId | undefined
      return running.run(
        ask(workspaceId, { key, message: content, later: { ...times, isInBatch: false } }, (id) => {
          named = id
        }).pipe(StoreError.orUnavailable, Effect.mapError(inHostNames), Effect.map(accepted)),
        () => named
      )
    },
    enqueueMany: (items) =>
      running.run(
        Effect.gen(function*() {
          if (!Array.isArray(items) || items.length < 1 || items.length > Batch.maxMessages) {
            return yield* new Errors.InvalidBody({
              reason: "invalid_field",
              param: "messages",
              message: `messages must be an array of 1 to ${Batch.maxMessages}`
            })
          }
          const found = yield* workspaces.get(workspaceId)
          // one that does not exist has no key, and the answers say so
          if (Option.isSome(found)) yield* spend(found.value, { tokens: Batch.costOf(items.length), paid: 0 })
          return yield* Effect.forEach(
            items as ReadonlyArray<QueueItem>,
            (item): Effect.Effect<QueuedMessage | SentMessage | RefusedMessage> => {
              const { idempotencyKey, sendAt, sendUntil, ...message } = item ?? {}
              const read = readItem(message as NewMessage, { idempotencyKey, sendAt, sendUntil } as EnqueueOptions)
              let named: Id.RequestId | undefined
              return Effect.fromResult(read).pipe(
                Effect.flatMap(({ key, message, times }) =>
                  ask(workspaceId, { key, message, later: { ...times, isInBatch: true } }, (id) => {
                    named = id
                  })
                ),
                StoreError.orUnavailable,
                Effect.match({
                  onSuccess: (answer) => accepted(answer),
                  onFailure: (error): RefusedMessage => ({
                    status: "refused",
                    error: ofDomain(inHostNames(error), named)
                  })
                })
              )
            },
            { concurrency: "unbounded" }
          )
        })
      ),
    cancel: (messageId) =>
      running.run(Effect.map(messages.cancel({ workspaceId, boundTo: null, id: `${messageId}` }), shown)),
    markRead: (messageId, options) => {
      const key = Input.idempotencyKey(options?.idempotencyKey)
      return running.run(
        Result.isFailure(key)
          ? Effect.fail(key.failure)
          : Effect.asVoid(
            readMarks.mark({
              workspaceId,
              boundTo: null,
              key: key.success,
              id: `${messageId}`,
              isTyping: options.typing === true
            })
          )
      )
    },
    get: (messageId) => running.run(Effect.map(messages.find(workspaceId, messageId), either)),
    conversation: (filter) =>
      Listing.make(
        running,
        (page) =>
          Effect.flatMap(
            readQuery(filter),
            (query) => messages.conversation(workspaceId, query, page)
          ),
        spoken
      ),
    list: (filter = {}) =>
      Listing.make(
        running,
        (page) =>
          Effect.flatMap(
            readFilter(written(filter)),
            (filter) => messages.list(workspaceId, inMillis(filter), page)
          ),
        shown
      )
  })
})
