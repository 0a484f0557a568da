/**
 * The interface that `createWac()` and `createClient()` both implement (contract §16). Times are ISO 8601 in UTC.
 * Written from the API definition; do not edit.
 */
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
  BodyParams,
  MessageStatus,
  MessageType,
  SendMessage,
  SendTemplate,
  TemplateButton,
  TemplateContent,
  TemplateHeader
} from "./MessageContents.ts"
import type { ErrorReasons } from "./ErrorReasons.ts"
import type { Json } from "../Json.ts"
import type { TimeInput } from "../TimeInput.ts"
import type { TemplateMessage } from "./AccountTemplates.ts"

/** A message to send. */
export type NewMessage = TemplateMessage | Exclude<SendMessage, SendTemplate>

/** Options of every call; in a list they apply to each page. */
export interface CallOptions {
  /**
   * Ends the call: it rejects with the signal's reason. If the signal was aborted before, nothing is done; what the
   * service has begun, it finishes, perhaps after a later call. So a message may have been sent, and a change made, as
   * after `no_response`: repeat the call with the same `idempotencyKey`, or look at the state.
   */
  readonly signal?: AbortSignal
  /** Within how many milliseconds the call must end; if it does not, it rejects with `no_response`, `timeout`. */
  readonly timeout?: number
}

/** Options of a call that changes something. */
export interface SendOptions extends CallOptions {
  /**
   * Identifies the call: 1 to 255 visible ASCII characters. A call with the same key and the same message is never sent
   * twice; it gets the first call's answer, for 24 hours after that. Use one that you can derive again from what the
   * message is about (`order-1042-shipped`): then even a crash of your process cannot send twice. By default one is
   * made, and errors carry it.
   */
  readonly idempotencyKey?: string
}

/** When a queued message is sent. */
export interface SendTimes {
  /** Not before this time: at most 90 days ahead; the past means now. Now by default. */
  readonly sendAt?: TimeInput
  /** How long it is tried if something temporary holds it up; 24 hours after `sendAt` by default. */
  readonly sendUntil?: TimeInput
}

/** Options of queueing a message. */
export interface EnqueueOptions extends SendOptions, SendTimes {}

/** A message to be queued with others. */
export type QueueItem = NewMessage & SendTimes & {
  /** As in {@link SendOptions}: of this message alone, and the same as if it were sent or queued alone. */
  readonly idempotencyKey: string
}

/** A message that was refused, and so not queued. */
export interface RefusedMessage {
  readonly status: "refused"
  /** The error with which `enqueue` would have rejected. */
  readonly error: MessagingError
}

/** Options of marking a message as read. */
export interface ReadOptions extends SendOptions {
  /** Whether to show the customer a typing indicator. */
  readonly typing?: boolean
}

/** Whether a result is the answer to an earlier call with the same idempotency key. */
export interface Replayed {
  readonly replayed: boolean
}

/** Which messages of conversations. */
export type ConversationFilter = Pick<MessageQuery, "contact" | "direction">

/** Which messages: all given fields must match. */
export type MessageFilter = Omit<MessageQuery, "contact" | "direction">

/** Which events. */
export interface EventFilter<Type extends EventType = EventType> extends Omit<EventQuery, "type"> {
  readonly type?: Type
}

/** For which number a customer is opted out or in. */
export interface OptOutOptions extends CallOptions {
  /** The id of a phone number of the workspace; if omitted, all of its numbers. */
  readonly phoneNumberId?: string
}

/** A page of a list. */
export interface Page<Item> {
  readonly data: ReadonlyArray<Item>
  readonly hasMore: boolean
  /** The cursor of the next page; `null` at the end, unless the list states otherwise. */
  readonly nextCursor: string | null
}

/** Which page of a list. */
export interface PageQuery {
  /** The maximum number of items: 1 to 100, by default 25. */
  readonly limit?: number
  /** `nextCursor` of the previous page. */
  readonly cursor?: string
}

/**
 * A list: `for await (const item of list)` iterates over everything and fetches pages as it goes. Nothing is fetched
 * before; each iteration starts from the first page.
 */
export interface Listing<Item, Answer = unknown> extends AsyncIterable<Item> {
  /** One page. */
  readonly page: (query?: PageQuery) => Promise<Page<Item> & Answer>
  /** All pages, from `cursor` on if it is given; of 100 items by default. */
  readonly pages: (query?: PageQuery) => AsyncIterable<Page<Item> & Answer>
  /** All items in an array, or the first `max` of them: without `max`, be sure that they fit into memory. */
  readonly toArray: (max?: number) => Promise<Array<Item>>
}

