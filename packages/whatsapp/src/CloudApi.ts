/**
 * Calls the Cloud API over HTTP: with one deadline, bounded responses, no redirect and no proxy. No request is ever
 * sent twice.
 */
import { Agent, type Dispatcher, request } from "#undici"
import { Provider } from "@wac/core"
import { type Duration, Effect, Redacted, type Schema, type Scope, Stream } from "effect"
import type * as FileForm from "./FileForm.ts"
import * as Payload from "./Payload.ts"
import { type Headers, regainAfter } from "./UsageHeaders.ts"

/** The address and the credentials of a call. */
export interface Access {
  /** Such as `https://graph.facebook.com`; it may contain a path. */
  readonly baseUrl: string
  /** Such as `v25.0`. */
  readonly apiVersion: string
  readonly accessToken: Redacted.Redacted
}

export interface Call {
  readonly method: "GET" | "POST" | "DELETE"
  /** The segments of the path after the version. */
  readonly path: ReadonlyArray<string>
  readonly query?: { readonly [name: string]: string }
  readonly body?: Schema.Json
  /** Replaces `body`. */
  readonly file?: FileForm.FileForm
  /** The time for the whole call, to the end of the response. */
  readonly timeout: Duration.Duration
  /** The limit on the response: a longer one ends the call as `Lost`. */
  readonly maxBytes: number
}

/** The result of a call. */
export type Answer =
  | {
    readonly _tag: "Answered"
    readonly status: number
    /** Undefined if the response is not JSON. */
    readonly json: Payload.Json | undefined
    /** When calls will be accepted again, if the response reports it. */
    readonly regainAfter: Duration.Duration | undefined
  }
  /** No byte of the request was sent. */
  | { readonly _tag: "NotSent"; readonly why: string }
  /** The request may have been sent, but no complete response arrived. */
  | { readonly _tag: "Lost"; readonly why: string }

/** The result of a file download. */
export type Download =
  | { readonly _tag: "Begun"; readonly bytes: Stream.Stream<Uint8Array, Provider.ProviderError> }
  | { readonly _tag: "Refused"; readonly status: number }
  | { readonly _tag: "Lost"; readonly why: string }

/**
 * The maximum number of connections to one host. A number of the highest tier sends 1,000 messages a second, and a
 * response takes a fraction of a second. A call without a connection waits, and is not sent if its timeout ends first.
 */
const maxConnections = 512

/**
 * An unused connection is closed after this: common servers close theirs after 5 s, and a request on a connection that
 * was just closed has an unknown outcome.
 */
const idleTimeoutMs = 4_000

/** The timeout for connecting, TLS included. It is shorter than a send's: then the request was certainly not sent. */
const connectTimeoutMs = 5_000

const userAgent = "wac"

const utf8 = new TextDecoder()

/** One request: whether it was sent, and the response so far. */
class Exchange {
  hasLeft = false
  isOver = false
  status = 0
  headers: Headers = {}
  readonly chunks: Array<Uint8Array> = []
  length = 0

  /** The result without a complete response: `Lost` if the request may have been sent, else `NotSent`. */
  cutShort(why: string): Answer {
    return { _tag: this.hasLeft ? "Lost" : "NotSent", why }
  }

  answer(): Answer {
    const bytes = new Uint8Array(this.length)
    let offset = 0
    for (const chunk of this.chunks) {
      bytes.set(chunk, offset)
      offset += chunk.length
    }
    return {
      _tag: "Answered",
      status: this.status,
      json: Payload.parse(utf8.decode(bytes)),
      regainAfter: regainAfter(this.headers)
    }
  }
}

/** The reason that undici's `abort` requires. It is never shown. */
const brokenOff = new Error("broken off")

/**
 * The cause of a failure as one word: system errors and undici's errors have a code. Their messages may contain
 * secrets, such as URLs.
 */
const whyOf = (error: Error): string => "code" in error && typeof error.code === "string" ? error.code : error.name

/** Encodes a segment of a path, except colons, which the names of uploads contain. */
const segment = (text: string): string => encodeURIComponent(text).replaceAll("%3A", ":")

const pathOf = (access: Access, call: Call, base: URL): string => {
  const path = [access.apiVersion, ...call.path].map(segment).join("/")
  const query = call.query === undefined ? "" : `?${new URLSearchParams(call.query)}`
  return `${base.pathname.replace(/(?<!\/)\/+$/, "")}/${path}${query}`
}

export class CloudApi {
  readonly #agent: Dispatcher

  /** `agent` is undici's. Its type must not appear in the declarations, because undici is bundled into the package. */
  constructor(agent: object) {
    this.#agent = agent as Dispatcher
  }

