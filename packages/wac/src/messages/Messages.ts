/**
 * Sending and reading messages (specification §4, contract §3), for the host.
 */
import { MessagesApi } from "@wac/api"
import {
  Conversation,
  Id,
  Idempotency,
  Message as Core,
  Messages as Service,
  ReadMarks,
  type ReceivedMessage,
  Time
} from "@wac/core"
import { MessagesHandlers } from "@wac/http"
import { Effect, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Pricing, ReceivedContentByType, ReceivedContext } from "../generated/Event.ts"
import type { MessageStatus, MessageType, SendMessage } from "../generated/MessageContents.ts"
import * as Input from "../Input.ts"
import { HostKeys } from "../keys/HostKeys.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"
import { inMillis, type TimeInput, written } from "../TimeInput.ts"
import type { ErrorCode, ProviderDetail } from "../WacError.ts"
/** A message to send. */
export type NewMessage = SendMessage

/** An approved template, which may be sent at any time. */
export type TemplateMessage = Extract<NewMessage, { readonly type: "template" }>

/** A message of any other kind, only within 24 hours after the recipient last wrote. */
export type FreeFormMessage = Exclude<NewMessage, TemplateMessage>

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
   * `delivery_unknown` no outcome was known within 10 minutes; after any other error nothing was sent.
   */
  readonly send: (message: NewMessage, options: SendOptions) => Promise<SentMessage>
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
const readFilter = Input.read(Schema.Struct(MessagesApi.filter))
const readQuery = Input.read(Schema.Struct(MessagesApi.conversation))

const shown = (message: Core.Message) => MessagesHandlers.shown(message) as Message

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

  return (running: Running, workspaceId: Id.WorkspaceId): Messages => ({
    send: (message, options) => {
      const content = readMessage(message)
      if (Result.isFailure(content)) return running.run(Effect.fail(content.failure))
      const key = Input.idempotencyKey(options?.idempotencyKey)
      if (Result.isFailure(key)) return running.run(Effect.fail(key.failure))
      let replayed = false
      let named: Id.RequestId | undefined
      const sent = Effect.flatMap(
        hostKeys.of(workspaceId),
        (own) =>
          Effect.flatMap(Id.generate(random, "req"), (requestId) => {
            named = requestId
            return Effect.map(
              messages.send({ workspaceId, apiKeyId: own, key: key.success, requestId, message: content.success }),
              // only API keys bind keys of this route
              ({ apiKeyId, ...sent }) => ({ ...sent, apiKeyId: apiKeyId ?? own })
            )
          })
      )
      return running.run(
        Effect.map(
          Effect.provideService(sent, Idempotency.ReplayObserver, () => {
            replayed = true
          }),
          ({ apiKeyId, messageId, providerMessageId, workspaceId }): SentMessage => ({
            status: "sent",
            messageId,
            providerMessageId,
            workspaceId,
            apiKeyId,
            replayed
          })
        ),
        () => named
      )
    },
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
