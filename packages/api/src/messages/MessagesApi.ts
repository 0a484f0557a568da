/**
 * `/v1/messages` (specification §4, contract §3).
 */
import { Addressee, Conversation, Errors, Idempotency, Message, MessageStore, PlainText } from "@wac/core"
import { Record, Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, apiKey, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { ApiKeyAuthentication, SessionAuthentication } from "../Caller.ts"
import { described, describedAs } from "../Described.ts"
import { BindsIdempotencyKey, IsPaged, NeedsIdempotencyKey, Sends } from "../EndpointAnnotations.ts"
import { asking, reading, sending } from "../ErrorBody.ts"
import { ReceivedContent, ReceivedContext } from "../events/ReceivedContent.ts"
import * as Example from "../Example.ts"
import { internalListOf, listOf, noQuery, pageQuery } from "../Lists.ts"
import { byId, idempotencyKey } from "../Parameters.ts"
import { onWire } from "../SnakeCase.ts"
import { TimeGiven, Timestamp } from "../Timestamp.ts"
import * as MessageExamples from "./MessageExamples.ts"

const names = { clientReference: "client_reference" } as const

type KindsOnWire<Kinds extends { readonly [kind: string]: Schema.Struct<Schema.Struct.Fields> }> = {
  readonly [Kind in keyof Kinds]: Schema.encodeKeys<Kinds[Kind], typeof names>
}

const kindsOnWire = <Kinds extends { readonly [kind: string]: Schema.Struct<Schema.Struct.Fields> }>(
  kinds: Kinds
): KindsOnWire<Kinds> => Record.map(kinds, (kind) => kind.pipe(Schema.encodeKeys(names), describedAs(kind))) as never

/** Every kind of the core. Contents already have the provider's names, except a text's. */
const kinds = kindsOnWire(Message.outbounds({
  ...Message.contents,
  text: Message.TextContent.pipe(Schema.encodeKeys({ previewUrl: "preview_url" }), describedAs(Message.TextContent))
}))

/**
 * The body of a send, in the wire's names: snake_case, but for those of templates, as the specification writes
 * `bodyParams`.
 */
export const SendMessage = Schema.Union(Object.values(kinds)).annotate({
  identifier: "SendMessage",
  description: "A message to be sent. A comparison of `type` narrows it.",
  examples: [MessageExamples.template]
})

/** The response to a send: exactly the five specified fields. */
export const SentMessage = Schema.Struct({
  status: Schema.Literal("sent"),
  message_id: Schema.String,
  provider_message_id: Schema.String,
  tenant_id: Schema.String,
  api_key_id: Schema.String
}).annotate({
  identifier: "SentMessage",
  description: "The provider accepted the message and gave it an id (specification §2)."
}).pipe(Example.shown({
  status: "sent",
  message_id: Example.sent.id,
  provider_message_id: Example.sent.providerId,
  tenant_id: Example.workspace,
  api_key_id: Example.apiKey
}))

/** The body of a request to mark a customer's message as read. */
export const MarkRead = Schema.Struct({
  typing: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Whether the customer sees that somebody types"
  })
}).annotate({ identifier: "MarkRead", description: "How a customer's message is marked as read (contract §9)." }).pipe(
  Example.shown({ typing: true })
)

/** The answer to it. */
export const ReadMessage = Schema.Struct({
  message_id: Schema.String,
  status: Schema.Literal("read")
}).annotate({ identifier: "ReadMessage", description: "A customer's message that was marked as read." }).pipe(
  Example.shown({ message_id: Example.received.id, status: "read" })
)

export const Failure = Schema.Struct({
  code: Schema.String,
  reason: Schema.optionalKey(Schema.String),
  message: Schema.String,
  provider: Schema.optionalKey(Errors.ProviderDetail)
}).annotate({ identifier: "MessageFailure", description: "Why a message failed." })

export const Pricing = Schema.Struct({
  billable: Schema.NullOr(Schema.Boolean).annotateKey({
    description: "Whether it is charged; `null` if the provider says nothing of it"
  }),
  model: Schema.String,
  type: Schema.String,
  category: Schema.String
}).annotate({ identifier: "Pricing", description: "The price of a message, as the provider reported it." })

