/**
 * The client of the endpoints under `/v1`. It needs nothing but `fetch`, and refuses to run in browsers: API keys are
 * secrets of servers (specification §5).
 */
import { addressOf } from "./Address.ts"
import { joined } from "./Bytes.ts"
import { type CallOptions, given, limitsOf, onlyKnown, standard, type TransportOptions } from "./CallOptions.ts"
import { badOption, errorOf, WacError } from "./ClientError.ts"
import * as Limits from "./generated/Limits.ts"
import type {
  AnyMessage,
  Campaign,
  CampaignRow,
  Campaigns,
  Message,
  Messaging,
  NewFile,
  OptOut,
  OptOutOptions,
  Page,
  QueuedMessage,
  ReadMessage,
  SendOptions,
  SentMessage,
  StoredFile,
  Template
} from "./generated/Messaging.ts"
import type { BatchResults, Routes } from "./generated/Wire.ts"
import { jsonOf } from "./JsonBody.ts"
import { type Answered, answered, type LastResponse } from "./LastResponse.ts"
import { listOf } from "./List.ts"
import { formOf } from "./MediaForm.ts"
import { fromWire, nameOf, toWire } from "./Names.ts"
import type { Page as WirePage } from "./Page.ts"
import { signatureOf } from "./RequestSignature.ts"
import { transportOf } from "./Transport.ts"

/** The client's address, credentials and settings. */
export interface ClientOptions extends TransportOptions {
  /** The API's address; its path ends in `/v1`. */
  readonly baseUrl: string | URL
  /** `wac_live_…` */
  readonly apiKey: string
  /** Signs every request that changes something with the secret that was shown with the key (contract §5). */
  readonly signingSecret?: string
}

/** What this client's results have in addition to an embedded service's. */
export interface Response {
  readonly lastResponse: LastResponse
}

/** What the options of this client's calls may have in addition to an embedded service's. */
export type Retries = Pick<CallOptions, "retries">

/** A campaign's recipients as a file. */
export interface CampaignFile {
  readonly bytes: Uint8Array
  readonly type: "application/x-ndjson" | "text/csv"
}

/** Options of an upload of recipients. */
export interface CampaignFileOptions extends CallOptions {
  /** The country of the numbers without a country code, in ISO 3166-1 alpha-2. */
  readonly defaultCountry?: string
  /** Whether the file replaces all rows of the campaign; if not, its rows are added. */
  readonly replace?: boolean
  /** The column of a CSV file with the phone numbers or user ids; defaults to `to`. */
  readonly toColumn?: string
}

/**
 * The same interface as an embedded service's; results have {@link Response} in addition. Responses with 429 and 5xx
 * are retried under the same key, with backoff and after at least `Retry-After`, until the timeout, which is 30 seconds
 * by default.
 */
export interface Client extends Messaging<Response, Retries> {
  /** For a key with the scope `campaigns:write`. */
  readonly campaigns: Campaigns<Response, Retries> & {
    /**
     * Adds the recipients of a file, NDJSON or CSV with a header row, or replaces the campaign's recipients. If the
     * file is refused, the campaign stays as it was. The timeout defaults to 30 minutes. An upload that adds rows is
     * repeated only if it certainly added none: if it fails with an unknown outcome, look at the campaign's `rows`.
     */
    readonly upload: (id: string, file: CampaignFile, options?: CampaignFileOptions) => Promise<Campaign & Response>
  }
}

const checked = (idempotencyKey: string): string => {
  if (typeof idempotencyKey !== "string" || !Limits.idempotencyKey.test(idempotencyKey)) {
    throw badOption("idempotencyKey", `idempotencyKey must be ${Limits.idempotencyKeyForm}`, "invalid_idempotency_key")
  }
  return idempotencyKey
}

const times = ["sendAt", "sendUntil"]

/** Throws a `WacError` for the first of these names that an object has. A field that is `undefined` counts as omitted. */
const without = <Given>(given: Given, ...names: ReadonlyArray<string>): Given => {
  for (const name of names) {
    if ((Object(given) as { readonly [name: string]: unknown })[name] !== undefined) {
      throw badOption(name, `there is no field ${name} here`, "unknown_field")
    }
  }
  return given
}

