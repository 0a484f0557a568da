/**
 * `/v1/messages` and `/internal/messages` (specification §4, contract §3): sending, reading and cancelling messages.
 */
import { Addressee, Batch, Conversation, Errors, Idempotency, Message, PlainText, SendTimes } from "@wac/core"
import { Duration, Record, Schema, SchemaAST, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, apiKey, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { ApiKeyAuthentication, SessionAuthentication } from "../Caller.ts"
import { described, describedAs } from "../Described.ts"
import {
  BindsIdempotencyKey,
  BodyLimit,
  CancelsMessage,
  IsPaged,
  IsRepeatable,
  NeedsIdempotencyKey,
  providerRefusals,
  ProviderRefuses,
  Sends
} from "../EndpointAnnotations.ts"
import { reading, sending, writing, writingProvider } from "../EndpointErrors.ts"
import * as ErrorAddress from "../ErrorAddress.ts"
import { ErrorBody } from "../ErrorBody.ts"
import { ReceivedContent, ReceivedContext } from "../events/ReceivedContent.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, listOf, noQuery, pageQuery, shortPage } from "../Lists.ts"
import { byId, idempotencyKey, prefer } from "../Parameters.ts"
import { onWire } from "../SnakeCase.ts"
import { TimeGiven, Timestamp } from "../Timestamp.ts"
import * as MessageExamples from "./MessageExamples.ts"

/** The times of a message to be sent later (contract §15). */
export const sendTimes = {
  sendAt: Schema.optionalKey(TimeGiven.pipe(described(
    "Queues the message, to be sent at this time: at most " +
      `${Duration.toDays(SendTimes.longest)} days ahead; the past means now`
  ))),
  sendUntil: Schema.optionalKey(TimeGiven.pipe(described(
    "Until when a queued message is tried, if something temporary holds it up; " +
      `${Duration.toHours(SendTimes.standardTrial)} hours after \`send_at\` if omitted`
  )))
}

const names = { clientReference: "client_reference", sendAt: "send_at", sendUntil: "send_until" } as const

type KindsOnWire<Kinds extends { readonly [kind: string]: Schema.Struct<Schema.Struct.Fields> }> = {
  readonly [Kind in keyof Kinds]: Schema.encodeKeys<
    Schema.Struct<Kinds[Kind]["fields"] & typeof sendTimes>,
    typeof names
  >
}

const kindsOnWire = <Kinds extends { readonly [kind: string]: Schema.Struct<Schema.Struct.Fields> }>(
  kinds: Kinds
): KindsOnWire<Kinds> =>
  Record.map(
    kinds,
    (kind) =>
      Schema.Struct({ ...kind.fields, ...sendTimes }).annotate(SchemaAST.resolve(kind.ast) ?? {}).pipe(
        Schema.encodeKeys(names as never),
        describedAs(kind)
      )
  ) as never

/** The schema of each kind of message. Contents already have the provider's names, except a text's. */
const outbounds = Message.outbounds({
  ...Message.contents,
  text: Message.TextContent.pipe(Schema.encodeKeys({ previewUrl: "preview_url" }), describedAs(Message.TextContent))
})

/** A message to be sent, for hosts: its content has the names of {@link SendMessage}, the rest is in camelCase. */
export const NewMessage = Schema.Union(Object.values(outbounds)).annotate({
  identifier: "SendMessage",
  description: "A message to be sent. A comparison of `type` narrows it."
})

const kinds = kindsOnWire(outbounds)

/**
 * A message with the names of {@link SendMessage}, but without its times, which are stored separately (contract §16).
 */
export const EnqueuedMessage: Schema.Codec<Message.OutboundMessage, object> = Schema.Union(Object.values(
  Record.map(outbounds, (kind) => kind.pipe(Schema.encodeKeys({ clientReference: names.clientReference } as never)))
)) as never

/**
 * The body of a send. Its names are in snake_case, except within templates, where the specification has names such as
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
  message_id: ExampleValues.sent.id,
  provider_message_id: ExampleValues.sent.providerId,
  tenant_id: ExampleValues.workspace,
  api_key_id: ExampleValues.apiKey
}))

/** The response to a send for later (contract §15). */
export const QueuedMessage = Schema.Struct({
  status: Schema.Literal("queued"),
  message_id: Schema.String,
  tenant_id: Schema.String,
  api_key_id: Schema.String,
  send_at: Timestamp.annotateKey({ description: "The message is not sent before this time" })
}).annotate({
  identifier: "QueuedMessage",
  description: "The message is queued: it is sent at its time, and events report what becomes of it (contract §15)."
}).pipe(Example.shown({
  status: "queued",
  message_id: ExampleValues.sent.id,
  tenant_id: ExampleValues.workspace,
  api_key_id: ExampleValues.apiKey,
  send_at: ExampleValues.times.nextDay
}))

/**
 * A message of a batch. The handler decodes each by {@link SendMessage}, so that an invalid one is refused alone.
 */
const BatchItem = Schema.Record(Schema.String, Schema.Unknown).annotate({
  identifier: "BatchItem",
  description: "A message as in `POST /v1/messages`, and its `idempotency_key`.",
  intersection: [
    SendMessage,
    Schema.Struct({
      idempotency_key: Schema.String.annotateKey({
        description: "The Idempotency-Key of `POST /v1/messages` for this message: unique per send"
      })
    })
  ]
})

/** The body of a batch (contract §15). */
export const SendBatch = Schema.Struct({
  messages: Schema.Array(BatchItem).check(Schema.isMinLength(1), Schema.isMaxLength(Batch.maxMessages)).annotateKey({
    description: `1 to ${Batch.maxMessages} messages`
  })
}).annotate({ identifier: "SendBatch", description: "Messages to be queued together (contract §15)." }).pipe(
  Example.shown({
    messages: [
      { idempotency_key: "order-1042", ...MessageExamples.template },
      { idempotency_key: "order-1043", ...MessageExamples.template, send_at: ExampleValues.times.nextDay }
    ]
  })
)

/** The refusal of a message of a batch. */
export const RefusedMessage = Schema.Struct({
  status: Schema.Literal("refused"),
  http_status: Schema.Int.annotate({ description: "The status with which `POST /v1/messages` would have refused it" }),
  retry_after: Schema.optionalKey(Schema.Int).annotate({
    description: "In how many seconds the message can be queued again, as `Retry-After` would have told it"
  }),
  error: ErrorBody.fields.error
}).annotate({ identifier: "RefusedMessage", description: "A message of a batch that was not queued, and why." })

/** The results of a batch, in the order of its messages. */
export const BatchResults = Schema.Struct({
  results: Schema.Array(
    Schema.Union([QueuedMessage, SentMessage, RefusedMessage]).annotate({
      identifier: "BatchResult",
      description: "What became of a message of a batch: a comparison of `status` narrows it. `sent` if its key was " +
        "used to send it at once."
    })
  )
}).annotate({
  identifier: "BatchResults",
  description: "The results of a batch, one per message and in their order."
}).pipe(Example.shown({
  results: [
    Example.of(QueuedMessage),
    {
      status: "refused",
      http_status: 403,
      error: {
        code: "forbidden",
        message: "there is no template order_update in en_US",
        reason: "template_not_found",
        param: "template.name",
        request_id: ExampleValues.request,
        doc_url: ErrorAddress.of(`https://wac.example.com${ErrorAddress.path}`, {
          code: "forbidden",
          reason: "template_not_found"
        })
      }
    }
  ]
}))

/** The body of a request to mark a customer's message as read. */
export const MarkRead = Schema.Struct({
  typing: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "Whether the customer sees that somebody types"
  })
}).annotate({ identifier: "MarkRead", description: "How a customer's message is marked as read (contract §9)." }).pipe(
  Example.shown({ typing: true })
)

