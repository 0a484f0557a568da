/**
 * The methods of the interface of programs: what `createWac()` and `createClient()` both have. Their types are written
 * from the API definition.
 */

/** The errors of the interface. */
export const errors = `/**
 * The kind of error: one of the service's, or \`no_response\` if the call ended without the service's answer.
 */
export type ErrorCode = keyof Reasons

/** The reasons of all codes, or of some. */
export type ErrorReason<Code extends ErrorCode = ErrorCode> = NonNullable<Reasons[Code]>

interface Reasons extends ErrorReasons {
  /**
   * The call ended without an answer. If it changes something, that may have happened: repeat the call with the error's
   * \`idempotencyKey\`, and it happens once. \`timeout\`: the call's time ran out. \`unreachable\`: the service could not be
   * reached, or the connection broke. \`unexpected_response\`: something other than the service responded, such as a
   * proxy. In an embedding program only \`timeout\` occurs.
   */
  readonly no_response: "timeout" | "unreachable" | "unexpected_response"
}

/** The details of an error besides its code and reason. */
export interface WacErrorFields extends Error {
  readonly name: "WacError"
  /** The HTTP status with which the API reports the error; \`undefined\` without an answer. */
  readonly status: number | undefined
  /** The first offending field, as a path (\`template.bodyParams[1]\`), or the option's name. */
  readonly param: string | undefined
  /** The id of the request in the log, if there is one; \`message\` names it. */
  readonly requestId: string | undefined
  /** How long to wait before the same call can succeed, in milliseconds, if known. */
  readonly retryAfter: number | undefined
  /** The upstream provider's own error. */
  readonly provider: ProviderDetail | undefined
  /** The key of the call, if it has one: repeat a send with it, and the message goes out once. */
  readonly idempotencyKey: string | undefined
}

/**
 * The error of a call. \`code\` and \`reason\` are for programs, \`message\` is for people and may change. A comparison of
 * \`code\` narrows \`reason\`. It holds no secret, no payload and no database message. \`stack\` contains the line that made
 * the call.
 *
 * For sends: only \`outcome_unknown\`, \`delivery_unknown\`, \`in_progress\` and \`no_response\` leave open whether the message
 * was sent. After every other error, this call sent nothing. Retrying with the same idempotency key is always safe.
 */
export type MessagingError = {
  readonly [Code in ErrorCode]: WacErrorFields & {
    readonly code: Code
    /** The condition under the code that applied: \`outside_service_window\`, \`pair\`, \`outcome_unknown\`, … */
    readonly reason: Reasons[Code]
  }
}[ErrorCode]
`

