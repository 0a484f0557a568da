/**
 * A webhook receiver on loopback, over real HTTP. It records every request byte for byte, and responds by a script.
 */
import { Clock, type Duration, Effect, Fiber, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import * as Arrivals from "../Arrivals.ts"

/** A request as it was received. */
export interface ReceivedRequest {
  readonly method: string
  /** Path and query, as sent. */
  readonly target: string
  /** Names are in lower case. Repeated headers are joined by a comma. */
  readonly headers: { readonly [name: string]: string }
  readonly body: Uint8Array
  /** When its last byte arrived. */
  readonly arrivedAt: number
}

/** The receiver's response to a request. */
export type Answer =
  /** Responds once `after` has ended and `delay` has passed: all at once, or a byte of the body every `drip`. */
  | {
    readonly _tag: "Reply"
    readonly status: number
    readonly headers?: { readonly [name: string]: string }
    readonly body?: string | Uint8Array
    readonly after?: Effect.Effect<void>
    readonly delay?: Duration.Input
    readonly drip?: Duration.Input
  }
  /** Reads the request and never responds. */
  | { readonly _tag: "Hang" }
  /** Breaks the connection without a response. */
  | { readonly _tag: "Reset" }

/** Responds with a status. */
export const reply = (
  status: number,
  options: Omit<Answer & { readonly _tag: "Reply" }, "_tag" | "status"> = {}
): Answer => ({
  _tag: "Reply",
  status,
  ...options
})

/** Accepts the event. */
export const ok: Answer = reply(200)

/** Redirects the caller. */
export const redirect = (location: string, status = 302): Answer => reply(status, { headers: { location } })

/** Reads the request and never responds. */
export const hang: Answer = { _tag: "Hang" }

/** Breaks the connection without a response. */
export const reset: Answer = { _tag: "Reset" }

/** Responds 200, one byte of the body at a time. */
export const slowDrip = (body: string, every: Duration.Input): Answer => reply(200, { body, drip: every })

export interface RecordingReceiver {
  /** `http://127.0.0.1:<port>/`. */
  readonly url: string
  readonly port: number
  /** Every request so far, in the order of arrival. */
  readonly requests: Effect.Effect<ReadonlyArray<ReceivedRequest>>
  /** The earliest request that `next` has not returned yet. Suspends until there is one. */
  readonly next: Effect.Effect<ReceivedRequest>
  /** Suspends until at least `count` requests have arrived in total. Returns all of them. */
  readonly waitFor: (count: number) => Effect.Effect<ReadonlyArray<ReceivedRequest>>
  /** Sets the responses to the next requests, one each, in this order. After them `answerWith` applies. */
  readonly script: (answers: ReadonlyArray<Answer>) => Effect.Effect<void>
  /** Sets the response to requests beyond the script. Defaults to {@link ok}. */
  readonly answerWith: (answer: Answer | ((request: ReceivedRequest) => Answer)) => Effect.Effect<void>
  /** How many connections were ever opened. */
  readonly connections: Effect.Effect<number>
}

/**
 * Listens on this port of 127.0.0.1 for as long as its scope. Closing it breaks every connection. Times and delays use
 * the clock under which it is created; over real sockets that should be the real one.
 */
export const makeOn = Effect.fnUntraced(function*(
  listenOn: number
): Effect.fn.Return<RecordingReceiver, never, Scope.Scope> {
  const requests = yield* Arrivals.make<ReceivedRequest>()
  const scripted: Array<Answer> = []
  const sockets = new Set<Socket>()
  let otherwise: Answer | ((request: ReceivedRequest) => Answer) = ok
  let connections = 0

  const run = Effect.runForkWith(yield* Effect.context())
  const answering = new Set<Fiber.Fiber<void>>()

  const receive = (incoming: IncomingMessage, response: ServerResponse, body: Uint8Array) =>
    Effect.gen(function*() {
      const request: ReceivedRequest = {
        method: incoming.method ?? "",
        target: incoming.url ?? "",
        headers: Object.fromEntries(
          Object.entries(incoming.headers).map((
            [name, value]
          ) => [name, Array.isArray(value) ? value.join(", ") : value ?? ""])
        ),
        body,
        arrivedAt: yield* Clock.currentTimeMillis
      }
      const answer = scripted.shift() ?? (typeof otherwise === "function" ? otherwise(request) : otherwise)
      yield* requests.add(request)
      yield* carryOut(answer, incoming.socket, response)
    })

  const server = createServer((incoming, response) => {
    const chunks: Array<Buffer> = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    // errors of a caller that leaves do not matter
    incoming.on("error", () => {})
    response.on("error", () => {})
    incoming.on("end", () => {
      const fiber = run(receive(incoming, response, new Uint8Array(Buffer.concat(chunks))))
      answering.add(fiber)
      fiber.addObserver(() => void answering.delete(fiber))
    })
  })
  server.on("connection", (socket) => {
    connections++
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => sockets.delete(socket))
  })

  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(listenOn, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.andThen(
        Effect.suspend(() => Fiber.interruptAll([...answering])),
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          for (const socket of sockets) socket.destroy()
        })
      )
  )
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}/`,
    port,
    requests: requests.all,
    next: requests.next,
    waitFor: requests.waitFor,
    script: (answers) => Effect.sync(() => void scripted.push(...answers)),
    answerWith: (answer) => Effect.sync(() => void (otherwise = answer)),
    connections: Effect.sync(() => connections)
  }
})

/** {@link makeOn} a free port. */
export const make: Effect.Effect<RecordingReceiver, never, Scope.Scope> = makeOn(0)

const carryOut = (answer: Answer, socket: Socket, response: ServerResponse): Effect.Effect<void> =>
  Effect.gen(function*() {
    switch (answer._tag) {
      case "Hang":
        return
      case "Reset":
        socket.resetAndDestroy()
        return
      case "Reply": {
        if (answer.after !== undefined) yield* answer.after
        if (answer.delay !== undefined) yield* Effect.sleep(answer.delay)
        const body = Buffer.from(answer.body ?? "")
        response.writeHead(answer.status, { "content-length": body.byteLength, ...answer.headers })
        if (answer.drip === undefined) {
          response.end(body)
          return
        }
        response.flushHeaders()
        for (const byte of body) {
          yield* Effect.sleep(answer.drip)
          response.write(Uint8Array.of(byte))
        }
        response.end()
      }
    }
  })