  /** Makes the call once. Every failure is a result too; interruption breaks the call off. */
  readonly call = (access: Access, call: Call): Effect.Effect<Answer> =>
    Effect.suspend(() => {
      const exchange = new Exchange()
      return Effect.callback<Answer>((resume) => this.#dispatch(access, call, exchange, resume)).pipe(
        Effect.timeoutOrElse({
          duration: call.timeout,
          orElse: () => Effect.succeed(exchange.cutShort("timeout"))
        })
      )
    })

  /** Requests a file by its address and streams its bytes at the reader's pace. No redirect is followed. */
  readonly download = (access: Access, address: string): Effect.Effect<Download> =>
    Effect.tryPromise({
      try: (signal) =>
        request(address, {
          dispatcher: this.#agent,
          signal,
          headers: { "user-agent": userAgent, authorization: `Bearer ${Redacted.value(access.accessToken)}` }
        }),
      catch: (error) => ({ why: error instanceof Error ? whyOf(error) : "unknown" })
    }).pipe(
      Effect.flatMap(({ body, statusCode }): Effect.Effect<Download> =>
        statusCode === 200
          ? Effect.succeed({
            _tag: "Begun",
            bytes: Stream.fromAsyncIterable(
              body as AsyncIterable<Uint8Array>,
              (error) =>
                new Provider.ProviderError({
                  reason: "provider_unavailable",
                  message: `the provider broke off a file (${error instanceof Error ? whyOf(error) : "unknown"})`
                })
            )
          })
          : Effect.as(Effect.ignore(Effect.tryPromise(() => body.dump())), {
            _tag: "Refused" as const,
            status: statusCode
          })
      ),
      Effect.catch(({ why }) => Effect.succeed<Download>({ _tag: "Lost", why }))
    )

  #dispatch(
    access: Access,
    call: Call,
    exchange: Exchange,
    resume: (answer: Effect.Effect<Answer>) => void
  ): Effect.Effect<void> {
    let controller: Dispatcher.DispatchController | undefined
    const end = (answer: Answer): void => {
      if (exchange.isOver) return
      exchange.isOver = true
      resume(Effect.succeed(answer))
    }
    const breakOff = (): void => {
      exchange.isOver = true
      controller?.abort(brokenOff)
    }
    try {
      const base = new URL(access.baseUrl)
      this.#agent.dispatch({
        origin: base.origin,
        path: pathOf(access, call, base),
        method: call.method,
        headers: {
          "user-agent": userAgent,
          accept: "application/json",
          authorization: `Bearer ${Redacted.value(access.accessToken)}`,
          ...(call.body === undefined ? {} : { "content-type": "application/json" }),
          ...call.file?.headers
        },
        // undici reads iterables too, although its types do not say so
        body: call.file?.body() as never ?? (call.body === undefined ? null : JSON.stringify(call.body))
      }, {
        onRequestStart: (started) => {
          // the call is over, or undici starts the request a second time: then no byte of it may be sent
          if (exchange.isOver || exchange.hasLeft) return started.abort(brokenOff)
          controller = started
          exchange.hasLeft = true
        },
        onResponseStart: (_, status, headers) => {
          exchange.status = status
          exchange.headers = headers
        },
        onResponseData: (_, chunk) => {
          exchange.chunks.push(chunk)
          exchange.length += chunk.length
          if (exchange.length <= call.maxBytes) return
          end(exchange.cutShort("the answer is too large"))
          breakOff()
        },
        onResponseEnd: () => end(exchange.answer()),
        onResponseError: (_, error) => end(exchange.cutShort(whyOf(error)))
      })
    } catch (error) {
      // the base URL or the request is invalid
      end(exchange.cutShort(error instanceof Error ? whyOf(error) : "unknown"))
    }
    return Effect.sync(breakOff)
  }
}

export interface Options {
  /** Defaults to {@link maxConnections}. */
  readonly maxConnections?: number
}

/** Makes a client, whose connections close with the scope. */
export const make = (options: Options = {}): Effect.Effect<CloudApi, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() =>
        new Agent({
          connections: options.maxConnections ?? maxConnections,
          pipelining: 1,
          allowH2: false,
          connect: { timeout: connectTimeoutMs },
          keepAliveTimeout: idleTimeoutMs,
          keepAliveMaxTimeout: idleTimeoutMs,
          // each call has its own timeout
          headersTimeout: 0,
          bodyTimeout: 0
        })
      ),
      (agent) => Effect.promise(() => agent.destroy())
    ),
    (agent) => new CloudApi(agent)
  )