/** The content of a message, under the name of its type. */
const contentFields = Record.map(
  Message.contents,
  () => Schema.optionalKey(Schema.Json)
) as { readonly [Kind in Message.MessageType]: Schema.optionalKey<typeof Schema.Json> }

const fields = {
  direction: Schema.Literal("outbound"),
  status: Message.MessageStatus,
  messageId: Schema.String,
  providerMessageId: Schema.NullOr(Schema.String),
  workspaceId: Schema.String,
  apiKeyId: Schema.NullOr(Schema.String).annotate({ description: "`null` if a person sent it from the dashboard" }),
  to: Schema.String,
  from: Schema.String,
  type: Message.MessageType,
  createdAt: Timestamp,
  sentAt: Schema.NullOr(Timestamp),
  deliveredAt: Schema.NullOr(Timestamp),
  readAt: Schema.NullOr(Timestamp),
  failedAt: Schema.NullOr(Timestamp),
  error: Schema.NullOr(Failure),
  clientReference: Schema.NullOr(Schema.String),
  pricing: Schema.NullOr(Pricing).annotateKey({ description: "`null` if the provider reported nothing" }),
  playedAt: Schema.NullOr(Timestamp).annotateKey({ description: "When the customer played the voice message" }),
  context: Schema.optionalKey(Message.Quoted).annotateKey({ description: "The message that it quotes, by our id" }),
  ...contentFields
}

const Stored = Schema.Struct(fields).annotate({
  description:
    "A message that was sent, or is to be; times are ISO 8601 in UTC (contract §3). In a conversation it has " +
    "its content, under the name of its type: `{}` once that was deleted."
})

/** A message that was sent, or is to be. */
export const StoredMessage = onWire(Stored, "Message", Stored, { workspaceId: "tenant_id" }).pipe(Example.shown({
  direction: "outbound",
  ...Example.of(SentMessage),
  status: "delivered",
  to: Example.customer,
  from: Example.phoneNumber.written,
  type: "template",
  created_at: Example.times.created,
  sent_at: Example.times.sent,
  delivered_at: Example.times.delivered,
  read_at: null,
  failed_at: null,
  error: null,
  client_reference: Example.sent.reference,
  pricing: null,
  played_at: null
}))

const contextMeaning = { description: "The message that it quotes or answers; `null` if none" }

const inbound = {
  direction: Schema.Literal("inbound"),
  status: Schema.Literal("received"),
  message_id: Schema.String,
  provider_message_id: Schema.String,
  tenant_id: Schema.String,
  from: Schema.String.annotate({
    description: "The customer's number, E.164, or their user id if the number is not known. A reply can be sent to it"
  }),
  from_user_id: Schema.NullOr(Schema.String),
  to: Schema.String.annotate({ description: "The workspace's number that they wrote to, E.164" }),
  context: Schema.NullOr(ReceivedContext).annotateKey(contextMeaning),
  received_at: Timestamp.annotateKey({ description: "The message's own time" })
}

/** A message of a customer. What they wrote is answered as it was recorded, whatever its type. */
export const InboundMessage = Schema.StructWithRest(
  Schema.Struct({ ...inbound, type: Schema.String, context: Schema.Json.annotateKey(contextMeaning) }),
  [Schema.Record(Schema.String, Schema.Json)]
).annotate({
  identifier: "InboundMessage",
  description: "A message of a customer (contract §13). `type` names the field that holds what they wrote, as in the " +
    "event `message.received`.",
  intersection: [ReceivedContent, Schema.Struct(inbound)]
}).pipe(Example.shown({
  direction: "inbound",
  status: "received",
  message_id: Example.received.id,
  provider_message_id: Example.received.providerId,
  tenant_id: Example.workspace,
  from: Example.customer,
  from_user_id: null,
  to: Example.phoneNumber.written,
  type: "text",
  text: { body: "Thank you!" },
  context: { message_id: Example.sent.id, provider_message_id: Example.sent.providerId },
  received_at: Example.times.received
}))

