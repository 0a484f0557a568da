/**
 * Connects requests and responses of `node:http` to an app of Effect. Effect's own adapter is in a package for which
 * npm installs clients of Redis and WebSockets, and which bundlers for Node cannot all load.
 */
import { Cause, Channel, Context, Effect, Exit, Fiber, Inspectable, Option, Scope, Stream } from "effect"
import {
  Cookies,
  Headers,
  HttpEffect,
  HttpIncomingMessage,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse,
  Multipart,
  UrlParams
} from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { finished } from "node:stream"

type Failure = HttpServerError.HttpServerError

/** A body, as it arrives. What has not been read when the stream ends stays in the connection. */
const streamOf = (source: IncomingMessage, failure: (cause: unknown) => Failure): Stream.Stream<Uint8Array, Failure> =>
  Stream.fromChannel(Channel.fromTransform((_, scope) =>
    Effect.suspend(() => {
      let end: Exit.Exit<never, Failure | Cause.Done> | undefined
      let wake = () => {}
      const wakeUp = () => wake()
      source.on("readable", wakeUp)
      const forget = finished(source, { writable: false }, (error) => {
        end = Exit.fail(error ? failure(error) : Cause.Done())
        wake()
      })
      const pull: Effect.Effect<readonly [Uint8Array], Failure | Cause.Done> = Effect.suspend(() => {
        const piece: Uint8Array | null = source.read()
        if (piece !== null) return Effect.succeed([piece] as const)
        if (end !== undefined) return end
        if (source.readableEnded) return Effect.fail(Cause.Done())
        const more = Effect.callback<void>((resume) => {
          wake = () => resume(Effect.void)
        })
        return Effect.andThen(more, pull)
      })
      const leave = Effect.sync(() => {
        source.off("readable", wakeUp)
        forget()
      })
      return Effect.as(Scope.addFinalizer(scope, leave), pull)
    })
  ))

type Changes = Parameters<HttpServerRequest.HttpServerRequest["modify"]>[0]

const utf8 = new TextDecoder()

class NodeRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: typeof HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly source: IncomingMessage
  readonly response: ServerResponse
  readonly url: string
  readonly headers: Headers.Headers
  readonly remoteAddress: Option.Option<string>
  readonly peerAddress: Option.Option<string>
  readonly protocol: "http" | "https" | undefined

  constructor(source: IncomingMessage, response: ServerResponse, changes: Changes = {}) {
    super()
    this.source = source
    this.response = response
    const target = source.url!
    const absolute = /^https?:\/\//i.test(target) && URL.canParse(target) ? new URL(target) : undefined
    this.url = changes.url ?? (absolute === undefined ? target : absolute.pathname + absolute.search)
    // the host of an absolute target takes precedence (RFC 9112 §3.2.2)
    this.headers = changes.headers ??
      Headers.fromInput(absolute === undefined ? source.headers : { ...source.headers, host: absolute.host })
    this.remoteAddress = changes.remoteAddress ?? Option.fromNullishOr(source.socket.remoteAddress)
    this.peerAddress = changes.peerAddress ?? this.remoteAddress
    this.protocol = changes.protocol
  }

  modify(changes: Changes): NodeRequest {
    const { headers, peerAddress, protocol, remoteAddress, source, response, url } = this
    return new NodeRequest(source, response, {
      url,
      headers,
      remoteAddress,
      peerAddress,
      ...(protocol === undefined ? {} : { protocol }),
      ...changes
    })
  }

  toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, {
      _id: "HttpServerRequest",
      method: this.method,
      url: UrlParams.redactUrl(this.originalUrl)
    })
  }

  get method(): string {
    return this.source.method!
  }

  get originalUrl(): string {
    const { headers: { host }, socket, url = "" } = this.source
    return url[0] !== "/" || host === undefined ? url : `${"encrypted" in socket ? "https" : "http"}://${host}${url}`
  }

  get cookies(): HttpServerRequest.HttpServerRequest["cookies"] {
    return Cookies.parseHeader(this.headers["cookie"] ?? "")
  }

  // no member is `#private`, because a request with a different body is an object that inherits from this one
  private readonly failure = (cause: unknown): Failure =>
    new HttpServerError.HttpServerError({ reason: new HttpServerError.RequestParseError({ request: this, cause }) })

  get stream(): Stream.Stream<Uint8Array, Failure> {
    return streamOf(this.source, this.failure)
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, Failure> {
    return Effect.map(
      Stream.runCollect(this.stream),
      (pieces) => new Uint8Array(Buffer.concat(pieces)).buffer
    )
  }

  get text(): Effect.Effect<string, Failure> {
    return Effect.map(this.arrayBuffer, (bytes) => utf8.decode(bytes))
  }

  get json() {
    return Effect.flatMap(this.text, (text) => Effect.try({ try: () => JSON.parse(text), catch: this.failure }))
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, Failure> {
    return Effect.map(this.text, (text) => UrlParams.fromInput(new URLSearchParams(text)))
  }

  get multipartStream(): Stream.Stream<Multipart.Part, Multipart.MultipartError> {
    return Stream.pipeThroughChannel(
      Stream.mapError(this.stream, (cause) => Multipart.MultipartError.fromReason("InternalError", cause)),
      Multipart.makeChannel(this.headers)
    )
  }

  get multipart(): HttpServerRequest.HttpServerRequest["multipart"] {
    return Multipart.toPersisted(this.multipartStream)
  }

  get upgrade(): HttpServerRequest.HttpServerRequest["upgrade"] {
    return this.upgradeWith()
  }

  upgradeWith(): HttpServerRequest.HttpServerRequest["upgrade"] {
    return Effect.fail(this.failure("the connections of a host are not upgraded"))
  }
}

/** The most that is read of a request that already has its response, and the longest time that this may take. */
const leftover = { bytes: 256 * 1024, milliseconds: 500 }

/**
 * Whether nothing is left to read. Requests that a framework makes up for tests (Fastify's `inject`) have no `complete`,
 * and emit nothing more once they were read.
 */
const isRead = (request: IncomingMessage): boolean => request.complete || request.readableEnded

/**
 * Waits for the rest of a request. A connection that is closed while bytes of the request are under way is reset, which
 * can lose the response.
 */
const drained = (request: IncomingMessage): Effect.Effect<void> =>
  isRead(request) || request.destroyed ? Effect.void : Effect.callback((resume) => {
    let bytes = 0
    const leave = () => {
      clearTimeout(timer)
      request.off("data", take).off("end", leave).off("close", leave)
      request.pause()
      resume(Effect.void)
    }
    const take = (piece: Buffer) => {
      bytes += piece.length
      if (bytes > leftover.bytes) leave()
    }
    const timer = setTimeout(leave, leftover.milliseconds)
    request.on("data", take).on("end", leave).on("close", leave).resume()
    return Effect.sync(leave)
  })

/** Ends a response after all of its bytes were written, once the rest of the request was read. */
const end = (request: IncomingMessage, response: ServerResponse): Effect.Effect<void> =>
  Effect.andThen(drained(request), Effect.sync(() => void response.end()))

/** Writes at the pace of the connection. Does not complete if the client leaves: that interrupts the request. */
const write = (response: ServerResponse, pieces: ReadonlyArray<Uint8Array>): Effect.Effect<void> =>
  Effect.suspend(() => {
    let isTaken = true
    for (const piece of pieces) isTaken = response.write(piece)
    return isTaken ? Effect.void : Effect.callback((resume) => {
      const go = () => resume(Effect.void)
      response.once("drain", go)
      return Effect.sync(() => void response.off("drain", go))
    })
  })

const headersOf = ({ cookies, headers, status }: HttpServerResponse.HttpServerResponse) => {
  const { "content-length": length, "set-cookie": cookie, ...rest } = headers
  const all = [...Cookies.toSetCookieHeaders(cookies), ...cookie === undefined ? [] : [cookie]]
  return {
    ...rest,
    ...(length === undefined || status === 204 || status === 205 ? {} : { "content-length": length }),
    ...(all.length === 0 ? {} : { "set-cookie": all })
  }
}

const streamOfBody = (answer: HttpServerResponse.HttpServerResponse): Stream.Stream<Uint8Array, unknown> => {
  if (answer.body._tag === "Stream") return answer.body.stream
  const { body } = HttpServerResponse.toWeb(answer)
  return body === null ? Stream.empty : Stream.fromReadableStream({ evaluate: () => body, onError: (error) => error })
}

/** Writes a response. If it fails after its head was sent, the connection ends, so that no part looks complete. */
const respond = (
  { method, response, source }: NodeRequest,
  answer: HttpServerResponse.HttpServerResponse
): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (response.writableEnded || response.destroyed) return Effect.void
    response.writeHead(answer.status, answer.statusText, headersOf(answer))
    const { body } = answer
    if (body._tag === "Empty" || HttpServerResponse.omitsBody(answer, method === "HEAD")) {
      response.flushHeaders()
      return end(source, response)
    }
    if (body._tag === "Uint8Array") {
      if (isRead(source)) {
        // in one piece with the head
        response.end(body.body)
        return Effect.void
      }
      response.write(body.body)
      return end(source, response)
    }
    return Stream.runForEachArray(streamOfBody(answer), (pieces) => write(response, pieces)).pipe(
      Effect.interruptible,
      Effect.onError(() => Effect.sync(() => void response.destroy())),
      Effect.orDie,
      Effect.andThen(Effect.suspend(() => end(source, response)))
    )
  })

/** Handles a request of `node:http`. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Makes a handler. A request in flight is interrupted when the scope closes, or when its client leaves before it has
 * the response.
 */
export const makeHandler = <E, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  scope: Scope.Scope
): Effect.Effect<NodeHandler, never, Exclude<R, HttpServerRequest.HttpServerRequest | Scope.Scope>> => {
  const handled = HttpEffect.toHandled(app, (request, answer) => respond(request as NodeRequest, answer))
  return Effect.map(
    Effect.context<Exclude<R, HttpServerRequest.HttpServerRequest | Scope.Scope>>(),
    (context): NodeHandler => (request, response) => {
      const exchange = new NodeRequest(request, response)
      const fiber = Fiber.runIn(
        Effect.runForkWith(
          Context.add(context, HttpServerRequest.HttpServerRequest, exchange) as Context.Context<
            Exclude<R, Scope.Scope>
          >
        )(handled as Effect.Effect<void, never, Exclude<R, Scope.Scope>>),
        scope
      )
      if (fiber.pollUnsafe() !== undefined) return
      response.once("close", () => {
        if (!response.writableEnded) fiber.interruptUnsafe(undefined, HttpServerError.ClientAbort.annotation)
      })
    }
  )
}
