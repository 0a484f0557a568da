/** The requests and responses of `/v1`. Written from the API definition; do not edit. */
import type {
  Event,
  EventType,
  MessageFailure,
  Pricing,
  ProviderDetail,
  ReceivedContent,
  ReceivedContext
} from "./Event.ts"
import type {
  AudioContent,
  CaptionedContent,
  ContactContent,
  DocumentContent,
  FileContent,
  InteractiveContent,
  LocationContent,
  MessageStatus,
  MessageType,
  ReactionContent,
  TemplateContent,
  TextContent
} from "./MessageContents.ts"
import type { Json } from "../Json.ts"
import type { Page } from "../Page.ts"

/** A message to be sent. A comparison of `type` narrows it. */
export type SendMessage =
  | SendTemplate
  | SendText
  | SendImage
  | SendAudio
  | SendVideo
  | SendDocument
  | SendSticker
  | SendLocation
  | SendContacts
  | SendInteractive
  | SendReaction

/** Sends an approved template. */
export interface SendTemplate {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly client_reference?: string
  readonly type: "template"
  readonly template: TemplateContent
  /** Queues the message, to be sent at this time: at most 90 days ahead; the past means now. */
  readonly send_at?: string
  /** Until when a queued message is tried, if something temporary holds it up; 24 hours after `send_at` if omitted. */
  readonly send_until?: string
}

/** Sends a text, within 24 hours after the recipient last wrote. */
export interface SendText {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly client_reference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "text"
  readonly text: TextContent
  /** Queues the message, to be sent at this time: at most 90 days ahead; the past means now. */
  readonly send_at?: string
  /** Until when a queued message is tried, if something temporary holds it up; 24 hours after `send_at` if omitted. */
  readonly send_until?: string
}

/** Sends a message of kind `image`, within 24 hours after the recipient last wrote. */
export interface SendImage {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly client_reference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "image"
  readonly image: CaptionedContent
  /** Queues the message, to be sent at this time: at most 90 days ahead; the past means now. */
  readonly send_at?: string
  /** Until when a queued message is tried, if something temporary holds it up; 24 hours after `send_at` if omitted. */
  readonly send_until?: string
}

/** Sends a message of kind `audio`, within 24 hours after the recipient last wrote. */
export interface SendAudio {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly client_reference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "audio"
  readonly audio: AudioContent
  /** Queues the message, to be sent at this time: at most 90 days ahead; the past means now. */
  readonly send_at?: string
  /** Until when a queued message is tried, if something temporary holds it up; 24 hours after `send_at` if omitted. */
  readonly send_until?: string
}

/** Sends a message of kind `video`, within 24 hours after the recipient last wrote. */
export interface SendVideo {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly client_reference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "video"
  readonly video: CaptionedContent
  /** Queues the message, to be sent at this time: at most 90 days ahead; the past means now. */
  readonly send_at?: string
  /** Until when a queued message is tried, if something temporary holds it up; 24 hours after `send_at` if omitted. */
  readonly send_until?: string
}

/** Sends a message of kind `document`, within 24 hours after the recipient last wrote. */
export interface SendDocument {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly client_reference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "document"
  readonly document: DocumentContent
  /** Queues the message, to be sent at this time: at most 90 days ahead; the past means now. */
  readonly send_at?: string
  /** Until when a queued message is tried, if something temporary holds it up; 24 hours after `send_at` if omitted. */
  readonly send_until?: string
}

/** Sends a message of kind `sticker`, within 24 hours after the recipient last wrote. */
export interface SendSticker {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly client_reference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "sticker"
  readonly sticker: FileContent
  /** Queues the message, to be sent at this time: at most 90 days ahead; the past means now. */
  readonly send_at?: string
  /** Until when a queued message is tried, if something temporary holds it up; 24 hours after `send_at` if omitted. */
  readonly send_until?: string
}

/** Sends a message of kind `location`, within 24 hours after the recipient last wrote. */
export interface SendLocation {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly client_reference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "location"
  readonly location: LocationContent
  /** Queues the message, to be sent at this time: at most 90 days ahead; the past means now. */
  readonly send_at?: string
  /** Until when a queued message is tried, if something temporary holds it up; 24 hours after `send_at` if omitted. */
  readonly send_until?: string
}