/** A message in either direction; `direction` says which. */
export const AnyMessage = Schema.Union([StoredMessage, InboundMessage]).annotate({
  identifier: "AnyMessage",
  description: "A message in either direction: a comparison of `direction` narrows it."
}).pipe(Example.shown(Example.of(StoredMessage)))

const listed = [
  "messageId",
  "status",
  "providerMessageId",
  "apiKeyId",
  "to",
  "from",
  "type",
  "createdAt"
] as const

export const ListedMessage = Schema.Struct(Struct.pick(fields, listed)).pipe(
  Schema.encodeKeys({ messageId: "id" }),
  Schema.annotateEncoded({ identifier: "ListedMessage", description: "A message in the list." }),
  Example.shown({
    status: "delivered",
    id: Example.sent.id,
    providerMessageId: Example.sent.providerId,
    apiKeyId: Example.apiKey,
    to: Example.customer,
    from: Example.phoneNumber.written,
    type: "template",
    createdAt: Example.times.created
  })
)

export const MessageDetail = Schema.Struct(
  Struct.pick(fields, [...listed, "sentAt", "deliveredAt", "readAt", "failedAt", "error", "clientReference"])
).pipe(
  Schema.encodeKeys({ messageId: "id" }),
  Schema.annotateEncoded({
    identifier: "MessageDetail",
    description: "A message with its times and, if it failed, the reason."
  }),
  Example.shown({
    ...Example.of(ListedMessage),
    sentAt: Example.times.sent,
    deliveredAt: Example.times.delivered,
    readAt: null,
    failedAt: null,
    error: null,
    clientReference: Example.sent.reference
  })
)

export const SentFromDashboard = Schema.Struct({
  status: Schema.Literal("sent"),
  messageId: Schema.String,
  providerMessageId: Schema.String,
  tenantId: Schema.String,
  apiKeyId: Schema.Null
}).annotate({ identifier: "SentFromDashboard", description: "A message that was sent from the dashboard." }).pipe(
  Example.shown({
    status: "sent",
    messageId: Example.sent.id,
    providerMessageId: Example.sent.providerId,
    tenantId: Example.workspace,
    apiKeyId: null
  })
)

const name = PlainText.between(1, 255)

const reference = Schema.optionalKey(name.annotate({ description: "Exactly as given in the send" }))

const anyFilter = {
  status: Schema.optionalKey(Message.MessageStatus),
  to: Schema.optionalKey(Addressee.Addressee).annotateKey({
    description: "Any name of a customer; finds what was sent to each of their names"
  }),
  since: Schema.optionalKey(TimeGiven.pipe(described("Only messages created at or after this time"))),
  until: Schema.optionalKey(TimeGiven.pipe(described("Only messages created before this time")))
}

/** The filters of the dashboard's list. */
export const filter = {
  ...anyFilter,
  clientReference: reference,
  providerMessageId: Schema.optionalKey(name.annotate({ description: "The provider's id of the message" }))
}

const query = Schema.Struct({ ...filter, ...pageQuery }).annotate({
  identifier: "InternalMessageQuery",
  description: "The filters of the dashboard's list of messages."
})

/** The parameters of lists of conversations (contract §13). */
export const conversation = {
  contact: Schema.optionalKey(Addressee.Addressee).annotateKey({
    description: "Any name of a customer: lists the conversation with them, in both directions"
  }),
  direction: Schema.optionalKey(Conversation.Direction.annotate({
    description: "Only messages in this direction; without `contact`, `inbound` lists what any customer wrote"
  }))
}

/** The filters of the list under `/v1` (contract §3). */
export const publicFilter = { ...anyFilter, client_reference: reference, ...conversation }

const publicQuery = Schema.Struct({ ...publicFilter, ...pageQuery }).annotate({
  identifier: "MessageQuery",
  description: "The filters of the list of messages (contract §3)."
})

