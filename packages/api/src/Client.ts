/**
 * A client for callers of the HTTP API, over `fetch`. It imports neither Effect nor anything of the server, and runs
 * wherever `fetch` does, but for browsers: API keys are secrets of servers (specification §5).
 *
 * ```ts
 * import { createClient } from "@wac/api/Client"
 *
 * const wac = createClient({ baseUrl: "https://wac.example.com/v1", apiKey: process.env.WAC_API_KEY! })
 * await wac.messages.send({ to: "+15551234567", type: "text", text: { body: "Hello" } })
 * for await (const event of wac.events.list({ since: "2026-11-21T00:00:00Z" })) console.log(event.type)
 * ```
 */
import { requestPayload, sign, SIGNATURE_HEADER } from "@wac/verifier"
import { WacApiError, WacConnectionError } from "./ClientError.ts"
import * as ClientRetry from "./ClientRetry.ts"
import type { ErrorBody, Event, EventType, Message, Page, SendMessage, SentMessage, Template } from "./Wire.ts"

export { WacApiError, WacConnectionError } from "./ClientError.ts"
export type * from "./Wire.ts"

/** A send joins one that runs for up to 10 s, and the provider has 8 s: an answer that takes longer is lost. */
const attemptTimeout = 30_000

/** In all, with every retry: what a job can wait for. */
const defaultTimeout = 120_000

/** How a client calls, and as whom. */
export interface ClientOptions {
  /** Where the API is; its path ends in `/v1`. */
  readonly baseUrl: string | URL
  /** `wac_live_…` */
  readonly apiKey: string
  /** Signs every request that changes something with the secret that was shown with the key (contract §5). */
  readonly signingSecret?: string
  /** How long a call may take in all, retries and waits included, in milliseconds; 120,000 when left out. */
  readonly timeout?: number
  /** How often a call is made at most; 8 when left out, and 1 is no retry. */
  readonly maxAttempts?: number
  /** Makes the calls; the runtime's own when left out. */
  readonly fetch?: typeof fetch
  /** Time and chance, for tests; `sleep` rejects when the signal is aborted. */
  readonly clock?: {
    readonly now: () => number
    readonly sleep: (millis: number, signal: AbortSignal) => Promise<void>
    readonly random: () => number
  }
}

/** What any call takes. */
export interface CallOptions {
  /** Ends the call, and the waiting between retries. */
  readonly signal?: AbortSignal
}

/** What a send takes. */
export interface SendOptions extends CallOptions {
  /**
   * Unique per send, 1 to 255 visible ASCII characters. Give one that you can derive again (an order's id) and store
   * with your own data: then not even a crash of yours sends twice. One is made when it is left out; it is kept over
   * this call's own retries, and an error tells it.
   */
  readonly idempotencyKey?: string
}

/** A list, read page by page as it is gone through; each going-through begins anew. */
export interface List<Item> extends AsyncIterable<Item> {
  /** The pages, each with its cursor. */
  readonly pages: () => AsyncIterable<Page<Item>>
}

/** `limit` is items per page, 1 to 100; `cursor` continues after a page. */
export interface ListQuery {
  readonly limit?: number
  readonly cursor?: string
}

export interface TemplateQuery extends ListQuery {
  readonly status?: string
  readonly category?: string
  readonly language?: string
  readonly name?: string
}

export interface EventQuery extends ListQuery {
  /** Only events recorded at or after this time. */
  readonly since?: string | Date
  readonly type?: EventType
}

/** Every call rejects with {@link WacApiError}, {@link WacConnectionError}, or the reason of its signal. */
export interface Client {
  readonly messages: {
    /**
     * Sends a message once (specification §4). 429 and 5xx are retried under the same key, with backoff and at least
     * `Retry-After`, until the timeout. When it rejects with `outcome_unknown`, the message may have gone out: repeat
     * the call later with the error's `idempotencyKey` to learn its end; nothing is sent a second time.
     */
    readonly send: (message: SendMessage, options?: SendOptions) => Promise<SentMessage>
    readonly get: (id: string, options?: CallOptions) => Promise<Message>
  }
  readonly templates: {
    /** Templates of every status, newest first. */
    readonly list: (query?: TemplateQuery, options?: CallOptions) => List<Template>
  }
  readonly events: {
    /** What happened, oldest first. Keep the last page's cursor to go on from there: it never skips an event. */
    readonly list: (query?: EventQuery, options?: CallOptions) => List<Event>
  }
}

interface Call {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly body?: string
  readonly idempotencyKey?: string
  readonly signal: AbortSignal | undefined
}

const wallClock: NonNullable<ClientOptions["clock"]> = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (millis, signal) =>
    new Promise((resolve, reject) => {
      const abort = () => {
        clearTimeout(timer)
        reject(signal.reason)
      }
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", abort)
        resolve()
      }, millis)
      signal.addEventListener("abort", abort, { once: true })
      if (signal.aborted) abort()
    })
}

