/**
 * `/v1/messages` (specification §4, contract §3).
 */
import { Errors, Idempotency, Message } from "@wac/core"
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, apiKey, NeedsIdempotencyKey } from "./Access.ts"
import { ApiKeyAuthentication } from "./Caller.ts"
import { reading, sending } from "./ErrorBody.ts"
import { noQuery } from "./Lists.ts"
import { Timestamp } from "./Timestamp.ts"

/** The body of a send, in the wire's names: snake_case, but for `bodyParams`, which the specification writes so. */
export const SendMessage = Schema.Union([
  Message.OutboundTemplate.pipe(Schema.encodeKeys({ clientReference: "client_reference" })),
  Message.OutboundText.mapFields(
    Struct.assign({ text: Message.TextContent.pipe(Schema.encodeKeys({ previewUrl: "preview_url" })) })
  ).pipe(Schema.encodeKeys({ clientReference: "client_reference" }))
]).annotate({
  identifier: "SendMessage",
  examples: [{
    to: "+15551234567",
    type: "template",
    template: { name: "order_update", language: "en_US", bodyParams: ["Ana", "1042"] }
  }]
})

/** The answer to a send: exactly the five specified fields. */
export const SentMessage = Schema.Struct({
  status: Schema.Literal("sent"),
  message_id: Schema.String,
  provider_message_id: Schema.String,
  tenant_id: Schema.String,
  api_key_id: Schema.String
}).annotate({ identifier: "SentMessage" })

/** A stored message. */
export const StoredMessage = Schema.Struct({
  status: Schema.Literals(["queued", "sending", "unknown", "sent", "delivered", "read", "failed"]),
  message_id: Schema.String,
  provider_message_id: Schema.NullOr(Schema.String),
  tenant_id: Schema.String,
  api_key_id: Schema.String,
  to: Schema.String,
  from: Schema.String,
  type: Schema.Literals(["template", "text"]),
  created_at: Timestamp,
  sent_at: Schema.NullOr(Timestamp),
  delivered_at: Schema.NullOr(Timestamp),
  read_at: Schema.NullOr(Timestamp),
  failed_at: Schema.NullOr(Timestamp),
  error: Schema.NullOr(Schema.Struct({
    code: Schema.String,
    reason: Schema.optionalKey(Schema.String),
    message: Schema.String,
    provider: Schema.optionalKey(Errors.ProviderDetail)
  })),
  client_reference: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Message" })

export class MessagesApi extends HttpApiGroup.make("messages").add(
  HttpApiEndpoint.post("send", "/v1/messages", {
    headers: {
      "idempotency-key": Schema.String.annotate({
        description: "1 to 255 visible ASCII characters, unique per send; the same again for a retry of the same send"
      })
    },
    payload: SendMessage,
    success: SentMessage,
    error: sending
  }).annotate(Access, apiKey("messages:send")).annotate(NeedsIdempotencyKey, true).annotateMerge(OpenApi.annotations({
    summary: "Send a message",
    description: "Sends an approved template, or free-form text within 24 hours after the recipient last wrote. " +
      `A retry with the same ${Idempotency.header} is never sent twice.`
  })),
  HttpApiEndpoint.get("get", "/v1/messages/:id", {
    params: { id: Schema.String },
    query: noQuery,
    success: StoredMessage,
    error: reading
  }).annotate(Access, apiKey("messages:send")).annotateMerge(
    OpenApi.annotations({
      summary: "Get a message",
      description: "A message of the workspace as it stands now, whoever sent it."
    })
  )
).middleware(ApiKeyAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Messages", description: "Sending, and what became of it." })
) {}