/** Reads all bytes into memory, because requests that are repeated or signed need them. */
const gathered = async (
  pieces: NewFile["bytes"],
  signal: AbortSignal | undefined
) => {
  const wrong = "bytes must be a Uint8Array, or a stream of them without an encoding"
  const all: Array<Uint8Array> = []
  if (pieces instanceof Uint8Array) all.push(pieces)
  else if (!(pieces as Partial<typeof pieces> | undefined)?.[Symbol.asyncIterator]) throw badOption("bytes", wrong)
  else {
    for await (const piece of pieces) {
      signal?.throwIfAborted()
      if (!(piece instanceof Uint8Array)) throw badOption("bytes", wrong)
      all.push(piece)
    }
  }
  return all
}

/**
 * Makes a client. Throws a `WacError` for invalid options, and in a browser.
 */
export const createClient = (options: ClientOptions): Client => {
  if ("document" in globalThis) {
    throw badOption(
      "apiKey",
      "API keys are secrets of servers: call your own back end from the browser, and wac from there"
    )
  }
  onlyKnown(options, ["baseUrl", "apiKey", "signingSecret", "timeout", "retries", "hooks", "fetch", "clock"])
  const base = addressOf(options.baseUrl)
  if (base === undefined || !/\/v1\/?$/.test(base.pathname)) {
    throw badOption("baseUrl", "baseUrl must be the API's http or https address, whose path ends in /v1")
  }
  // each route contains its own /v1
  base.pathname = base.pathname.replace(/\/v1\/?$/, "/")
  const { apiKey, signingSecret } = options
  if (typeof apiKey !== "string" || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw badOption("apiKey", "apiKey must be an API key")
  }

  const call = transportOf<Routes>(
    base,
    {
      headersOf: async (request, now) => ({
        authorization: `Bearer ${apiKey}`,
        ...(signingSecret === undefined || request.method === "GET"
          ? {}
          : { "x-service-signature": await signatureOf(request, signingSecret, Math.floor(now / 1000)) })
      })
    },
    options,
    nameOf
  )

  /** A result with the names of programs. */
  const named = async <Result extends object>(
    answer: Promise<Answered<object>>,
    isDeep?: boolean
  ): Promise<Result & Response> => {
    const wire = await answer
    return answered(fromWire(wire, isDeep) as Result, wire.lastResponse)
  }

  const list = <Item>(
    get: (query: never, options: CallOptions | undefined) => Promise<Answered<WirePage<object>>>,
    read: (item: object) => object = (item) => fromWire(item),
    ...foreign: ReadonlyArray<string>
  ) =>
  (filter?: object, options?: CallOptions) =>
    listOf<Item, Page<Item>>(
      async (page) => {
        const { data, has_more: hasMore, lastResponse, next_cursor: nextCursor } = await get(
          { ...toWire(without(filter, "limit", "cursor", ...foreign)) as object, ...page } as never,
          options
        )
        return answered({ data: data.map(read) as unknown as ReadonlyArray<Item>, hasMore, nextCursor }, lastResponse)
      },
      ({ data, hasMore, nextCursor }) => ({ data, next: hasMore ? nextCursor : null }),
      { limit: 100 }
    )

  const keyed: typeof call = async (
    route,
    values,
    asked?: SendOptions
  ) => {
    const { idempotencyKey = crypto.randomUUID(), ...options } = given(asked)
    return call(route, { ...values, idempotencyKey: checked(idempotencyKey) }, options)
  }

  /** A sent or queued message with `replayed`, which the response's headers report. */
  const replayable = async (answer: Promise<Answered<object>>) => {
    const result = await named<SentMessage | QueuedMessage>(answer)
    return answered({ ...result, replayed: result.lastResponse.replayed }, result.lastResponse)
  }

  type Act = "check" | "start" | "pause" | "resume" | "cancel"

  const act = (verb: Act) => (id: string, options?: SendOptions) =>
    named<Campaign>(keyed(`POST /v1/campaigns/:id/${verb}`, { id }, options), true)

  const choose = (method: "PUT" | "DELETE") => async (id: string, asked?: OptOutOptions) => {
    const { phoneNumberId, ...options } = given(asked)
    return named<OptOut>(call(`${method} /v1/contacts/:name/opt-out`, { id, body: toWire({ phoneNumberId }) }, options))
  }

  const upload: Client["campaigns"]["upload"] = async (id, { bytes, type }, asked) => {
    const { defaultCountry, replace, timeout = Limits.uploadTimeout, toColumn, ...options } = given(asked)
    return named<Campaign>(
      call("PUT /v1/campaigns/:id/recipients", {
        id,
        query: toWire({ defaultCountry, replace, toColumn }),
        content: { bytes: bytes.slice(), type },
        // a file that replaces all rows can be uploaded twice without harm
        once: replace !== true
      }, { ...options, timeout }),
      true
    )
  }

  const put = (replace: boolean): Client["campaigns"]["addRecipients"] => async (id, recipients, asked) => {
    const options = given(asked)
    const lines: Array<string> = []
    for await (const recipient of recipients) {
      options.signal?.throwIfAborted()
      lines.push(`${jsonOf(recipient)}\n`)
    }
    return upload(id, { bytes: await joined(lines), type: "application/x-ndjson" }, { ...options, replace })
  }

  /**
   * A request for a file, or a part of it: `open` resolves once the headers are there. `leave` ends it, also before, and
   * must be called in any case: it takes its listener from the signal.
   */
  const partOf = (id: string, range: string, options?: CallOptions) => {
    const leaving = new AbortController()
    const callOptions = given<CallOptions>(options)
    limitsOf(standard, callOptions)
    const { signal } = callOptions
    const abort = () => leaving.abort(signal!.reason)
    signal?.addEventListener("abort", abort, { signal: leaving.signal })
    if (signal?.aborted === true) abort()
    return {
      open: async () => {
        let response: globalThis.Response
        await call("GET /v1/media/:id", {
          id,
          headers: { range },
          opened: (opened) => void (response = opened)
        }, { ...callOptions, signal: leaving.signal })
        return response!
      },
      leave: () => leaving.abort()
    }
  }

  return {
    messages: {
      send: async (message, options) => {
        const answer = await replayable(
          keyed("POST /v1/messages", { body: toWire(without(message, ...times)) }, options)
        )
        if (answer.status === "sent") return answer as never
        const { lastResponse, messageId } = answer
        throw errorOf({
          error: {
            code: "idempotency_conflict",
            reason: "payload_mismatch",
            message: `the idempotency key was used to queue this message: ${messageId} is sent at its time`,
            // every response of the service has a request id
            request_id: lastResponse.requestId!
          }
        }, { status: 409, idempotencyKey: options?.idempotencyKey, lastResponse })
      },
      enqueue: async (message, asked) => {
        const { sendAt, sendUntil, ...options } = given(asked)
        return replayable(keyed(
          "POST /v1/messages",
          {
            body: toWire({ ...without(message, ...times), sendAt, sendUntil }),
            headers: { prefer: "respond-async" }
          },
          options
        )) as never
      },
      enqueueMany: async (messages, options) => {
        const { lastResponse, results } = await call("POST /v1/messages/batch", {
          body: { messages: Array.isArray(messages) ? messages.map((one) => toWire(Object(one))) : messages } as never,
          idempotencyKey: crypto.randomUUID()
        }, options).catch((error: unknown) => {
          // no message has the key of the batch: one that is sent with it would be another message
          throw error instanceof WacError ? Object.assign(error, { idempotencyKey: undefined }) : error
        }) as Answered<BatchResults>
        return answered(
          results.map((result, index) =>
            result.status === "refused"
              ? {
                status: result.status,
                error: errorOf(
                  result as never,
                  {
                    status: result.http_status,
                    retryAfter: result.retry_after && result.retry_after * 1000,
                    idempotencyKey: messages[index]?.idempotencyKey,
                    lastResponse
                  },
                  nameOf
                )
              }
              : fromWire(result)
          ) as never,
          lastResponse
        )
      },
      cancel: (id, options) => named<Message>(call("DELETE /v1/messages/:id", { id }, options)),
      markRead: async (id, asked) => {
        const { typing, ...options } = given(asked)
        return named<ReadMessage>(keyed("POST /v1/messages/:id/read", { id, body: toWire({ typing }) }, options))
      },
      get: (id, options) => named<AnyMessage>(call("GET /v1/messages/:id", { id }, options)) as never,
      conversation: list<AnyMessage>((query: { readonly contact?: string }, options) =>
        call(
          "GET /v1/messages",
          { query: query.contact === undefined ? { direction: "inbound", ...query } : query },
          options
        )
      ),
      // its route lists conversations too
      list: list<Message>(
        (query, options) => call("GET /v1/messages", { query }, options),
        undefined,
        "contact",
        "direction"
      )
    },
    media: {
      upload: async (file, options) => {
        onlyKnown(Object(file), ["bytes", "filename"])
        const { bytes, filename = "" } = Object(file) as NewFile
        if (typeof filename !== "string") throw badOption("filename", "filename must be text")
        return named<StoredFile>(
          keyed(
            "POST /v1/media",
            { content: await formOf(await gathered(bytes, options?.signal), filename) },
            options
          )
        )
      },
      open: async (id, options) => {
        // requests one byte, because only a request for the content gets an error with a reason
        const first = partOf(id, "bytes=0-0", options)
        const { headers } = await first.open().finally(first.leave)
        const size = Number(headers.get("content-range")?.split("/")[1])
        return {
          id,
          mimeType: headers.get("content-type")?.split(";")[0] ?? "application/octet-stream",
          size,
          stream: (range = {}) => {
            const place = (name: "start" | "end", otherwise: number) => {
              const within = Math.min(Math.max(0, range[name] ?? otherwise), size)
              if (!Number.isInteger(within)) throw badOption(name, `${name} must be a whole number`)
              return within
            }
            const end = place("end", size)
            const start = place("start", 0)
            const part = partOf(id, `bytes=${start}-${end - 1}`, options)
            let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined
            return new ReadableStream<Uint8Array<ArrayBuffer>>({
              pull: async (controller) => {
                try {
                  reader ??= start < end ? (await part.open()).body!.getReader() : undefined
                  const { done, value } = await reader?.read() ?? { done: true }
                  if (!done) return controller.enqueue(value)
                  controller.close()
                } catch (error) {
                  controller.error(error)
                }
                part.leave()
              },
              cancel: part.leave
            })
          }
        }
      },
      remove: (id, options) => call("DELETE /v1/media/:id", { id }, options)
    },
    contacts: { optOut: choose("PUT"), optIn: choose("DELETE") },
    campaigns: {
      create: async (campaign, options) =>
        named<Campaign>(keyed("POST /v1/campaigns", { body: toWire(campaign) }, options), true),
      list: list<Campaign>(
        (query, options) => call("GET /v1/campaigns", { query }, options),
        (one) => fromWire(one, true)
      ),
      get: (id, options) => named<Campaign>(call("GET /v1/campaigns/:id", { id }, options), true),
      edit: async (id, change, options) =>
        named<Campaign>(call("PATCH /v1/campaigns/:id", { id, body: toWire(change) }, options), true),
      remove: (id, options) => call("DELETE /v1/campaigns/:id", { id }, options),
      addRecipients: put(false),
      replaceRecipients: put(true),
      upload,
      check: act("check"),
      start: act("start"),
      pause: act("pause"),
      resume: act("resume"),
      cancel: act("cancel"),
      recipients: (id, filter, options) =>
        list<CampaignRow>(
          (query, options) => call("GET /v1/campaigns/:id/recipients", { id, query }, options),
          (one) => fromWire(one, true)
        )(filter, options)
    },
    templates: {
      list: list<Template>((query, options) => call("GET /v1/templates", { query }, options))
    },
    events: {
      list: list<never>((query, options) => call("GET /v1/events", { query }, options), (event) => event)
    }
  }
}
