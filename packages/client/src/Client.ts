/**
 * The client of `/v1`, over `fetch` alone. It runs wherever `fetch` does, except in browsers: API keys are secrets of
 * servers (specification §5).
 */
import { addressOf } from "./Address.ts"
import { WacApiError } from "./ClientError.ts"
import type { Event } from "./Event.ts"
import * as Limits from "./generated/Limits.ts"
import type {
  AnyMessage,
  BatchItem,
  BatchResults,
  CampaignRowQuery,
  ChooseOptOut,
  CreatePublicCampaign as CreateCampaign,
  EditPublicCampaign as EditCampaign,
  EventQuery,
  ListQuery,
  MarkRead,
  Media,
  Message,
  MessageQuery,
  OptOut,
  PublicCampaign as Campaign,
  PublicCampaignRow as CampaignRow,
  QueuedMessage,
  ReadMessage,
  RecipientQuery,
  Routes,
  SendMessage,
  SentMessage,
  Template,
  TemplateQuery
} from "./generated/Wire.ts"
import type { Answered } from "./LastResponse.ts"
import { type List, listOf } from "./List.ts"
import { formOf } from "./MediaForm.ts"
import type { Page } from "./Page.ts"
import { signatureOf } from "./RequestSignature.ts"
import { type CallOptions, transportOf, type TransportOptions } from "./Transport.ts"

/** The client's address, credentials and settings. */
export interface ClientOptions extends TransportOptions {
  /** The API's address; its path ends in `/v1`. */
  readonly baseUrl: string | URL
  /** `wac_live_…` */
  readonly apiKey: string
  /** Signs every request that changes something with the secret that was shown with the key (contract §5). */
  readonly signingSecret?: string
}

/** Options of a send. */
export interface SendOptions extends CallOptions {
  /**
   * Unique per send, 1 to 255 visible ASCII characters. Use one that you can derive again (an order's id) and store
   * with your own data: then even a crash of your process cannot send twice. By default the client makes one; the
   * call's own retries keep it, and errors carry it.
   */
  readonly idempotencyKey?: string
}

/** A message to send at once, or in `enqueue` at its time. */
export type NewMessage = SendMessage extends infer Message
  ? Message extends SendMessage ? Omit<Message, "send_at" | "send_until"> : never
  : never

/** When a queued message is sent (contract §15). */
export interface SendTimes {
  /** Not before this time: at most 90 days ahead; the past means now. Now by default. */
  readonly sendAt?: Date | string
  /** How long it is tried if something temporary holds it up; 24 hours after `sendAt` by default. */
  readonly sendUntil?: Date | string
}

/** Options of queueing a message. */
export interface EnqueueOptions extends SendOptions, SendTimes {}

/** A message to be queued with others. */
export type QueueItem = NewMessage & SendTimes & {
  /** As in {@link SendOptions}: of this message alone, and the same as if it were sent or queued alone. */
  readonly idempotencyKey: string
}

/** Which messages of conversations to list (contract §13). */
export type ConversationQuery = Pick<MessageQuery, "contact" | "direction" | "limit" | "cursor">

/** A file of recipients. */
export interface CampaignFile {
  readonly bytes: Uint8Array
  readonly type: "application/x-ndjson" | "text/csv"
}

/** A file to upload: at most 100 MB. */
export interface MediaFile {
  readonly bytes: Uint8Array
  /** The file's name, which recipients and downloads see. */
  readonly filename: string
}

