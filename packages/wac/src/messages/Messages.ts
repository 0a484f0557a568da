/**
 * Sending messages (specification §4, contract §3), as the host does it.
 */
import { MessagesApi } from "@wac/api"
import { Id, Idempotency, Message as Core, Messages as Service, Time } from "@wac/core"
import { Effect, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Input from "../Input.ts"
import { HostKeys } from "../keys/HostKeys.ts"
import * as Listing from "../Listing.ts"
import { inMillis, type Moment, written } from "../Moment.ts"
import type { Running } from "../Running.ts"
import type { ErrorCode, ProviderDetail } from "../WacError.ts"
import type { FreeFormContents, FreeFormType, TemplateContent } from "./MessageContents.ts"

interface Addressed {
  /** The recipient's phone number in E.164 format: `+15551234567`. */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164 format; its default number when left out. */
  readonly from?: string
  /** Echoed in the events of this message; at most 255 characters. */
  readonly clientReference?: string
}

/** An approved template; it may be sent at any time. */
export interface TemplateMessage extends Addressed {
  readonly type: "template"
  readonly template: TemplateContent
}

/** A message of any other kind; only within 24 hours after the recipient last wrote. */
export type FreeFormMessage = {
  readonly [Kind in FreeFormType]:
    & Addressed
    & { readonly type: Kind }
    & { readonly [Name in Kind]: FreeFormContents[Kind] }
    & (Kind extends "reaction" ? unknown : Quoting)
}[FreeFormType]

interface Quoting {
  /** Quotes a message of the same conversation, ours or the customer's, by our name of it. */
  readonly context?: { readonly message_id: string }
}

/** A message to be sent. */
export type NewMessage = TemplateMessage | FreeFormMessage

/** What a send takes beside its message. */
export interface SendOptions {
  /**
   * What this one send is called: 1 to 255 visible ASCII characters, of your choice. A call with the same key and the
   * same message is never sent twice; it gets the first one's answer, for 24 hours after that. Take it from what the
   * message is about (`order-1042-shipped`), so that it is the same when your own code runs again: that is why it is
   * required. One that we made up would differ at every try, and the message could go out twice.
   */
  readonly idempotencyKey: string
}

/** A message that the provider has taken. */
export interface SentMessage {
  readonly status: "sent"
  readonly messageId: string
  /** The provider's own name for the message. Events carry both. */
  readonly providerMessageId: string
  readonly workspaceId: string
  readonly apiKeyId: string
  /** Whether this is the answer of an earlier call with the same key. */
  readonly replayed: boolean
}

/** What has become of a message: `read` implies `delivered`, and that `sent`. */
export type MessageStatus = "queued" | "sending" | "unknown" | "sent" | "delivered" | "read" | "failed"

/** A stored message. Times are ISO 8601. */
export interface Message {
  readonly messageId: string
  readonly status: MessageStatus
  readonly providerMessageId: string | null
  readonly workspaceId: string
  /** `null` if a person sent it from the dashboard. */
  readonly apiKeyId: string | null
  readonly to: string
  readonly from: string
  readonly type: "template" | FreeFormType
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
}

/** Which messages: all given fields must match, `to` and `clientReference` exactly as they were given to the send. */
export interface MessageFilter {
  readonly status?: MessageStatus
  readonly to?: string
  readonly clientReference?: string
  /** The provider's name for the message. */
  readonly providerMessageId?: string
  /** Only messages created at or after this time. */
  readonly since?: Moment
  /** Only messages created before this time. */
  readonly until?: Moment
}

/** The messages of a workspace. */
export interface Messages {
  /**
   * Sends a message, once per idempotency key; resolves when the provider has taken it. What becomes of it is told by
   * events. Goes on to its end even if nobody waits for it. Rejects with a `WacError`: after `outcome_unknown` the
   * message may have been sent, and the same call learns its end; after `delivery_unknown` nobody has learnt it within
   * 10 minutes; after any other error nothing was sent.
   */
  readonly send: (message: NewMessage, options: SendOptions) => Promise<SentMessage>
  /** A message by its `messageId`. */
  readonly get: (messageId: string) => Promise<Message>
  /** Newest first. A page with a filter may hold fewer than its limit, or nothing, before the end of the list. */
  readonly list: (filter?: MessageFilter) => Listing.Listing<Message>
}

const readMessage = Input.reader(Core.OutboundMessage)
const readFilter = Input.read(Schema.Struct(MessagesApi.filter))

const shown = (message: Core.Message): Message => ({
  messageId: message.id,
  status: message.status,
  providerMessageId: message.providerMessageId,
  workspaceId: message.workspaceId,
  apiKeyId: message.apiKeyId,
  to: message.content.to,
  from: message.from,
  type: message.content.type,
  createdAt: Time.iso(message.createdAt),
  sentAt: Time.isoOrNull(message.sentAt),
  deliveredAt: Time.isoOrNull(message.deliveredAt),
  readAt: Time.isoOrNull(message.readAt),
  failedAt: Time.isoOrNull(message.failedAt),
  error: message.error as Message["error"],
  clientReference: message.content.clientReference ?? null
})

export const make = Effect.gen(function*() {
  const messages = yield* Service.Messages
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
              // keys of this route are bound by API keys alone
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
    get: (messageId) => running.run(Effect.map(messages.get(workspaceId, messageId), shown)),
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
