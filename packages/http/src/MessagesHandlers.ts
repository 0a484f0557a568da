/**
 * `/v1/messages`.
 */
import { Api, Caller } from "@wac/api"
import { Idempotency, type Message, Messages, StoreError, Time } from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "./Exchange.ts"

const stored = (message: Message.Message) => ({
  status: message.status,
  message_id: message.id,
  provider_message_id: message.providerMessageId,
  tenant_id: message.workspaceId,
  api_key_id: message.apiKeyId,
  to: message.content.to,
  from: message.from,
  type: message.content.type,
  created_at: Time.iso(message.createdAt),
  sent_at: Time.isoOrNull(message.sentAt),
  delivered_at: Time.isoOrNull(message.deliveredAt),
  read_at: Time.isoOrNull(message.readAt),
  failed_at: Time.isoOrNull(message.failedAt),
  error: message.error,
  client_reference: message.content.clientReference ?? null
})

export const layer = HttpApiBuilder.group(
  Api,
  "messages",
  Effect.fnUntraced(function*(handlers) {
    const messages = yield* Messages.Messages
    return handlers.handleAll({
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
          api_key_id: sent.apiKeyId
        }
      }),
      get: Effect.fnUntraced(function*({ params }) {
        const { workspace } = yield* Caller.Caller
        return stored(yield* messages.get(workspace.id, params.id))
      }, StoreError.orUnavailable)
    })
  })
)
