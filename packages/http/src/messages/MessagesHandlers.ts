/**
 * `/v1/messages` and `/internal/messages`.
 */
import { Api, Caller } from "@wac/api"
import {
  Conversation,
  Idempotency,
  type Message,
  Messages,
  ReadMarks,
  type ReceivedMessage,
  StoreError,
  Time
} from "@wac/core"
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"

/** A message that was sent, or is to be, without its content. */
export const shown = (message: Message.Message) => ({
  direction: "outbound" as const,
  status: message.status,
  messageId: message.id,
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
  error: message.error,
  clientReference: message.content.clientReference ?? null,
  pricing: message.pricing,
  playedAt: Time.isoOrNull(message.playedAt)
})

const received = (message: ReceivedMessage.ReceivedMessage) => ({
  // the content comes first, so that no type can take the place of a field
  [message.type]: message.content,
  direction: "inbound" as const,
  status: "received" as const,
  message_id: message.id,
  provider_message_id: message.providerMessageId,
  tenant_id: message.workspaceId,
  from: message.from,
  from_user_id: message.fromUserId,
  to: message.to,
  type: message.type,
  context: message.context,
  received_at: Time.iso(message.receivedAt)
})

/** The sent content, as in the request; a text's content is the only one with other names there. */
const contentOf = (message: Message.Message) => {
  const content = Conversation.contentOf(message) as { readonly text?: Message.TextContent }
  const { text } = content
  return text?.previewUrl === undefined
    ? content
    : { ...content, text: { body: text.body, preview_url: text.previewUrl } }
}

/** A message in either direction, as `GET /v1/messages/{id}` answers it. */
const either = (entry: Conversation.Entry) =>
  entry.direction === "inbound" ? received(entry.message) : shown(entry.message)

/** A message of a conversation. */
const spoken = (entry: Conversation.Entry) =>
  entry.direction === "inbound" ? received(entry.message) : { ...shown(entry.message), ...contentOf(entry.message) }

const publicLayer = HandlerGroup.layer(
  Effect.gen(function*() {
    const messages = yield* Messages.Messages
    const readMarks = yield* ReadMarks.ReadMarks
    return HttpApiBuilder.group(Api, "messages", (handlers) =>
      handlers.handleAll({
        read: Effect.fnUntraced(function*({ headers, params, payload }) {
          const { key, workspace } = yield* Caller.Caller
          const messageId = yield* readMarks.mark({
            workspaceId: workspace.id,
            key: yield* Effect.fromResult(Idempotency.parseKey(headers["idempotency-key"])),
            boundTo: key.phoneNumberIds,
            id: params.id,
            isTyping: payload.typing ?? false
          })
          return { message_id: messageId, status: "read" as const }
        }),
        send: Effect.fnUntraced(function*({ headers, payload }) {
          const { key, workspace } = yield* Caller.Caller
          const { requestId } = yield* Exchange
          const sent = yield* messages.send({
            workspaceId: workspace.id,
            apiKeyId: key.id,
            key: yield* Effect.fromResult(Idempotency.parseKey(headers["idempotency-key"])),
            requestId,
            message: payload
          })
          return {
            status: "sent" as const,
            message_id: sent.messageId,
            provider_message_id: sent.providerMessageId,
            tenant_id: sent.workspaceId,
            // only API keys are bound to keys of this route
            api_key_id: sent.apiKeyId ?? key.id
          }
        }),
        list: Effect.fnUntraced(function*({ query }) {
          const { workspace } = yield* Caller.Caller
          const { client_reference: clientReference, contact, direction, since, status, to, until } = query
          const asked = {
            ...(contact === undefined ? {} : { contact }),
            ...(direction === undefined ? {} : { direction })
          }
          if (Conversation.isAskedFor(asked)) {
            const refusal = Conversation.refusal({ status, to, client_reference: clientReference, since, until })
            if (refusal !== undefined) return yield* refusal
            return Paging.list(
              yield* messages.conversation(workspace.id, asked, yield* Paging.request(query)),
              spoken
            )
          }
          const filter = {
            ...(status === undefined ? {} : { status }),
            ...(to === undefined ? {} : { to }),
            ...(clientReference === undefined ? {} : { clientReference }),
            ...Paging.between(since, until)
          }
          return Paging.list(yield* messages.list(workspace.id, filter, yield* Paging.request(query)), shown)
        }, StoreError.orUnavailable),
        get: Effect.fnUntraced(function*({ params }) {
          const { workspace } = yield* Caller.Caller
          return either(yield* messages.find(workspace.id, params.id))
        }, StoreError.orUnavailable)
      }))
  })
)

const dashboardLayer = HandlerGroup.layer(
  Effect.gen(function*() {
    const messages = yield* Messages.Messages
    return HttpApiBuilder.group(Api, "messagesDashboard", (handlers) =>
      handlers.handleAll({
        send: Effect.fnUntraced(function*({ headers, payload }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const exchange = yield* Exchange
          const { requestId } = exchange
          const sent = yield* messages.send({
            workspaceId,
            apiKeyId: null,
            key: yield* Effect.fromResult(Idempotency.parseKey(headers["idempotency-key"])),
            requestId,
            message: payload
          })
          exchange.changed = { target: sent.messageId }
          return {
            status: "sent" as const,
            messageId: sent.messageId,
            providerMessageId: sent.providerMessageId,
            tenantId: sent.workspaceId,
            apiKeyId: null
          }
        }),
        list: Effect.fnUntraced(function*({ query: { cursor: _cursor, limit: _limit, since, until, ...rest }, query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const filter = { ...rest, ...Paging.between(since, until) }
          return Paging.internalList(yield* messages.list(workspaceId, filter, yield* Paging.request(query)), shown)
        }, StoreError.orUnavailable),
        get: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return shown(yield* messages.get(workspaceId, params.id))
        }, StoreError.orUnavailable)
      }))
  })
)

export const layer = Layer.merge(publicLayer, dashboardLayer)