/** Options of a download. */
export interface OpenOptions extends CallOptions {
  /** `Range`, `If-Range`, `If-None-Match`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Every call rejects with {@link WacApiError}, {@link WacConnectionError}, or the reason of its signal. */
export interface Client {
  readonly messages: {
    /**
     * Sends a message once (specification §4). 429 and 5xx are retried under the same key, with backoff and at least
     * `Retry-After`, until the timeout. If it rejects with `outcome_unknown`, the message may have gone out: repeat
     * the call later with the error's `idempotencyKey` to learn the outcome; nothing is sent a second time.
     *
     * If `enqueue` has used the key for this message, it rejects with `idempotency_conflict`: the message is sent at its
     * time, and not by this call.
     */
    readonly send: (message: NewMessage, options?: SendOptions) => Promise<Answered<SentMessage>>
    /**
     * Queues a message, to be sent once at its time: resolves when it is accepted, and events report what becomes of it.
     * Retried as `send` is. If `send` has used the key for this message, the answer is that it is `sent`.
     */
    readonly enqueue: (message: NewMessage, options?: EnqueueOptions) => Promise<Answered<QueuedMessage | SentMessage>>
    /**
     * Queues 1 to 500 messages, each as `enqueue` would. The results are in their order: one that is `refused` does not
     * touch the others, and can be queued again under its key. `idempotencyKey` in the options is that of the request.
     */
    readonly enqueueMany: (
      messages: ReadonlyArray<QueueItem>,
      options?: SendOptions
    ) => Promise<Answered<BatchResults>>
    /**
     * Cancels a queued message: once it has resolved, the message is never sent. Rejects with `already_sent` if its
     * sending has begun. Safe to repeat.
     */
    readonly cancel: (id: string, options?: CallOptions) => Promise<Answered<Message>>
    /** Marks a customer's message as read by its `message_id`, and can show a typing indicator. */
    readonly markRead: (id: string, mark?: MarkRead, options?: SendOptions) => Promise<Answered<ReadMessage>>
    /** A message in its current state, or a customer's message. */
    readonly get: (id: string, options?: CallOptions) => Promise<Answered<AnyMessage>>
    /**
     * The messages of one customer in both directions, newest first, by any of their names; without `contact`, what any
     * customer wrote.
     */
    readonly conversation: (query: ConversationQuery, options?: CallOptions) => List<AnyMessage, Page<AnyMessage>>
    /** The messages that the workspace sent, newest first. */
    readonly list: (query?: MessageQuery, options?: CallOptions) => List<Message, Page<Message>>
  }
  readonly media: {
    /**
     * Uploads a file, whose `media_id` messages then name. It is deleted some time after its last use. Retries keep the
     * key, so the file is stored once.
     */
    readonly upload: (file: MediaFile, options?: SendOptions) => Promise<Answered<Media>>
    /**
     * Opens a file, uploaded or from a customer. The response's body is a stream; nobody has read it yet. With
     * `headers` such as `Range` and `If-None-Match` its status may be 206, 304 or 416.
     */
    readonly open: (id: string, options?: OpenOptions) => Promise<Response>
    /** Deletes a file. */
    readonly remove: (id: string, options?: CallOptions) => Promise<void>
  }
  readonly contacts: {
    /**
     * Opts a customer out, under every name that they have: no free-form text and no marketing is sent until START from
     * the customer, or `optIn`. The name is a number in E.164 format, or a user id; the customer need not be known.
     */
    readonly optOut: (name: string, forNumber?: ChooseOptOut, options?: CallOptions) => Promise<Answered<OptOut>>
    /** Ends the opt-out of a customer, whoever set it. Have the customer's consent. */
    readonly optIn: (name: string, forNumber?: ChooseOptOut, options?: CallOptions) => Promise<Answered<OptOut>>
  }
  /** One template to many customers, each once: for a key with the scope `campaigns:write`. */
  readonly campaigns: {
    /** Makes a draft without recipients. Nothing is sent until it is checked and started. */
    readonly create: (campaign: CreateCampaign, options?: SendOptions) => Promise<Answered<Campaign>>
    /** Newest first. Of a key that is bound to numbers, the campaigns of these. */
    readonly list: (query?: ListQuery, options?: CallOptions) => List<Campaign, Page<Campaign>>
    readonly get: (id: string, options?: CallOptions) => Promise<Answered<Campaign>>
    /** Changes a campaign; templates, sender and holdout only before it is started. */
    readonly edit: (id: string, change: EditCampaign, options?: CallOptions) => Promise<Answered<Campaign>>
    /** Deletes a campaign that was not started, with its recipients. */
    readonly remove: (id: string, options?: CallOptions) => Promise<void>
    /**
     * Adds the recipients of a file, NDJSON or CSV with a header row, or replaces those that the campaign has. If the
     * file is refused, the campaign stays as it was. It may take 30 minutes, unless `timeout` says otherwise. A file
     * that adds is repeated only if it certainly did not: otherwise look at the campaign's `rows`.
     */
    readonly upload: (
      id: string,
      file: CampaignFile,
      query?: RecipientQuery,
      options?: CallOptions
    ) => Promise<Answered<Campaign>>
    /** Checks the recipients in the background; the campaign is `ready` afterwards. */
    readonly check: (id: string, options?: SendOptions) => Promise<Answered<Campaign>>
    readonly start: (id: string, options?: SendOptions) => Promise<Answered<Campaign>>
    /** Within a second nothing more is sent. */
    readonly pause: (id: string, options?: SendOptions) => Promise<Answered<Campaign>>
    readonly resume: (id: string, options?: SendOptions) => Promise<Answered<Campaign>>
    /** Skips every recipient that is not sent to yet. */
    readonly cancel: (id: string, options?: SendOptions) => Promise<Answered<Campaign>>
    /** The rows, in the order of their upload. */
    readonly recipients: (
      id: string,
      query?: CampaignRowQuery,
      options?: CallOptions
    ) => List<CampaignRow, Page<CampaignRow>>
  }
  readonly templates: {
    /** Templates of every status, newest first. */
    readonly list: (query?: TemplateQuery, options?: CallOptions) => List<Template, Page<Template>>
  }
  readonly events: {
    /**
     * The recorded events, oldest first by default. Continue later from the last page's cursor: no event is skipped.
     */
    readonly list: (query?: EventQuery, options?: CallOptions) => List<Event, Page<Event>>
  }
}

const checked = (idempotencyKey: string): string => {
  if (!Limits.idempotencyKey.test(idempotencyKey)) {
    throw new TypeError(`idempotencyKey must be ${Limits.idempotencyKeyForm}`)
  }
  return idempotencyKey
}

/** In the names of the wire. JSON writes a `Date` as the service reads it, and leaves out what is `undefined`. */
const queued = ({ idempotencyKey, sendAt, sendUntil, ...message }: QueueItem) =>
  ({ ...message, idempotency_key: idempotencyKey, send_at: sendAt, send_until: sendUntil }) as BatchItem

/**
 * Makes a client. Throws a `TypeError` for invalid options, and in a browser.
 */
export const createClient = (options: ClientOptions): Client => {
  if ("document" in globalThis) {
    throw new TypeError("API keys are secrets of servers: call your own back end from the browser, and wac from there")
  }
  const base = addressOf(options.baseUrl)
  if (base === undefined || !/\/v1\/?$/.test(base.pathname)) {
    throw new TypeError("baseUrl must be the API's http or https address, whose path ends in /v1")
  }
  // routes name their /v1 themselves
  base.pathname = base.pathname.replace(/\/v1\/?$/, "/")
  const { apiKey, signingSecret } = options
  if (typeof apiKey !== "string" || !/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey must be an API key")

  const call = transportOf<Routes>(base, {
    headersOf: async (request, now) => ({
      authorization: `Bearer ${apiKey}`,
      ...(signingSecret === undefined || request.method === "GET"
        ? {}
        : { "x-service-signature": await signatureOf(request, signingSecret, Math.floor(now / 1000)) })
    })
  }, options)

  const list = <Item, Query extends object>(
    get: (query: Query | { readonly cursor: string } | undefined, options: CallOptions | undefined) => Promise<
      Answered<Page<Item>>
    >
  ) =>
  (query?: Query, options?: CallOptions): List<Item, Page<Item>> =>
    listOf(
      (cursor) => get(cursor === undefined ? query : { ...query, cursor }, options),
      ({ data, has_more, next_cursor }) => ({ data, next: has_more ? next_cursor : null })
    )

  const keyed: typeof call = async (
    route,
    values,
    { idempotencyKey = crypto.randomUUID(), ...options }: SendOptions = {}
  ) => call(route, { ...values, idempotencyKey: checked(idempotencyKey) }, options)

  type Act = "check" | "start" | "pause" | "resume" | "cancel"

  const act = (verb: Act) => (id: string, options?: SendOptions) =>
    keyed(`POST /v1/campaigns/:id/${verb}`, { id }, options)

  return {
    messages: {
      send: async (body, options) => {
        const answer = await keyed("POST /v1/messages", { body }, options)
        if (answer.status !== "queued") return answer
        const { lastResponse, message_id } = answer
        throw new WacApiError({
          error: {
            code: "idempotency_conflict",
            reason: "payload_mismatch",
            message: `the key queued ${message_id}`,
            // every response of the service has one
            request_id: lastResponse.requestId!
          }
        }, { ...options, lastResponse })
      },
      enqueue: (message, { sendAt, sendUntil, ...options } = {}) =>
        keyed(
          "POST /v1/messages",
          { body: queued({ ...message, sendAt, sendUntil } as QueueItem), headers: { prefer: "respond-async" } },
          options
        ),
      enqueueMany: (messages, options) =>
        keyed("POST /v1/messages/batch", { body: { messages: messages.map(queued) } }, options),
      cancel: (id, options) => call("DELETE /v1/messages/:id", { id }, options),
      markRead: (id, body = {}, options) => keyed("POST /v1/messages/:id/read", { id, body }, options),
      get: (id, options) => call("GET /v1/messages/:id", { id }, options),
      conversation: list((query?: ConversationQuery, options?) =>
        call(
          "GET /v1/messages",
          { query: { ...(query?.contact === undefined ? { direction: "inbound" } : {}), ...query } },
          options
        )
      ),
      // without a contact or a direction it has no others
      list: list((query?: MessageQuery, options?) =>
        call("GET /v1/messages", { query }, options) as Promise<Answered<Page<Message>>>
      )
    },
    media: {
      upload: async (file, options) => keyed("POST /v1/media", { content: formOf(file) }, options),
      open: async (id, { headers = {}, ...options } = {}) => {
        let response: Response | undefined
        await call("GET /v1/media/:id", { id, headers, opened: (opened) => void (response = opened) }, options)
        return response!
      },
      remove: (id, options) => call("DELETE /v1/media/:id", { id }, options)
    },
    contacts: {
      optOut: (id, body = {}, options) => call("PUT /v1/contacts/:name/opt-out", { id, body }, options),
      optIn: (id, body = {}, options) => call("DELETE /v1/contacts/:name/opt-out", { id, body }, options)
    },
    campaigns: {
      create: (body, options) => keyed("POST /v1/campaigns", { body }, options),
      list: list((query?: ListQuery, options?) => call("GET /v1/campaigns", { query }, options)),
      get: (id, options) => call("GET /v1/campaigns/:id", { id }, options),
      edit: (id, body, options) => call("PATCH /v1/campaigns/:id", { id, body }, options),
      remove: (id, options) => call("DELETE /v1/campaigns/:id", { id }, options),
      upload: (id, { bytes, type }, query, options) => {
        // a file in place of all rows may be put there twice
        const once = query?.replace !== true
        return call("PUT /v1/campaigns/:id/recipients", { id, query, content: { bytes: bytes.slice(), type }, once }, {
          timeout: Limits.uploadTimeout,
          ...options
        })
      },
      check: act("check"),
      start: act("start"),
      pause: act("pause"),
      resume: act("resume"),
      cancel: act("cancel"),
      recipients: (id, query, options) =>
        list((query?: CampaignRowQuery, options?) => call("GET /v1/campaigns/:id/recipients", { id, query }, options))(
          query,
          options
        )
    },
    templates: {
      list: list((query?: TemplateQuery, options?) => call("GET /v1/templates", { query }, options))
    },
    events: {
      list: list((query?: EventQuery, options?) => call("GET /v1/events", { query }, options))
    }
  }
}