/** Sends a message of kind `contacts`, within 24 hours after the recipient last wrote. */
export interface SendContacts {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly client_reference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "contacts"
  readonly contacts: ReadonlyArray<ContactContent>
  /** Queues the message, to be sent at this time: at most 90 days ahead; the past means now. */
  readonly send_at?: string
  /** Until when a queued message is tried, if something temporary holds it up; 24 hours after `send_at` if omitted. */
  readonly send_until?: string
}

/** Sends a message of kind `interactive`, within 24 hours after the recipient last wrote. */
export interface SendInteractive {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly client_reference?: string
  /** Quotes a message of the same conversation, sent or received, by its `msg_…` id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly type: "interactive"
  readonly interactive: InteractiveContent
  /** Queues the message, to be sent at this time: at most 90 days ahead; the past means now. */
  readonly send_at?: string
  /** Until when a queued message is tried, if something temporary holds it up; 24 hours after `send_at` if omitted. */
  readonly send_until?: string
}

/** Sends a message of kind `reaction`, within 24 hours after the recipient last wrote. */
export interface SendReaction {
  /** A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`). */
  readonly to: string
  /** A phone number of the workspace, by id or in E.164; defaults to the workspace's default number. */
  readonly from?: string
  /** Echoed in this message's events; at most 255 characters. */
  readonly client_reference?: string
  readonly type: "reaction"
  readonly reaction: ReactionContent
  /** Queues the message, to be sent at this time: at most 90 days ahead; the past means now. */
  readonly send_at?: string
  /** Until when a queued message is tried, if something temporary holds it up; 24 hours after `send_at` if omitted. */
  readonly send_until?: string
}

/** The provider accepted the message and gave it an id (specification §2). */
export interface SentMessage {
  readonly status: "sent"
  readonly message_id: string
  readonly provider_message_id: string
  readonly tenant_id: string
  readonly api_key_id: string
}

/** The message is queued: it is sent at its time, and events report what becomes of it (contract §15). */
export interface QueuedMessage {
  readonly status: "queued"
  readonly message_id: string
  readonly tenant_id: string
  readonly api_key_id: string
  /** The message is not sent before this time. */
  readonly send_at: string
}

/** Messages to be queued together (contract §15). */
export interface SendBatch {
  /** 1 to 500 messages. */
  readonly messages: ReadonlyArray<BatchItem>
}

/** A message as in `POST /v1/messages`, and its `idempotency_key`. */
export type BatchItem = SendMessage & {
  /** The Idempotency-Key of `POST /v1/messages` for this message: unique per send. */
  readonly idempotency_key: string
}

/** The results of a batch, one per message and in their order. */
export interface BatchResults {
  readonly results: ReadonlyArray<BatchResult>
}

/**
 * What became of a message of a batch: a comparison of `status` narrows it. `sent` if its key was used to send it at
 * once.
 */
export type BatchResult = QueuedMessage | SentMessage | RefusedMessage