const pageMayBeShort = "With a filter a page ends at the latest after looking at " +
  `${
    MessageStore.lookedAt.toLocaleString("en")
  } messages: it may hold fewer than \`limit\`, or none, even if more follow.`

export class MessagesApi extends HttpApiGroup.make("messages").add(
  HttpApiEndpoint.post("send", "/v1/messages", {
    headers: idempotencyKey(
      ", unique per send; a retry of the same send uses the same key"
    ),
    payload: SendMessage,
    success: SentMessage,
    error: sending
  }).annotate(Example.Shown, { requests: MessageExamples.requests }).annotate(Access, apiKey("messages:send")).annotate(
    NeedsIdempotencyKey,
    true
  ).annotate(BindsIdempotencyKey, true)
    .annotate(Sends, true).annotateMerge(
      OpenApi.annotations({
        summary: "Send a message",
        description:
          "Sends an approved template, or a message of any other kind within 24 hours after the recipient last wrote. " +
          `A retry with the same ${Idempotency.header} is never sent twice.`
      })
    ),
  HttpApiEndpoint.post("read", "/v1/messages/:id/read", {
    params: byId,
    headers: idempotencyKey("; the same again for a retry of the same request"),
    payload: MarkRead,
    success: ReadMessage,
    error: asking
  }).annotate(Access, apiKey("messages:send")).annotate(NeedsIdempotencyKey, true).annotate(BindsIdempotencyKey, true)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Mark a customer's message as read",
        description:
          "The customer sees that it was read and, if `typing` is true, a typing indicator for up to 25 seconds. " +
          "Counts against neither the quota nor the messaging limit. If the provider fails, a retry asks it again."
      })
    ),
  HttpApiEndpoint.get("list", "/v1/messages", {
    query: publicQuery,
    success: listOf(AnyMessage),
    error: reading
  }).annotate(Example.Shown, { response: Example.page([Example.of(InboundMessage), Example.of(StoredMessage)]) })
    .annotate(Access, apiKey("messages:read")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
      summary: "List messages",
      description:
        "All messages that the workspace sent, with their current state, newest first; with `contact`, the " +
        "conversation with one customer in both directions, which no other filter than `direction` narrows. " +
        pageMayBeShort
    })),
  HttpApiEndpoint.get("get", "/v1/messages/:id", {
    params: byId,
    query: noQuery,
    success: AnyMessage,
    error: reading
  }).annotate(Access, apiKey("messages:read")).annotateMerge(
    OpenApi.annotations({
      summary: "Get a message",
      description: "Any message of the workspace with its current state, or a customer's message."
    })
  )
).middleware(ApiKeyAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Messages", description: "Send messages and follow their state." })
) {}

/** Messages as the dashboard shows them. */
export class MessagesDashboardApi extends HttpApiGroup.make("messagesDashboard").add(
  HttpApiEndpoint.post("send", "/internal/messages", {
    headers: idempotencyKey(
      ", unique per send; a retry of the same send uses the same key"
    ),
    payload: SendMessage,
    success: SentFromDashboard,
    error: sending
  }).annotate(Example.Shown, { request: MessageExamples.template }).annotate(Access, session("developer")).annotate(
    Audited,
    "message.send"
  ).annotate(NeedsIdempotencyKey, true)
    .annotate(BindsIdempotencyKey, true)
    .annotate(Sends, true).annotateMerge(
      OpenApi.annotations({
        summary: "Send a message from the dashboard",
        description: "Checked and limited like a send with an API key. The two do not share Idempotency-Keys."
      })
    ),
  HttpApiEndpoint.get("list", "/internal/messages", {
    query,
    success: internalListOf(ListedMessage),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List messages",
    description: `Newest first. ${pageMayBeShort}`
  })),
  HttpApiEndpoint.get("get", "/internal/messages/:id", {
    params: byId,
    query: noQuery,
    success: MessageDetail,
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "Get a message",
    description: "Includes the message's times and, if it failed, the reason."
  }))
).middleware(SessionAuthentication).annotateMerge(OpenApi.annotations({
  title: "Messages (dashboard)",
  description: "Send messages as a person, and follow the state of all messages."
})) {}