/** The messages of a workspace. */
export interface Messages<Answer = unknown, Option = {}> {
  /**
   * Sends a message, once for each idempotency key. Resolves when the provider has accepted it; events report what
   * happens afterwards. The send continues even if nothing awaits the promise. After `outcome_unknown` the message may
   * have been sent, and repeating the call with the error's `idempotencyKey` returns the outcome; after
   * `delivery_unknown` no outcome was known within 10 minutes. If `enqueue` has used the key for this message, it
   * rejects with `idempotency_conflict`: the message is sent at its time, and not by this call.
   */
  readonly send: (message: NewMessage, options?: SendOptions & Option) => Promise<SentMessage & Replayed & Answer>
  /**
   * Queues a message, to be sent once at its time. Resolves when it is accepted; events report what becomes of it. What
   * may change until then, such as the service window, is judged when it is sent. If `send` has used the key for this
   * message, the answer is that it is `sent`.
   */
  readonly enqueue: (
    message: NewMessage,
    options?: EnqueueOptions & Option
  ) => Promise<(QueuedMessage | SentMessage) & Replayed & Answer>
  /**
   * Queues 1 to 500 messages, each as `enqueue` would. The results are in their order: one that is refused does not
   * touch the others, and can be queued again under its key.
   */
  readonly enqueueMany: (
    messages: ReadonlyArray<QueueItem>,
    options?: CallOptions & Option
  ) => Promise<ReadonlyArray<QueuedMessage | SentMessage | RefusedMessage> & Answer>
  /**
   * Cancels a queued message: once it has resolved, the message is never sent. Rejects with `already_sent` if its
   * sending has begun. Safe to repeat.
   */
  readonly cancel: (messageId: string, options?: CallOptions & Option) => Promise<Message & Answer>
  /** Gets a message by its `messageId`, in either direction. */
  readonly get: (messageId: string, options?: CallOptions & Option) => Promise<AnyMessage & Answer>
  /**
   * The messages that the workspace sent, newest first. A filtered page may have fewer items than its limit, or none,
   * before the end of the list.
   */
  readonly list: (filter?: MessageFilter, options?: CallOptions & Option) => Listing<Message, Answer>
  /**
   * The conversation with a customer, by any of their names, newest first: what was sent to them, and what they wrote.
   * Without `contact`, what any customer wrote.
   */
  readonly conversation: (filter: ConversationFilter, options?: CallOptions & Option) => Listing<AnyMessage, Answer>
  /**
   * Marks a customer's message as read, by the `message_id` of its event, and optionally shows a typing indicator.
   * Rejects with `not_found` for your own messages.
   */
  readonly markRead: (messageId: string, options?: ReadOptions & Option) => Promise<ReadMessage & Answer>
}

/** A file to upload: at most 100 MB. */
export interface NewFile {
  /** All bytes, or a stream of pieces such as `fs.createReadStream(path)` or a `ReadableStream`. */
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>
  /** The file's name, which recipients and downloads see. */
  readonly filename?: string
}

/** A file that can be read. */
export interface OpenedFile {
  readonly id: string
  readonly mimeType: string
  /** In bytes. */
  readonly size: number
  /**
   * The bytes from `start` to before `end`, counted from 0: all of them by default. They are read only as fast as the
   * stream is.
   */
  readonly stream: (range?: { readonly start?: number; readonly end?: number }) => ReadableStream<Uint8Array>
}

/** The files of a workspace. */
export interface Media<Answer = unknown, Option = {}> {
  /**
   * Uploads a file. Its type is detected from its bytes. It is deleted some time after its last use, which the operator
   * sets. If the stream throws, the promise rejects with that, and nothing is kept. The same bytes and name with the
   * same `idempotencyKey` are stored once.
   */
  readonly upload: (file: NewFile, options?: SendOptions & Option) => Promise<StoredFile & Answer>
  /**
   * Opens a file of the workspace. A customer's file is fetched from the provider first if it was not yet; `not_found`
   * with the reason `media_expired` if the provider no longer has it.
   */
  readonly open: (id: string, options?: CallOptions & Option) => Promise<OpenedFile>
  readonly remove: (id: string, options?: CallOptions & Option) => Promise<void>
}