/** A message of a batch that was not queued, and why. */
export interface RefusedMessage {
  readonly status: "refused"
  /** The status with which `POST /v1/messages` would have refused it. */
  readonly http_status: number
  /** In how many seconds the message can be queued again, as `Retry-After` would have told it. */
  readonly retry_after?: number
  readonly error: {
    readonly code:
      | "invalid_body"
      | "unauthorized"
      | "forbidden"
      | "idempotency_conflict"
      | "rate_limited"
      | "server_error"
      | "not_found"
    readonly message: string
    readonly reason?: string
    readonly param?: string
    readonly challenge?: string
    readonly request_id: string
    readonly doc_url: string
    readonly provider?: ProviderDetail
  }
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

/** A message in either direction: a comparison of `direction` narrows it. */
export type AnyMessage = Message | InboundMessage

/**
 * A message that was sent, or is to be; times are ISO 8601 in UTC (contract §3). In a conversation it has its content,
 * under the name of its type: `{}` once that was deleted.
 */
export interface Message {
  readonly direction: "outbound"
  readonly status: MessageStatus
  readonly message_id: string
  readonly provider_message_id: string | null
  readonly tenant_id: string
  /** `null` if it came without one: from the dashboard, the outbox or an operator's retry, or of a campaign. */
  readonly api_key_id: string | null
  readonly to: string
  readonly from: string
  readonly type: MessageType
  readonly created_at: string
  /** The time before which it is not sent; `null` unless its caller queued it. */
  readonly send_at: string | null
  readonly sent_at: string | null
  readonly delivered_at: string | null
  readonly read_at: string | null
  readonly failed_at: string | null
  readonly error: MessageFailure | null
  readonly client_reference: string | null
  /** `null` if the provider reported nothing. */
  readonly pricing: Pricing | null
  /** When the customer played the voice message. */
  readonly played_at: string | null
  /** The message that it quotes, by our id. */
  readonly context?: {
    readonly message_id: string
  }
  readonly template?: Json
  readonly text?: Json
  readonly image?: Json
  readonly audio?: Json
  readonly video?: Json
  readonly document?: Json
  readonly sticker?: Json
  readonly location?: Json
  readonly contacts?: Json
  readonly interactive?: Json
  readonly reaction?: Json
}

/**
 * A message of a customer (contract §13). `type` names the field that holds what they wrote, as in the event
 * `message.received`.
 */
export type InboundMessage = ReceivedContent & {
  readonly direction: "inbound"
  readonly status: "received"
  readonly message_id: string
  readonly provider_message_id: string
  readonly tenant_id: string
  /** The customer's number, E.164, or their user id if the number is not known. A reply can be sent to it. */
  readonly from: string
  readonly from_user_id: string | null
  /** The workspace's number that they wrote to, E.164. */
  readonly to: string
  /** The message that it quotes or answers; `null` if none. */
  readonly context: ReceivedContext | null
  /** The message's own time. */
  readonly received_at: string
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

/** A new campaign. */
export interface CreatePublicCampaign {
  readonly name: string
  /** The template, as in a send. `{{name}}` in a value is replaced by each recipient's variable of that name. */
  readonly template: TemplateContent
  /** A second variant of the template: half of the customers, chosen by chance, get it. */
  readonly template_b?: TemplateContent
  /**
   * A phone number of the workspace, by id or in E.164; defaults to the number that is the default when the recipients
   * are checked.
   */
  readonly from?: string
  /** When it starts, once it was started; defaults to that moment. */
  readonly start_at?: string
  /** Nothing is sent after this time; defaults to 24 hours after the start. */
  readonly not_after?: string
  /** When nothing is sent, by each recipient's own clock. */
  readonly quiet_hours?: QuietHours
  /** The share of the phone number's rate that it may use; defaults to 0.5. */
  readonly share?: number
  /** It pauses itself when a larger share of its last 1,000 messages failed; defaults to 0.2. */
  readonly max_failure_rate?: number
  /** The share of its customers, chosen by chance, who get nothing, for comparison; defaults to 0. */
  readonly holdout?: number
}

/** A daily period, over midnight if it ends earlier than it begins: times of day as `HH:MM`. */
export interface QuietHours {
  readonly from: string
  readonly to: string
}

/** One template to many customers, each once. */
export interface PublicCampaign {
  readonly id: string
  readonly name: string
  readonly status: CampaignStatus
  /** Why it is paused, or why its check stopped. */
  readonly paused_reason: PauseReason | null
  readonly template: TemplateContent
  readonly template_b: TemplateContent | null
  readonly from: string | null
  /**
   * The number that sends a campaign without `from`: the default number when its recipients were checked. `null` before
   * the check, and with `from`.
   */
  readonly checked_from: string | null
  readonly start_at: string | null
  readonly not_after: string | null
  readonly quiet_hours: QuietHours | null
  readonly share: number
  readonly max_failure_rate: number
  readonly holdout: number
  readonly created_at: string
  readonly started_at: string | null
  readonly completed_at: string | null
  /** How many recipients were added. */
  readonly rows: number
  /** How many of them were checked. */
  readonly checked: number
  /** How many of the checked ones are not sent to. */
  readonly problems: number
  /** The forecast; `null` until the recipients are checked. */
  readonly forecast: PublicCampaignForecast | null
  readonly counts: CampaignCounts
  /** Why recipients failed or were skipped, the most frequent reason first. */
  readonly reasons: ReadonlyArray<{
    readonly outcome: "failed" | "skipped"
    readonly reason: string
    readonly recipients: number
  }>
  /** The result by variant of the template: `a` is `template`. `null` without a second variant. */
  readonly comparison: {
    readonly counts: {
      readonly a: CampaignCounts
      readonly b: CampaignCounts
    }
    /** The shares that were delivered; `null` until both variants were sent to a customer. */
    readonly delivered: PublicCampaignDifference | null
    /** The shares that were read. */
    readonly read: PublicCampaignDifference | null
  } | null
}

/** From `draft` to `completed` or `cancelled`; `running` and `paused` alternate. */
export type CampaignStatus =
  | "draft"
  | "checking"
  | "ready"
  | "scheduled"
  | "running"
  | "paused"
  | "completed"
  | "cancelled"

/** Why a campaign is paused: a person did it, or it paused itself. */
export type PauseReason =
  | "person"
  | "template_not_approved"
  | "template_category"
  | "template_changed"
  | "file_not_available"
  | "sender_not_available"
  | "quota_exhausted"
  | "failure_rate"
  | "provider_policy"
  | "restored"

/** The forecast of a campaign. Other sends, quiet hours and failures make it take longer. */
export interface PublicCampaignForecast {
  readonly messages: number
  /** How many customers count against the messaging limit: those outside a service window when they were checked. */
  readonly limited_customers: number
  readonly messaging_limit: number | null
  /** How many days the messaging limit makes it take; `null` if the limit is 0. */
  readonly days: number | null
  /**
   * How many of the messages are not sent, because quiet hours never end for their customers: the row has no
   * `timeZone`, and at any time it is quiet in one of the time zones of the country. It follows `quietHours`.
   */
  readonly always_quiet: number
  /** How long it takes at its pace and under the messaging limit; it follows `share`. */
  readonly seconds: number
  /** The messages by the price that they are expected to have, by market, category and type. */
  readonly lines: ReadonlyArray<PublicUsageLine>
  /** The sum of `lines` in each currency; empty without a rate card. */
  readonly costs: ReadonlyArray<{
    readonly currency: string
    /** A decimal number, such as `12.3456`. */
    readonly amount: string
  }>
}

/** Messages of one price. */
export interface PublicUsageLine {
  /** The customer's country, ISO 3166-1 alpha-2; `ZZ` if not known. */
  readonly market: string
  /** As the provider reported it, such as `marketing`. */
  readonly category: string
  /** As the provider reported it, such as `regular` or `free_customer_service`. */
  readonly type: string
  /** `null` if the provider says nothing of it; then `cost` is what the messages cost if they are charged. */
  readonly billable: boolean | null
  readonly messages: number
  /** `null` if nothing is charged, or if there is no rate for it. */
  readonly cost: PublicUsageCost | null
}

/** The total cost of messages with the same price. */
export interface PublicUsageCost {
  readonly currency: string
  /** A decimal number, such as `12.3456`. */
  readonly amount: string
  /** The day from which the rates used are valid. */
  readonly rates_from: string
}

/** How many recipients have which outcome. Each is in exactly one of the counts, and `total` is their sum. */
export interface CampaignCounts {
  readonly total: number
  readonly queued: number
  readonly sent: number
  readonly delivered: number
  readonly read: number
  readonly failed: number
  readonly held: number
  readonly unknown: number
  readonly skipped: number
}

/** The difference of two shares with its 95 % confidence interval (Newcombe's hybrid score interval). */
export interface PublicCampaignDifference {
  /** The share of variant `a`, from 0 to 1. */
  readonly a: number
  /** The share of variant `b`, from 0 to 1. */
  readonly b: number
  /** `b` less `a`. */
  readonly difference: number
  readonly low: number
  readonly high: number
  /** Whether the difference can be told from chance: the interval from `low` to `high` does not contain 0. */
  readonly is_distinguishable: boolean
}

/** A change of a campaign. Omitted fields stay; `null` restores a default. */
export interface EditPublicCampaign {
  readonly name?: string
  /** The template, as in a send. `{{name}}` in a value is replaced by each recipient's variable of that name. */
  readonly template?: TemplateContent
  /** A second variant of the template: half of the customers, chosen by chance, get it. */
  readonly template_b?: TemplateContent | null
  readonly from?: string | null
  /** When it starts, once it was started; defaults to that moment. */
  readonly start_at?: string | null
  /** Nothing is sent after this time; defaults to 24 hours after the start. */
  readonly not_after?: string | null
  /** When nothing is sent, by each recipient's own clock. */
  readonly quiet_hours?: QuietHours | null
  /** The share of the phone number's rate that it may use; defaults to 0.5. */
  readonly share?: number
  /** It pauses itself when a larger share of its last 1,000 messages failed; defaults to 0.2. */
  readonly max_failure_rate?: number
  /** The share of its customers, chosen by chance, who get nothing, for comparison; defaults to 0. */
  readonly holdout?: number
}

/** A recipient as it was added, with the result. */
export interface PublicCampaignRow {
  /** Its place among those that were added, from 1. */
  readonly row: number
  /** Why it is not sent to; `null` if it is, or was not checked yet. */
  readonly problem: {
    readonly reason:
      | "malformed"
      | "duplicate"
      | "opted_out"
      | "phone_number_required"
      | "template_params_mismatch"
    readonly message: string
    /** The line of its file in which the row begins; `null` if it came from no file. */
    readonly line: number | null
    /** The problem of the row, else the customer's name, as it was given. */
    readonly value: string | null
  } | null
  readonly message_id: string | null
  readonly to: string | null
  /** The variant of the template that its customer gets; `null` in a campaign without variants. */
  readonly variant: CampaignVariant | null
  readonly status: MessageStatus | null
  /** The count that its recipient is in. */
  readonly outcome: CampaignOutcome | null
  /** Why the message failed, or was skipped. */
  readonly error: {
    readonly code: string
    readonly reason?: string
    readonly message: string
  } | null
}

/** The variant of a campaign's template: `a` is `template`, `b` is `templateB`. */
export type CampaignVariant = "a" | "b"

/** The outcome under which a recipient is counted. */
export type CampaignOutcome = "queued" | "sent" | "delivered" | "read" | "failed" | "held" | "unknown" | "skipped"

/** For which number a customer is opted out or in. */
export interface ChooseOptOut {
  /** The id of a phone number of the workspace; if omitted, all of its numbers. */
  readonly phone_number_id?: string
}

/** The state of a customer's opt-out after a choice. */
export interface OptOut {
  /** The name as it was given. */
  readonly contact: string
  readonly opted_out: boolean
  /** `null` if the customer is not opted out. */
  readonly opted_out_at: string | null
  /** Who opted the customer out; `null` if nobody did. */
  readonly source: OptOutSource | null
}

/** Who opted a customer out. */
export type OptOutSource = "customer" | "provider" | "api" | "person" | "import"

/** Query parameters of every list. */
export interface ListQuery {
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The filters of the list of messages (contract §3). */
export interface MessageQuery {
  readonly status?: MessageStatus
  /** Any name of a customer; finds what was sent to each of their names. */
  readonly to?: string
  /** Only messages created at or after this time. */
  readonly since?: string | Date
  /** Only messages created before this time. */
  readonly until?: string | Date
  /** Exactly as given in the send. */
  readonly client_reference?: string
  /** Any name of a customer: lists the conversation with them, in both directions. */
  readonly contact?: string
  /** Only messages in this direction; without `contact`, `inbound` lists what any customer wrote. */
  readonly direction?: "inbound" | "outbound"
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The filters of the list of templates, which match exactly. */
export interface TemplateQuery {
  readonly status?: string
  readonly category?: string
  readonly language?: string
  readonly name?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The filters of the list of campaigns. */
export interface CampaignQuery {
  readonly status?: CampaignStatus
  /** A part of the name, whose letters may be in either case. */
  readonly name_contains?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The parameters of an upload of recipients. */
export interface RecipientQuery {
  /** The country of the numbers without a country code, in ISO 3166-1 alpha-2. */
  readonly default_country?: string
  /** Whether the file replaces all rows that the campaign has; if not, it adds to them. */
  readonly replace?: boolean
  /** The column of a CSV file with the phone numbers or user ids; defaults to `to`. */
  readonly to_column?: string
}

/** The filter of a campaign's rows. */
export interface CampaignRowQuery {
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
  /** Only recipients with this outcome, or the rows that are not sent to. */
  readonly outcome?:
    | "queued"
    | "sent"
    | "delivered"
    | "read"
    | "failed"
    | "held"
    | "unknown"
    | "skipped"
    | "left_out"
  /** Only recipients that failed or were skipped for this reason, and rows with this problem. */
  readonly reason?: string
}

/** The filters of the list under `/v1`. */
export interface EventQuery {
  /** Only events recorded at or after this time. */
  readonly since?: string | Date
  readonly type?: EventType
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
  /** Which events come first; `oldest` if omitted. */
  readonly order?: "oldest" | "newest"
}

/** The endpoints by method and path. */
export interface Routes {
  /**
   * Send a message. Sends an approved template, or a message of any other kind within 24 hours after the recipient last
   * wrote. A retry with the same Idempotency-Key is never sent twice. With `send_at`, or the header `Prefer:
   * respond-async`, it queues the message after all checks that are possible by then, and answers 202; what may change
   * until it is sent is judged then, and a refusal is its `message.failed`. A key answers as it did first, with or
   * without `Prefer`.
   */
  readonly "POST /v1/messages": { readonly body: SendMessage; readonly response: SentMessage | QueuedMessage }
  /**
   * Queue several messages. Queues 1 to 500 messages, each as `POST /v1/messages` with `Prefer: respond-async` and its
   * `idempotency_key` would; the results are in their order, and the refusal of one is its own. The body may have 1
   * MiB. Spends one of the workspace's tokens for every 50 messages. After a refusal that may be repeated, repeat the
   * message under its own key in another batch.
   */
  readonly "POST /v1/messages/batch": { readonly body: SendBatch; readonly response: BatchResults }
  /**
   * Mark a customer's message as read. The customer sees that it was read and, if `typing` is true, a typing indicator
   * for up to 25 seconds. Counts against neither the quota nor the messaging limit. If the provider fails, a retry asks
   * it again.
   */
  readonly "POST /v1/messages/:id/read": { readonly body: MarkRead; readonly response: ReadMessage }
  /**
   * List messages. All messages that the workspace sent, with their current state, newest first, without those of
   * campaigns that nobody has started; with `contact`, the conversation with one customer in both directions, which no
   * other filter than `direction` narrows. With a filter, or beside such a campaign, a page ends at the latest after
   * looking at 10,000 messages: it may hold fewer than `limit`, or none, even if more follow.
   */
  readonly "GET /v1/messages": { readonly query: MessageQuery; readonly response: Page<AnyMessage> }
  /** Get a message. Any message of the workspace with its current state, or a customer's message. */
  readonly "GET /v1/messages/:id": { readonly response: AnyMessage }
  /**
   * Cancel a queued message. Once this has succeeded, the message is never sent, and it has no event; the same again
   * changes nothing. A message that was sent, or whose sending has begun, is not cancelled (403 `already_sent`).
   */
  readonly "DELETE /v1/messages/:id": { readonly response: Message }
  /**
   * Upload a file. Stores a file of at most 100 MB, which messages then name by its `media_id`. Its type is detected
   * from its bytes. It is deleted some time after its last use, which the operator sets. A retry with the same key,
   * bytes and name gets the same file.
   */
  readonly "POST /v1/media": { readonly response: Media }
  /**
   * Download a file. A file of the workspace, uploaded or from a customer, with its own `Content-Type`. Supports
   * `Range`, `If-Range` and `If-None-Match`; HEAD returns the headers alone.
   */
  readonly "GET /v1/media/:id": { readonly response: undefined }
  /** Delete a file. Deletes a file of the workspace. Customers keep what was sent to them. */
  readonly "DELETE /v1/media/:id": { readonly response: undefined }
  /** List templates. Templates of every status, newest first. */
  readonly "GET /v1/templates": { readonly query: TemplateQuery; readonly response: Page<Template> }
  /** Create a campaign. A draft without recipients. Nothing is sent until it is checked and started. */
  readonly "POST /v1/campaigns": { readonly body: CreatePublicCampaign; readonly response: PublicCampaign }
  /**
   * List campaigns. Newest first. A key that is bound to numbers gets the campaigns of these; its pages may hold fewer
   * than their limit even if more follow.
   */
  readonly "GET /v1/campaigns": { readonly query: CampaignQuery; readonly response: Page<PublicCampaign> }
  /** Get a campaign. Its counts still change with the provider's reports after it is completed. */
  readonly "GET /v1/campaigns/:id": { readonly response: PublicCampaign }
  /**
   * Change a campaign. Templates, sender and holdout can change until the campaign is started; then its recipients must
   * be checked again.
   */
  readonly "PATCH /v1/campaigns/:id": { readonly body: EditPublicCampaign; readonly response: PublicCampaign }
  /** Delete a campaign. Only possible before it is started. Its recipients are deleted too. */
  readonly "DELETE /v1/campaigns/:id": { readonly response: undefined }
  /**
   * Upload recipients. Adds the rows of a file to a campaign that was not started, or replaces those that it has:
   * NDJSON, with `to` and what differs from the campaign's template in each line, or CSV as spreadsheets write it, with
   * a column of phone numbers or user ids, a column for each variable, and `timeZone` if quiet hours need it. If the
   * file is refused, the campaign stays as it was. Rows that cannot be read are reported when the campaign is checked.
   */
  readonly "PUT /v1/campaigns/:id/recipients": { readonly query: RecipientQuery; readonly response: PublicCampaign }
  /**
   * Check a campaign's recipients. In the background; the campaign is `ready` afterwards. Rows with a problem are
   * listed with it.
   */
  readonly "POST /v1/campaigns/:id/check": { readonly response: PublicCampaign }
  /**
   * Start a campaign. A campaign that is `ready`. Starting it again changes nothing. Refused if the campaign's end has
   * passed, or is before its start, because nobody would get a message.
   */
  readonly "POST /v1/campaigns/:id/start": { readonly response: PublicCampaign }
  /** Pause a campaign. Stops sending within a second. */
  readonly "POST /v1/campaigns/:id/pause": { readonly response: PublicCampaign }
  /**
   * Resume a campaign. It continues with the recipients that are left. Refused once the campaign's end has passed,
   * because they would all be skipped: set a later end first.
   */
  readonly "POST /v1/campaigns/:id/resume": { readonly response: PublicCampaign }
  /** Cancel a campaign. Waiting recipients are skipped. Messages in flight still get their outcome. */
  readonly "POST /v1/campaigns/:id/cancel": { readonly response: PublicCampaign }
  /**
   * List a campaign's recipients. In the order of their upload. With a filter, a page looks at 10,000 rows at most, so
   * it may hold fewer than its limit even if more follow. With `Accept: text/csv` the response is a file with all of
   * them, in which a value that a spreadsheet would read as a formula begins with an apostrophe.
   */
  readonly "GET /v1/campaigns/:id/recipients": {
    readonly query: CampaignRowQuery
    readonly response: Page<PublicCampaignRow>
  }
  /**
   * Opt a customer out. No free-form text and no marketing template is sent to the customer, under any of their names,
   * until START from the customer or until they are opted in. The customer need not be known.
   */
  readonly "PUT /v1/contacts/:name/opt-out": { readonly body: ChooseOptOut; readonly response: OptOut }
  /** Opt a customer in. Ends the opt-out of the customer, whoever set it. Have the customer's consent. */
  readonly "DELETE /v1/contacts/:name/opt-out": { readonly body: ChooseOptOut; readonly response: OptOut }
  /**
   * List events. Oldest first, with the ids and bodies that webhooks deliver, so that a receiver can reconcile after an
   * outage. Following the cursor never skips an event that is committed meanwhile. The last page also has a
   * `next_cursor`, with `has_more: false`: a request with it returns the events recorded since. With `order=newest` the
   * list ends with the oldest event, and there `next_cursor` is null.
   */
  readonly "GET /v1/events": { readonly query: EventQuery; readonly response: Page<Event> }
}