/** The options, lists and methods of the interface. */
export const methods = `/** Options of every call; in a list they apply to each page. */
export interface CallOptions {
  /**
   * Ends the call: it rejects with the signal's reason. If the signal was aborted before, nothing is done; what the
   * service has begun, it finishes, perhaps after a later call. So a message may have been sent, and a change made, as
   * after \`no_response\`: repeat the call with the same \`idempotencyKey\`, or look at the state.
   */
  readonly signal?: AbortSignal
  /** Within how many milliseconds the call must end; if it does not, it rejects with \`no_response\`, \`timeout\`. */
  readonly timeout?: number
}

/** Options of a call that changes something. */
export interface SendOptions extends CallOptions {
  /**
   * Identifies the call: 1 to 255 visible ASCII characters. A call with the same key and the same message is never sent
   * twice; it gets the first call's answer, for 24 hours after that. Use one that you can derive again from what the
   * message is about (\`order-1042-shipped\`): then even a crash of your process cannot send twice. By default one is
   * made, and errors carry it.
   */
  readonly idempotencyKey?: string
}

/** When a queued message is sent. */
export interface SendTimes {
  /** Not before this time: at most 90 days ahead; the past means now. Now by default. */
  readonly sendAt?: TimeInput
  /** How long it is tried if something temporary holds it up; 24 hours after \`sendAt\` by default. */
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
  /** The error with which \`enqueue\` would have rejected. */
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
  /** The cursor of the next page; \`null\` at the end, unless the list states otherwise. */
  readonly nextCursor: string | null
}

/** Which page of a list. */
export interface PageQuery {
  /** The maximum number of items: 1 to 100, by default 25. */
  readonly limit?: number
  /** \`nextCursor\` of the previous page. */
  readonly cursor?: string
}

/**
 * A list: \`for await (const item of list)\` iterates over everything and fetches pages as it goes. Nothing is fetched
 * before; each iteration starts from the first page.
 */
export interface Listing<Item, Answer = unknown> extends AsyncIterable<Item> {
  /** One page. */
  readonly page: (query?: PageQuery) => Promise<Page<Item> & Answer>
  /** All pages, from \`cursor\` on if it is given; of 100 items by default. */
  readonly pages: (query?: PageQuery) => AsyncIterable<Page<Item> & Answer>
  /** All items in an array, or the first \`max\` of them: without \`max\`, be sure that they fit into memory. */
  readonly toArray: (max?: number) => Promise<Array<Item>>
}

/** The messages of a workspace. */
export interface Messages<Answer = unknown, Option = {}> {
  /**
   * Sends a message, once for each idempotency key. Resolves when the provider has accepted it; events report what
   * happens afterwards. The send continues even if nothing awaits the promise. After \`outcome_unknown\` the message may
   * have been sent, and repeating the call with the error's \`idempotencyKey\` returns the outcome; after
   * \`delivery_unknown\` no outcome was known within 10 minutes. If \`enqueue\` has used the key for this message, it
   * rejects with \`idempotency_conflict\`: the message is sent at its time, and not by this call.
   */
  readonly send: (message: NewMessage, options?: SendOptions & Option) => Promise<SentMessage & Replayed & Answer>
  /**
   * Queues a message, to be sent once at its time. Resolves when it is accepted; events report what becomes of it. What
   * may change until then, such as the service window, is judged when it is sent. If \`send\` has used the key for this
   * message, the answer is that it is \`sent\`.
   */
  readonly enqueue: (
    message: NewMessage,
    options?: EnqueueOptions & Option
  ) => Promise<(QueuedMessage | SentMessage) & Replayed & Answer>
  /**
   * Queues 1 to 500 messages, each as \`enqueue\` would. The results are in their order: one that is refused does not
   * touch the others, and can be queued again under its key.
   */
  readonly enqueueMany: (
    messages: ReadonlyArray<QueueItem>,
    options?: CallOptions & Option
  ) => Promise<ReadonlyArray<QueuedMessage | SentMessage | RefusedMessage> & Answer>
  /**
   * Cancels a queued message: once it has resolved, the message is never sent. Rejects with \`already_sent\` if its
   * sending has begun. Safe to repeat.
   */
  readonly cancel: (messageId: string, options?: CallOptions & Option) => Promise<Message & Answer>
  /** Gets a message by its \`messageId\`, in either direction. */
  readonly get: (messageId: string, options?: CallOptions & Option) => Promise<AnyMessage & Answer>
  /**
   * The messages that the workspace sent, newest first. A filtered page may have fewer items than its limit, or none,
   * before the end of the list.
   */
  readonly list: (filter?: MessageFilter, options?: CallOptions & Option) => Listing<Message, Answer>
  /**
   * The conversation with a customer, by any of their names, newest first: what was sent to them, and what they wrote.
   * Without \`contact\`, what any customer wrote.
   */
  readonly conversation: (filter: ConversationFilter, options?: CallOptions & Option) => Listing<AnyMessage, Answer>
  /**
   * Marks a customer's message as read, by the \`message_id\` of its event, and optionally shows a typing indicator.
   * Rejects with \`not_found\` for your own messages.
   */
  readonly markRead: (messageId: string, options?: ReadOptions & Option) => Promise<ReadMessage & Answer>
}

/** A file to upload: at most 100 MB. */
export interface NewFile {
  /** All bytes, or a stream of pieces such as \`fs.createReadStream(path)\` or a \`ReadableStream\`. */
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
   * The bytes from \`start\` to before \`end\`, counted from 0: all of them by default. They are read only as fast as the
   * stream is.
   */
  readonly stream: (range?: { readonly start?: number; readonly end?: number }) => ReadableStream<Uint8Array>
}

/** The files of a workspace. */
export interface Media<Answer = unknown, Option = {}> {
  /**
   * Uploads a file. Its type is detected from its bytes. It is deleted some time after its last use, which the operator
   * sets. If the stream throws, the promise rejects with that, and nothing is kept. The same bytes and name with the
   * same \`idempotencyKey\` are stored once.
   */
  readonly upload: (file: NewFile, options?: SendOptions & Option) => Promise<StoredFile & Answer>
  /**
   * Opens a file of the workspace. A customer's file is fetched from the provider first if it was not yet; \`not_found\`
   * with the reason \`media_expired\` if the provider no longer has it.
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
   * the customer, or \`optIn\`. The name is a number in E.164 format, or a user id; the customer need not be known.
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
  /** As \`addRecipients\`, in place of all recipients that the campaign has, which then are not checked. */
  readonly replaceRecipients: (
    id: string,
    recipients: Iterable<CampaignRecipient> | AsyncIterable<CampaignRecipient>,
    options?: CallOptions & Option
  ) => Promise<Campaign & Answer>
  /** Checks the recipients in the background; the campaign is \`ready\` afterwards. */
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

/** The \`data\` of each type of event. */
export type EventDataByType = { readonly [Type in EventType]: EventOf<Type>["data"] }

/** The recorded events of a workspace. */
export interface Events<Answer = unknown, Option = {}> {
  /**
   * Oldest first: iterating to the end never skips an event that was being recorded meanwhile. The last page has a
   * \`nextCursor\` too, with \`hasMore: false\`; a later page from that cursor has what was recorded since. Newest first:
   * events that are being recorded may be missing, and \`nextCursor\` is \`null\` at the end.
   */
  readonly list: <Type extends EventType = EventType>(
    filter?: EventFilter<Type>,
    options?: CallOptions & Option
  ) => Listing<EventOf<Type>, Answer>
}

/**
 * The part of the service that a program in its process and a program with an API key use alike. Every call rejects with
 * a {@link MessagingError}, or the reason of its signal. Results are in camelCase; events, and contents of messages, are
 * as on the wire. \`Answer\` is what results have in addition, and \`Option\` what the options of every call may have.
 */
export interface Messaging<Answer = unknown, Option = {}> {
  readonly messages: Messages<Answer, Option>
  readonly media: Media<Answer, Option>
  readonly templates: Templates<Answer, Option>
  readonly contacts: Contacts<Answer, Option>
  readonly campaigns: Campaigns<Answer, Option>
  readonly events: Events<Answer, Option>
}
`
