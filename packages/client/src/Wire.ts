/**
 * The requests and responses of `/v1`, in plain types. The server follows the API definition of `@wac/api`; a type test
 * compares these types with it.
 */
import type { Json } from "./Json.ts"
import type { FreeFormContents, FreeFormType, TemplateContent } from "./MessageContents.ts"
export type { Page } from "./Page.ts"
import type { ReceivedContent, ReceivedContext } from "./ReceivedContent.ts"

/** The fields of every send. */
interface Addressing {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly client_reference?: string
}

/** An approved template (specification §4). */
export interface SendTemplate extends Addressing {
  readonly type: "template"
  readonly template: TemplateContent
}

/** A message of any other kind, within 24 hours after the recipient last wrote (contract §9). */
export type SendFreeForm = {
  readonly [Kind in FreeFormType]: Flat<
    & Addressing
    & { readonly type: Kind }
    & { readonly [Name in Kind]: FreeFormContents[Kind] }
    & (Kind extends "reaction" ? unknown : Quoting)
  >
}[FreeFormType]

type Flat<T> = { readonly [Field in keyof T]: T[Field] }

interface Quoting {
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: { readonly message_id: string }
}

/** A message to be sent. */
export type SendMessage = SendTemplate | SendFreeForm

/** The provider accepted the message and gave it an id (specification §2). */
export interface SentMessage {
  readonly status: "sent"
  readonly message_id: string
  readonly provider_message_id: string
  readonly tenant_id: string
  readonly api_key_id: string
}

/** How a customer's message is marked as read (contract §9). */
export interface MarkRead {
  /** Whether the customer sees that somebody types. */
  readonly typing?: boolean
}

/** A customer's message that was marked as read. */
export interface ReadMessage {
  readonly message_id: string
  readonly status: "read"
}

/** A file of the workspace. */
export interface Media {
  readonly media_id: string
  /** As detected from the bytes. */
  readonly mime_type: string
  /** In bytes. */
  readonly size: number
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string
  readonly filename: string | null
  /** When it is deleted unless it is used before. */
  readonly expires_at: string
}

/** For which number a customer is opted out or in. */
export interface ChooseOptOut {
  /** The id of a phone number of the workspace; if omitted, all of its numbers. */
  readonly phone_number_id?: string
}

/** What holds for a customer after a choice. */
export interface OptOut {
  /** The name as it was given. */
  readonly contact: string
  readonly opted_out: boolean
  /** `null` if the customer is not opted out. */
  readonly opted_out_at: string | null
  /** Who opted the customer out; `null` if nobody did. */
  readonly source: "customer" | "provider" | "api" | "person" | "import" | null
}

/** What the upstream provider said. */
export interface ProviderDetail {
  readonly code: string
  readonly message: string
}

/** Why a message failed. */
export interface MessageFailure {
  readonly code: string
  readonly reason?: string
  readonly message: string
  readonly provider?: ProviderDetail
}

/** What has become of a message (contract §3). */
export type MessageStatus = "queued" | "sending" | "unknown" | "sent" | "delivered" | "read" | "failed" | "skipped"

/** The kinds of message. */
export type MessageType = "template" | FreeFormType

/** What the provider reported about the price of a message. */
export interface Pricing {
  /** Whether it is charged; `null` if the provider says nothing of it. */
  readonly billable: boolean | null
  readonly model: string
  readonly type: string
  readonly category: string
}

/**
 * A message that was sent, or is to be; times are ISO 8601 in UTC (contract §3). In a conversation it has its content,
 * under the name of its type: `{}` once that was deleted.
 */
export interface Message extends MessageContent {
  readonly direction: "outbound"
  readonly status: MessageStatus
  readonly message_id: string
  readonly provider_message_id: string | null
  readonly tenant_id: string
  /** `null` if a person sent it from the dashboard. */
  readonly api_key_id: string | null
  readonly to: string
  readonly from: string
  readonly type: MessageType
  readonly created_at: string
  readonly sent_at: string | null
  readonly delivered_at: string | null
  readonly read_at: string | null
  readonly failed_at: string | null
  readonly error: MessageFailure | null
  readonly client_reference: string | null
  /** `null` if the provider reported nothing. */
  readonly pricing: Pricing | null
  readonly played_at: string | null
  /** The message that it quotes, by our id. */
  readonly context?: { readonly message_id: string }
}

/** What a message of a conversation said, under the name of its type. */
type MessageContent = { readonly [Kind in MessageType]?: Json }

/**
 * A message of a customer (contract §13). `type` names the field that holds what they wrote, as in `message.received`.
 */
export type InboundMessage = ReceivedContent & {
  readonly direction: "inbound"
  readonly status: "received"
  readonly message_id: string
  readonly provider_message_id: string
  readonly tenant_id: string
  /** The customer's number, E.164, or their user id if the provider reports no number. A reply can be sent to it. */
  readonly from: string
  readonly from_user_id: string | null
  /** The workspace's number that they wrote to, E.164. */
  readonly to: string
  readonly context: ReceivedContext | null
  /** The message's own time. */
  readonly received_at: string
}

/** A message in either direction: a comparison of `direction` narrows it. */
export type AnyMessage = Message | InboundMessage

/** A template of any status (contract §7). */
export interface Template {
  readonly id: string
  readonly name: string
  readonly language: string
  readonly category: string
  readonly status: string
  readonly parameter_format: "positional" | "named"
  readonly components: ReadonlyArray<Json>
  /** Placeholders of the body, in the order in which `bodyParams` fills them. */
  readonly variables: ReadonlyArray<string>
  readonly quality: string | null
  readonly rejection_reason: string | null
  readonly provider_template_id: string
  readonly synced_at: string
}