/** The response to {@link MarkRead}. */
export const ReadMessage = Schema.Struct({
  message_id: Schema.String,
  status: Schema.Literal("read")
}).annotate({ identifier: "ReadMessage", description: "A customer's message that was marked as read." }).pipe(
  Example.shown({ message_id: ExampleValues.received.id, status: "read" })
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
  apiKeyId: Schema.NullOr(Schema.String).annotate({
    description:
      "`null` if it came without one: from the dashboard, the outbox or an operator's retry, or of a campaign"
  }),
  to: Schema.String,
  from: Schema.String,
  type: Message.MessageType,
  createdAt: Timestamp,
  sendAt: Schema.NullOr(Timestamp).annotateKey({
    description: "The time before which it is not sent; `null` unless its caller queued it"
  }),
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
  to: ExampleValues.customer,
  from: ExampleValues.phoneNumber.written,
  type: "template",
  created_at: ExampleValues.times.created,
  send_at: null,
  sent_at: ExampleValues.times.sent,
  delivered_at: ExampleValues.times.delivered,
  read_at: null,
  failed_at: null,
  error: null,
  client_reference: ExampleValues.sent.reference,
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

/** A customer's message. Its content is returned as it was recorded, whatever its type. */
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
  message_id: ExampleValues.received.id,
  provider_message_id: ExampleValues.received.providerId,
  tenant_id: ExampleValues.workspace,
  from: ExampleValues.customer,
  from_user_id: null,
  to: ExampleValues.phoneNumber.written,
  type: "text",
  text: { body: "Thank you!" },
  context: { message_id: ExampleValues.sent.id, provider_message_id: ExampleValues.sent.providerId },
  received_at: ExampleValues.times.received
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
  "createdAt",
  "sendAt"
] as const