/** The message templates of a workspace. */
export interface Templates<Answer = unknown, Option = {}> {
  /** Templates of every status, newest first. */
  readonly list: (filter?: TemplateFilter, options?: CallOptions & Option) => Listing<Template, Answer>
}

/** The customers of a workspace. */
export interface Contacts<Answer = unknown, Option = {}> {
  /**
   * Opts a customer out, under every name that they have: no free-form text and no marketing is sent until START from
   * the customer, or `optIn`. The name is a number in E.164 format, or a user id; the customer need not be known.
   * Calling it again changes nothing.
   */
  readonly optOut: (name: string, options?: OptOutOptions & Option) => Promise<OptOut & Answer>
  /** Ends the opt-out of a customer, whoever set it. Have the customer's consent. */
  readonly optIn: (name: string, options?: OptOutOptions & Option) => Promise<OptOut & Answer>
}

/**
 * The campaigns of a workspace: one template to many customers, each once. An action that has already happened changes
 * nothing, so each is safe to repeat.
 */
export interface Campaigns<Answer = unknown, Option = {}> {
  /** Creates a draft without recipients. Nothing is sent before it was checked and started. */
  readonly create: (campaign: NewCampaign, options?: SendOptions & Option) => Promise<Campaign & Answer>
  /** Newest first. */
  readonly list: (filter?: CampaignFilter, options?: CallOptions & Option) => Listing<Campaign, Answer>
  readonly get: (id: string, options?: CallOptions & Option) => Promise<Campaign & Answer>
  /** Changes a campaign; templates, sender and holdout only before it is started. */
  readonly edit: (id: string, change: CampaignChange, options?: CallOptions & Option) => Promise<Campaign & Answer>
  /** Deletes a campaign that was not started, with its recipients. */
  readonly remove: (id: string, options?: CallOptions & Option) => Promise<void>
  /**
   * Adds recipients to a campaign that was not started. They count together: if reading them throws, the promise
   * rejects with that error, and the campaign stays as it was. The check reports malformed recipients.
   */
  readonly addRecipients: (
    id: string,
    recipients: Iterable<CampaignRecipient> | AsyncIterable<CampaignRecipient>,
    options?: CallOptions & Option
  ) => Promise<Campaign & Answer>
  /** As `addRecipients`, in place of all recipients that the campaign has, which then are not checked. */
  readonly replaceRecipients: (
    id: string,
    recipients: Iterable<CampaignRecipient> | AsyncIterable<CampaignRecipient>,
    options?: CallOptions & Option
  ) => Promise<Campaign & Answer>
  /** Checks the recipients in the background; the campaign is `ready` afterwards. */
  readonly check: (id: string, options?: SendOptions & Option) => Promise<Campaign & Answer>
  readonly start: (id: string, options?: SendOptions & Option) => Promise<Campaign & Answer>
  /** Within a second nothing more is sent. */
  readonly pause: (id: string, options?: SendOptions & Option) => Promise<Campaign & Answer>
  readonly resume: (id: string, options?: SendOptions & Option) => Promise<Campaign & Answer>
  /** Skips every recipient that is not sent to yet. */
  readonly cancel: (id: string, options?: SendOptions & Option) => Promise<Campaign & Answer>
  /** The added recipients in their order, or those with an outcome or a reason, or those that are not sent to. */
  readonly recipients: (
    id: string,
    filter?: CampaignRowFilter,
    options?: CallOptions & Option
  ) => Listing<CampaignRow, Answer>
}

/** The event of a type. */
export type EventOf<Type extends EventType> = Extract<Event, { readonly type: Type }>

/** The `data` of each type of event. */
export type EventDataByType = { readonly [Type in EventType]: EventOf<Type>["data"] }

/** The recorded events of a workspace. */
export interface Events<Answer = unknown, Option = {}> {
  /**
   * Oldest first: iterating to the end never skips an event that was being recorded meanwhile. The last page has a
   * `nextCursor` too, with `hasMore: false`; a later page from that cursor has what was recorded since. Newest first:
   * events that are being recorded may be missing, and `nextCursor` is `null` at the end.
   */
  readonly list: <Type extends EventType = EventType>(
    filter?: EventFilter<Type>,
    options?: CallOptions & Option
  ) => Listing<EventOf<Type>, Answer>
}