const isErrorBody = (body: unknown): body is ErrorBody =>
  typeof body === "object" && body !== null && "error" in body && typeof body.error === "object" &&
  body.error !== null && "code" in body.error && "request_id" in body.error

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `localhost:8080/v1` is an address too, of the scheme `localhost:`. */
const addressOf = (baseUrl: string | URL): URL => {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  const isRight = base !== undefined && /^https?:$/.test(base.protocol) && /\/v1\/?$/.test(base.pathname) &&
    base.search === "" && base.hash === ""
  if (!isRight) throw new TypeError("baseUrl must be the API's http or https address, whose path ends in /v1")
  return base
}

/**
 * Makes a client. Throws a `TypeError` for options that cannot be right, and in a browser.
 */
export const createClient = (options: ClientOptions): Client => {
  if ("document" in globalThis) {
    throw new TypeError("API keys are secrets of servers: call your own back end from the browser, and wac from there")
  }
  const base = addressOf(options.baseUrl)
  const { apiKey, clock = wallClock, maxAttempts = 8, signingSecret, timeout = defaultTimeout } = options
  if (typeof apiKey !== "string" || !/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey must be an API key")
  const send = options.fetch ?? fetch

  /** One attempt in at most so many milliseconds: what was answered, or the error that came instead. */
  const attempt = async (
    { body, idempotencyKey, method, path, signal }: Call,
    timeLeft: number
  ): Promise<unknown> => {
    const url = new URL(`${base.pathname.replace(/\/$/, "")}${path}`, base)
    const headers: Record<string, string> = { authorization: `Bearer ${apiKey}`, accept: "application/json" }
    if (body !== undefined) headers["content-type"] = "application/json"
    if (idempotencyKey !== undefined) headers["idempotency-key"] = idempotencyKey
    if (signingSecret !== undefined && method !== "GET") {
      headers[SIGNATURE_HEADER.toLowerCase()] = await sign(
        requestPayload({ method, target: `${url.pathname}${url.search}`, idempotencyKey, body: body ?? "" }),
        signingSecret,
        Math.floor(clock.now() / 1000)
      )
    }
    let status: number
    let text: string
    let retryAfter: number | undefined
    const attemptEnd = AbortSignal.timeout(Math.max(0, Math.ceil(Math.min(attemptTimeout, timeLeft))))
    try {
      const response = await send(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        // a redirect would carry the key to whoever it names
        redirect: "error",
        signal: signal === undefined ? attemptEnd : AbortSignal.any([attemptEnd, signal])
      })
      status = response.status
      retryAfter = ClientRetry.retryAfterOf(response.headers.get("retry-after"), clock.now())
      text = await response.text()
    } catch (cause) {
      if (signal?.aborted === true) throw signal.reason
      throw new WacConnectionError("no answer came from the service", { idempotencyKey, cause })
    }
    const answered = parse(text)
    if (status === 200 && answered !== undefined) return answered
    if (isErrorBody(answered)) throw new WacApiError(answered, { status, retryAfter, idempotencyKey })
    throw new WacConnectionError(`the answer (status ${status}) is not the service's`, { idempotencyKey, status })
  }

  const call = async (call: Call): Promise<unknown> => {
    const deadline = clock.now() + timeout
    for (let count = 1;; count++) {
      call.signal?.throwIfAborted()
      try {
        return await attempt(call, deadline - clock.now())
      } catch (error) {
        if (count >= maxAttempts || !ClientRetry.isRetryable(error)) throw error
        const wait = ClientRetry.waitAfter(count, error, clock.random())
        if (clock.now() + wait >= deadline) throw error
        await clock.sleep(wait, call.signal ?? new AbortController().signal)
      }
    }
  }

  const get = (path: string, { signal }: CallOptions = {}) => call({ method: "GET", path, signal })

  const listOf = <Item>(
    path: string,
    query: { readonly [name: string]: string | number | undefined } = {},
    options?: CallOptions
  ): List<Item> => {
    const pages = async function*() {
      let { cursor } = query
      while (true) {
        const params = new URLSearchParams()
        for (const [name, value] of Object.entries({ ...query, cursor })) {
          if (value !== undefined) params.set(name, `${value}`)
        }
        const page = await get(params.size === 0 ? path : `${path}?${params}`, options) as Page<Item>
        yield page
        if (!page.has_more || page.next_cursor === null) return
        cursor = page.next_cursor
      }
    }
    return {
      pages,
      async *[Symbol.asyncIterator]() {
        for await (const { data } of pages()) yield* data
      }
    }
  }

  return {
    messages: {
      send: async (message, { idempotencyKey = crypto.randomUUID(), signal } = {}) =>
        await call({
          method: "POST",
          path: "/messages",
          body: JSON.stringify(message),
          idempotencyKey,
          signal
        }) as SentMessage,
      get: async (id, options) => await get(`/messages/${encodeURIComponent(id)}`, options) as Message
    },
    templates: { list: (query, options) => listOf("/templates", { ...query }, options) },
    events: {
      list: ({ since, ...query } = {}, options) =>
        listOf("/events", {
          ...query,
          ...(since === undefined ? {} : { since: since instanceof Date ? since.toISOString() : since })
        }, options)
    }
  }
}