export const ListedMessage = Schema.Struct(Struct.pick(fields, listed)).pipe(
  Schema.encodeKeys({ messageId: "id" }),
  Schema.annotateEncoded({ identifier: "ListedMessage", description: "A message in the list." }),
  Example.shown({
    status: "delivered",
    id: ExampleValues.sent.id,
    providerMessageId: ExampleValues.sent.providerId,
    apiKeyId: ExampleValues.apiKey,
    to: ExampleValues.customer,
    from: ExampleValues.phoneNumber.written,
    type: "template",
    createdAt: ExampleValues.times.created,
    sendAt: null
  })
)

export const MessageDetail = Schema.Struct({
  ...Struct.pick(fields, [
    ...listed,
    "sentAt",
    "deliveredAt",
    "readAt",
    "playedAt",
    "failedAt",
    "error",
    "clientReference",
    "pricing"
  ]),
  campaignId: Schema.NullOr(Schema.String).annotateKey({
    description: "The campaign whose recipient it is; `null` if none"
  }),
  content: Schema.Json.annotateKey({ description: "What was sent, as in the request; `{}` once it was deleted" }),
  context: Schema.NullOr(Message.Quoted).annotateKey({ description: "The message that it quotes; `null` if none" })
}).pipe(
  Schema.encodeKeys({ messageId: "id" }),
  Schema.annotateEncoded({
    identifier: "MessageDetail",
    description: "A message with its content, its times and, if it failed, the reason."
  }),
  Example.shown({
    ...Example.of(ListedMessage),
    sentAt: ExampleValues.times.sent,
    deliveredAt: ExampleValues.times.delivered,
    readAt: null,
    playedAt: null,
    failedAt: null,
    error: null,
    clientReference: ExampleValues.sent.reference,
    pricing: null,
    campaignId: null,
    content: ExampleValues.template,
    context: null
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
    messageId: ExampleValues.sent.id,
    providerMessageId: ExampleValues.sent.providerId,
    tenantId: ExampleValues.workspace,
    apiKeyId: null
  })
)