/**
 * The part of the service that a program in its process and a program with an API key use alike. Every call rejects with
 * a {@link MessagingError}, or the reason of its signal. Results are in camelCase; events, and contents of messages, are
 * as on the wire. `Answer` is what results have in addition, and `Option` what the options of every call may have.
 */
export interface Messaging<Answer = unknown, Option = {}> {
  readonly messages: Messages<Answer, Option>
  readonly media: Media<Answer, Option>
  readonly templates: Templates<Answer, Option>
  readonly contacts: Contacts<Answer, Option>
  readonly campaigns: Campaigns<Answer, Option>
  readonly events: Events<Answer, Option>
}

/**
 * The kind of error: one of the service's, or `no_response` if the call ended without the service's answer.
 */
export type ErrorCode = keyof Reasons

/** The reasons of all codes, or of some. */
export type ErrorReason<Code extends ErrorCode = ErrorCode> = NonNullable<Reasons[Code]>

interface Reasons extends ErrorReasons {
  /**
   * The call ended without an answer. If it changes something, that may have happened: repeat the call with the error's
   * `idempotencyKey`, and it happens once. `timeout`: the call's time ran out. `unreachable`: the service could not be
   * reached, or the connection broke. `unexpected_response`: something other than the service responded, such as a
   * proxy. In an embedding program only `timeout` occurs.
   */
  readonly no_response: "timeout" | "unreachable" | "unexpected_response"
}

/** The details of an error besides its code and reason. */
export interface WacErrorFields extends Error {
  readonly name: "WacError"
  /** The HTTP status with which the API reports the error; `undefined` without an answer. */
  readonly status: number | undefined
  /** The first offending field, as a path (`template.bodyParams[1]`), or the option's name. */
  readonly param: string | undefined
  /** The id of the request in the log, if there is one; `message` names it. */
  readonly requestId: string | undefined
  /** How long to wait before the same call can succeed, in milliseconds, if known. */
  readonly retryAfter: number | undefined
  /** The upstream provider's own error. */
  readonly provider: ProviderDetail | undefined
  /** The key of the call, if it has one: repeat a send with it, and the message goes out once. */
  readonly idempotencyKey: string | undefined
}

/**
 * The error of a call. `code` and `reason` are for programs, `message` is for people and may change. A comparison of
 * `code` narrows `reason`. It holds no secret, no payload and no database message. `stack` contains the line that made
 * the call.
 *
 * For sends: only `outcome_unknown`, `delivery_unknown`, `in_progress` and `no_response` leave open whether the message
 * was sent. After every other error, this call sent nothing. Retrying with the same idempotency key is always safe.
 */
export type MessagingError = {
  readonly [Code in ErrorCode]: WacErrorFields & {
    readonly code: Code
    /** The condition under the code that applied: `outside_service_window`, `pair`, `outcome_unknown`, … */
    readonly reason: Reasons[Code]
  }
}[ErrorCode]

/** The provider accepted the message and gave it an id (specification §2). */
export interface SentMessage {
  readonly status: "sent"
  readonly messageId: string
  readonly providerMessageId: string
  readonly workspaceId: string
  readonly apiKeyId: string
}

/** The message is queued: it is sent at its time, and events report what becomes of it (contract §15). */
export interface QueuedMessage {
  readonly status: "queued"
  readonly messageId: string
  readonly workspaceId: string
  readonly apiKeyId: string
  /** The message is not sent before this time. */
  readonly sendAt: string
}

/** A customer's message that was marked as read. */
export interface ReadMessage {
  readonly messageId: string
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
  readonly messageId: string
  readonly providerMessageId: string | null
  readonly workspaceId: string
  /** `null` if it came without one: from the dashboard, the outbox or an operator's retry, or of a campaign. */
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
  readonly error: MessageFailure | null
  readonly clientReference: string | null
  /** `null` if the provider reported nothing. */
  readonly pricing: Pricing | null
  /** When the customer played the voice message. */
  readonly playedAt: string | null
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
  readonly messageId: string
  readonly providerMessageId: string
  readonly workspaceId: string
  /** The customer's number, E.164, or their user id if the number is not known. A reply can be sent to it. */
  readonly from: string
  readonly fromUserId: string | null
  /** The workspace's number that they wrote to, E.164. */
  readonly to: string
  /** The message that it quotes or answers; `null` if none. */
  readonly context: ReceivedContext | null
  /** The message's own time. */
  readonly receivedAt: string
}

