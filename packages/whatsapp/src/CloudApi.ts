/**
 * Calls of the Cloud API over HTTP: one deadline, bounded answers, no redirect, no proxy, and never the same request
 * twice.
 */
import { Agent, type Dispatcher, request } from "#undici"
import { Provider } from "@wac/core"
import { type Duration, Effect, Redacted, type Schema, type Scope, Stream } from "effect"
import type * as FileForm from "./FileForm.ts"
import * as Payload from "./Payload.ts"
import { type Headers, regainAfter } from "./UsageHeaders.ts"

/** Where and as whom a call is made. */
export interface Access {
  /** Such as `https://graph.facebook.com`; a path in it is kept. */
  readonly baseUrl: string
  /** Such as `v25.0`. */
  readonly apiVersion: string
  readonly accessToken: Redacted.Redacted
}

export interface Call {
  readonly method: "GET" | "POST" | "DELETE"
  /** Below the version, each part by itself. */
  readonly path: ReadonlyArray<string>
  readonly query?: { readonly [name: string]: string }
  readonly body?: Schema.Json
  /** In place of `body`. */
  readonly file?: FileForm.FileForm
  /** From now to the whole answer. */
  readonly timeout: Duration.Duration
  /** A longer answer is not read to its end. */
  readonly maxBytes: number
}

/** The result of a call. */
export type Answer =
  | {
    readonly _tag: "Answered"
    readonly status: number
    /** Undefined when the answer is not JSON. */
    readonly json: Payload.Json | undefined
    /** When calls will be taken again, as far as the answer says. */
    readonly regainAfter: Duration.Duration | undefined
  }
  /** No byte of the request has left. */
  | { readonly _tag: "NotSent"; readonly why: string }
  /** The request may have left, and no whole answer came. */
  | { readonly _tag: "Lost"; readonly why: string }

/** The result of a file download. */
export type Download =
  | { readonly _tag: "Begun"; readonly bytes: Stream.Stream<Uint8Array, Provider.ProviderError> }
  | { readonly _tag: "Refused"; readonly status: number }
  | { readonly _tag: "Lost"; readonly why: string }

/**
 * Connections to one host, at most. A number of the highest tier sends 1,000 messages a second, and an answer takes
 * a fraction of one. Who finds none waits within the call's own time, and is not sent if it ends before.
 */
const maxConnections = 512

/**
 * An unused connection is closed after this: common servers close theirs after 5 s, and what is sent on one that has
 * just been closed has an unknown outcome.
 */
const idleTimeoutMs = 4_000

/** Connecting, with TLS; shorter than a send's deadline, so that its end is known to be before the request. */
const connectTimeoutMs = 5_000

const userAgent = "wac"

const utf8 = new TextDecoder()

/** One request, and how far it has come. */
class Exchange {
  hasLeft = false
  isOver = false
  status = 0
  headers: Headers = {}
  readonly chunks: Array<Uint8Array> = []
  length = 0

  /** The cause, if no response came. */
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

/** For undici, which has to be told why; nobody hears of it. */
const brokenOff = new Error("broken off")

/**
 * The cause of a failure in a word: system errors and undici's have a code. Their messages can hold more than is ours.
 */
const whyOf = (error: Error): string => "code" in error && typeof error.code === "string" ? error.code : error.name

/** A colon, which names of uploads have, needs no escape in a path. */
const segment = (text: string): string => encodeURIComponent(text).replaceAll("%3A", ":")

const pathOf = (access: Access, call: Call, base: URL): string => {
  const path = [access.apiVersion, ...call.path].map(segment).join("/")
  const query = call.query === undefined ? "" : `?${new URLSearchParams(call.query)}`
  return `${base.pathname.replace(/(?<!\/)\/+$/, "")}/${path}${query}`
}

export class CloudApi {
  readonly #agent: Dispatcher

  /** For an agent of undici, of which declarations tell nothing, as it is only in the built package. */
  constructor(agent: object) {
    this.#agent = agent as Dispatcher
  }

  /** Makes the call, once. Every end is an answer; interruption breaks it off. */
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

  /** Asks for a file at an address, whose bytes are read as fast as they are taken. No redirect is followed. */
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
          // nobody waits for it any more, or it was begun before: then not a byte of it may leave (again)
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
      // no call can be made of it: the address is none
      end(exchange.cutShort(error instanceof Error ? whyOf(error) : "unknown"))
    }
    return Effect.sync(breakOff)
  }
}

export interface Options {
  /** {@link maxConnections} if left out. */
  readonly maxConnections?: number
}

/** Calls over connections that end with the scope. */
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
          // a call has a time of its own
          headersTimeout: 0,
          bodyTimeout: 0
        })
      ),
      (agent) => Effect.promise(() => agent.destroy())
    ),
    (agent) => new CloudApi(agent)
  )