export const QueuedFromDashboard = Schema.Struct({
  status: Schema.Literal("queued"),
  messageId: Schema.String,
  tenantId: Schema.String,
  apiKeyId: Schema.Null,
  sendAt: Timestamp
}).annotate({
  identifier: "QueuedFromDashboard",
  description: "A message that was queued from the dashboard, to be sent later."
}).pipe(
  Example.shown({
    status: "queued",
    messageId: ExampleValues.sent.id,
    tenantId: ExampleValues.workspace,
    apiKeyId: null,
    sendAt: ExampleValues.times.nextDay
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

/** The state of a message that was cancelled. */
const cancelled = {
  status: "cancelled",
  provider_message_id: null,
  send_at: ExampleValues.times.nextDay,
  sent_at: null,
  delivered_at: null
} as const

/** The words of descriptions for the messages that lists leave out (`Campaign.isUnstarted`). */
const noUnstarted = "without those of campaigns that nobody has started"

const pageMayBeShort = shortPage("With a filter, or beside such a campaign,", "messages")

export class MessagesApi extends HttpApiGroup.make("messages").add(
  HttpApiEndpoint.post("send", "/v1/messages", {
    headers: {
      ...idempotencyKey(", unique per send; a retry of the same send uses the same key"),
      ...prefer
    },
    payload: SendMessage,
    success: [SentMessage, QueuedMessage.pipe(HttpApiSchema.status(202))],
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
          `A retry with the same ${Idempotency.header} is never sent twice. With \`send_at\`, or the header ` +
          "`Prefer: respond-async`, it queues the message after all checks that are possible by then, and answers 202; " +
          "what may change until it is sent is judged then, and a refusal is its `message.failed`. A key answers as it " +
          "did first, with or without `Prefer`."
      })
    ),
  HttpApiEndpoint.post("batch", "/v1/messages/batch", {
    headers: idempotencyKey("; the same again for a retry of the same batch"),
    payload: SendBatch,
    success: BatchResults,
    error: writing
  }).annotate(Access, apiKey("messages:send")).annotate(NeedsIdempotencyKey, true).annotate(IsRepeatable, true)
    .annotate(BodyLimit, 1024 * 1024)
    .annotateMerge(OpenApi.annotations({
      summary: "Queue several messages",
      description:
        `Queues 1 to ${Batch.maxMessages} messages, each as \`POST /v1/messages\` with \`Prefer: respond-async\` and its ` +
        "`idempotency_key` would; the results are in their order, and the refusal of one is its own. The body may have " +
        `1 MiB. Spends one of the workspace's tokens for every ${Batch.messagesPerToken} messages. After a refusal that may be ` +
        "repeated, repeat the message under its own key in another batch."
    })),
  HttpApiEndpoint.post("read", "/v1/messages/:id/read", {
    params: byId,
    headers: idempotencyKey("; the same again for a retry of the same request"),
    payload: MarkRead,
    success: ReadMessage,
    error: writingProvider
  }).annotate(Access, apiKey("messages:send")).annotate(NeedsIdempotencyKey, true).annotate(BindsIdempotencyKey, true)
    .annotate(ProviderRefuses, providerRefusals).annotateMerge(
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
        `All messages that the workspace sent, with their current state, newest first, ${noUnstarted}; with ` +
        "`contact`, the conversation with one customer in both directions, which no other filter than `direction` " +
        `narrows. ${pageMayBeShort}`
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
  ),
  HttpApiEndpoint.delete("cancel", "/v1/messages/:id", {
    params: byId,
    success: StoredMessage,
    error: reading
  }).annotate(Example.Shown, { response: { ...Example.of(StoredMessage), ...cancelled } }).annotate(
    Access,
    apiKey("messages:send")
  ).annotate(CancelsMessage, true).annotateMerge(OpenApi.annotations({
    summary: "Cancel a queued message",
    description: "Once this has succeeded, the message is never sent, and it has no event; the same again changes " +
      "nothing. A message that was sent, or whose sending has begun, is not cancelled (403 `already_sent`)."
  }))
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
    success: [SentFromDashboard, QueuedFromDashboard.pipe(HttpApiSchema.status(202))],
    error: sending
  }).annotate(Example.Shown, { request: MessageExamples.template }).annotate(Access, session("developer")).annotate(
    Audited,
    "message.send"
  ).annotate(NeedsIdempotencyKey, true)
    .annotate(BindsIdempotencyKey, true)
    .annotate(Sends, true).annotateMerge(
      OpenApi.annotations({
        summary: "Send a message from the dashboard",
        description: "Checked and limited like a send with an API key. The two do not share Idempotency-Keys. With " +
          "`send_at` it queues the message and answers 202."
      })
    ),
  HttpApiEndpoint.get("list", "/internal/messages", {
    query,
    success: internalListOf(ListedMessage),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List messages",
    description: `Newest first, ${noUnstarted}. ${pageMayBeShort}`
  })),
  HttpApiEndpoint.get("get", "/internal/messages/:id", {
    params: byId,
    query: noQuery,
    success: MessageDetail,
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "Get a message",
    description: "Includes the message's content, its times and, if it failed, the reason."
  })),
  HttpApiEndpoint.delete("cancel", "/internal/messages/:id", {
    params: byId,
    success: MessageDetail,
    error: reading
  }).annotate(Example.Shown, {
    response: {
      ...Example.of(MessageDetail),
      status: "cancelled",
      providerMessageId: null,
      sendAt: ExampleValues.times.nextDay,
      sentAt: null,
      deliveredAt: null
    }
  }).annotate(Access, session("developer")).annotate(Audited, "message.cancel").annotate(CancelsMessage, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Cancel a queued message",
      description: "As `DELETE /v1/messages/{id}`: once this has succeeded, the message is never sent."
    }))
).middleware(SessionAuthentication).annotateMerge(OpenApi.annotations({
  title: "Messages (dashboard)",
  description: "Send messages as a person, and follow the state of all messages."
})) {}