/** A file of the workspace. */
export interface StoredFile {
  readonly id: string
  /** As detected from the bytes. */
  readonly mimeType: string
  /** In bytes. */
  readonly size: number
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string
  readonly filename: string | null
  /** When it is deleted unless it is used before. */
  readonly expiresAt: string
}

/** A template of any status (contract §7). */
export interface Template {
  readonly id: string
  readonly name: string
  readonly language: string
  readonly category: string
  readonly status: string
  readonly parameterFormat: "positional" | "named"
  readonly components: ReadonlyArray<Json>
  /** Placeholders of the body, in the order in which `bodyParams` fills them. */
  readonly variables: ReadonlyArray<string>
  readonly quality: string | null
  readonly rejectionReason: string | null
  readonly providerTemplateId: string
  readonly syncedAt: string
}

/** One template to many customers, each once. */
export interface Campaign {
  readonly id: string
  readonly name: string
  readonly status: CampaignStatus
  /** Why it is paused, or why its check stopped. */
  readonly pausedReason: PauseReason | null
  readonly template: TemplateContent
  readonly templateB: TemplateContent | null
  readonly from: string | null
  /**
   * The number that sends a campaign without `from`: the default number when its recipients were checked. `null` before
   * the check, and with `from`.
   */
  readonly checkedFrom: string | null
  readonly startAt: string | null
  readonly notAfter: string | null
  readonly quietHours: QuietHours | null
  readonly share: number
  readonly maxFailureRate: number
  readonly holdout: number
  readonly createdAt: string
  readonly startedAt: string | null
  readonly completedAt: string | null
  /** How many recipients were added. */
  readonly rows: number
  /** How many of them were checked. */
  readonly checked: number
  /** How many of the checked ones are not sent to. */
  readonly problems: number
  /** The forecast; `null` until the recipients are checked. */
  readonly forecast: CampaignForecast | null
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
    readonly delivered: CampaignDifference | null
    /** The shares that were read. */
    readonly read: CampaignDifference | null
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

/** A daily period, over midnight if it ends earlier than it begins: times of day as `HH:MM`. */
export interface QuietHours {
  readonly from: string
  readonly to: string
}

/** The forecast of a campaign. Other sends, quiet hours and failures make it take longer. */
export interface CampaignForecast {
  readonly messages: number
  /** How many customers count against the messaging limit: those outside a service window when they were checked. */
  readonly limitedCustomers: number
  readonly messagingLimit: number | null
  /** How many days the messaging limit makes it take; `null` if the limit is 0. */
  readonly days: number | null
  /**
   * How many of the messages are not sent, because quiet hours never end for their customers: the row has no
   * `timeZone`, and at any time it is quiet in one of the time zones of the country. It follows `quietHours`.
   */
  readonly alwaysQuiet: number
  /** How long it takes at its pace and under the messaging limit; it follows `share`. */
  readonly seconds: number
  /** The messages by the price that they are expected to have, by market, category and type. */
  readonly lines: ReadonlyArray<UsageLine>
  /** The sum of `lines` in each currency; empty without a rate card. */
  readonly costs: ReadonlyArray<{
    readonly currency: string
    /** A decimal number, such as `12.3456`. */
    readonly amount: string
  }>
}

/** Messages of one price. */
export interface UsageLine {
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
  readonly cost: UsageCost | null
}

/** The total cost of messages with the same price. */
export interface UsageCost {
  readonly currency: string
  /** A decimal number, such as `12.3456`. */
  readonly amount: string
  /** The day from which the rates used are valid. */
  readonly ratesFrom: string
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
export interface CampaignDifference {
  /** The share of variant `a`, from 0 to 1. */
  readonly a: number
  /** The share of variant `b`, from 0 to 1. */
  readonly b: number
  /** `b` less `a`. */
  readonly difference: number
  readonly low: number
  readonly high: number
  /** Whether the difference can be told from chance: the interval from `low` to `high` does not contain 0. */
  readonly isDistinguishable: boolean
}

/** The state of a customer's opt-out after a choice. */
export interface OptOut {
  /** The name as it was given. */
  readonly contact: string
  readonly optedOut: boolean
  /** `null` if the customer is not opted out. */
  readonly optedOutAt: string | null
  /** Who opted the customer out; `null` if nobody did. */
  readonly source: OptOutSource | null
}

/** Who opted a customer out. */
export type OptOutSource = "customer" | "provider" | "api" | "person" | "import"

/** A recipient as it was added, with the result. */
export interface CampaignRow {
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
  readonly messageId: string | null
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

/** A new campaign. */
export interface NewCampaign {
  readonly name: string
  /** The template, as in a send. `{{name}}` in a value is replaced by each recipient's variable of that name. */
  readonly template: TemplateContent
  /** A second variant of the template: half of the customers, chosen by chance, get it. */
  readonly templateB?: TemplateContent
  /**
   * A phone number of the workspace, by id or in E.164; defaults to the number that is the default when the recipients
   * are checked.
   */
  readonly from?: string
  /** When it starts, once it was started; defaults to that moment. */
  readonly startAt?: TimeInput
  /** Nothing is sent after this time; defaults to 24 hours after the start. */
  readonly notAfter?: TimeInput
  /** When nothing is sent, by each recipient's own clock. */
  readonly quietHours?: QuietHours
  /** The share of the phone number's rate that it may use; defaults to 0.5. */
  readonly share?: number
  /** It pauses itself when a larger share of its last 1,000 messages failed; defaults to 0.2. */
  readonly maxFailureRate?: number
  /** The share of its customers, chosen by chance, who get nothing, for comparison; defaults to 0. */
  readonly holdout?: number
}

/** A change of a campaign. Omitted fields stay; `null` restores a default. */
export interface CampaignChange {
  readonly name?: string
  /** The template, as in a send. `{{name}}` in a value is replaced by each recipient's variable of that name. */
  readonly template?: TemplateContent
  /** A second variant of the template: half of the customers, chosen by chance, get it. */
  readonly templateB?: TemplateContent | null
  readonly from?: string | null
  /** When it starts, once it was started; defaults to that moment. */
  readonly startAt?: TimeInput | null
  /** Nothing is sent after this time; defaults to 24 hours after the start. */
  readonly notAfter?: TimeInput | null
  /** When nothing is sent, by each recipient's own clock. */
  readonly quietHours?: QuietHours | null
  /** The share of the phone number's rate that it may use; defaults to 0.5. */
  readonly share?: number
  /** It pauses itself when a larger share of its last 1,000 messages failed; defaults to 0.2. */
  readonly maxFailureRate?: number
  /** The share of its customers, chosen by chance, who get nothing, for comparison; defaults to 0. */
  readonly holdout?: number
}

/** The filters of the list of messages (contract §3). */
export interface MessageQuery {
  readonly status?: MessageStatus
  /** Any name of a customer; finds what was sent to each of their names. */
  readonly to?: string
  /** Only messages created at or after this time. */
  readonly since?: TimeInput
  /** Only messages created before this time. */
  readonly until?: TimeInput
  /** Exactly as given in the send. */
  readonly clientReference?: string
  /** Any name of a customer: lists the conversation with them, in both directions. */
  readonly contact?: string
  /** Only messages in this direction; without `contact`, `inbound` lists what any customer wrote. */
  readonly direction?: "inbound" | "outbound"
}

/** The filters of the list of templates, which match exactly. */
export interface TemplateFilter {
  readonly status?: string
  readonly category?: string
  readonly language?: string
  readonly name?: string
}

/** The filters of the list of campaigns. */
export interface CampaignFilter {
  readonly status?: CampaignStatus
  /** A part of the name, whose letters may be in either case. */
  readonly nameContains?: string
}

/** The filter of a campaign's rows. */
export interface CampaignRowFilter {
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
  readonly since?: TimeInput
  readonly type?: EventType
  /** Which events come first; `oldest` if omitted. */
  readonly order?: "oldest" | "newest"
}

/** A customer to write to. What is omitted comes from the campaign's template. */
export interface CampaignRecipient {
  readonly to: string
  readonly bodyParams?: BodyParams
  readonly header?: TemplateHeader
  readonly buttons?: ReadonlyArray<TemplateButton>
  /** For quiet hours, in the IANA database: `Europe/Paris`; if omitted, the zones of the country in `to`. */
  readonly timeZone?: string
  /** What replaces `{{name}}` in the template's values. */
  readonly variables?: {
    readonly [field: string]: string
  }
}
