/**
 * A host on loopback that answers a request as badly as it is told to.
 */
import { Effect, type Scope } from "effect"
import { EventEmitter } from "node:events"
import { createServer, type Server, type Socket } from "node:net"

/** A request as it came over the wire. */
export interface Received {
  readonly method: string
  readonly target: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface Upstream {
  readonly baseUrl: string
  readonly received: ReadonlyArray<Received>
  /** Suspends until so many requests have come. */
  readonly untilReceived: (count: number) => Effect.Effect<void>
  /** How many connections were made. */
  readonly connections: () => number
}

const read = (text: string): Received | undefined => {
  const end = text.indexOf("\r\n\r\n")
  if (end < 0) return undefined
  const [start = "", ...lines] = text.slice(0, end).split("\r\n")
  const headers = new Map(lines.map((line) => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  }))
  const body = text.slice(end + 4)
  if (Buffer.byteLength(body) < Number(headers.get("content-length") ?? 0)) return undefined
  const [method = "", target = ""] = start.split(" ")
  return { method, target, headers, body }
}

/** Answers whole requests by `answer`, which may write to the socket whatever it likes; `greet` gets it before. */
export const serve = (
  answer: (socket: Socket, request: Received) => void,
  greet: (socket: Socket) => void = () => {}
): Effect.Effect<Upstream, never, Scope.Scope> =>
  Effect.gen(function*() {
    const received: Array<Received> = []
    const arrivals = new EventEmitter()
    const sockets = new Set<Socket>()
    let connections = 0
    const server = createServer((socket) => {
      connections++
      sockets.add(socket)
      greet(socket)
      let text = ""
      socket.on("data", (chunk) => {
        text += chunk.toString()
        const request = read(text)
        if (request === undefined) return
        text = ""
        received.push(request)
        answer(socket, request)
        arrivals.emit("request")
      })
      socket.on("error", () => {})
      socket.on("close", () => sockets.delete(socket))
    })
    yield* Effect.acquireRelease(
      Effect.callback<Server>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          for (const socket of sockets) socket.destroy()
        })
    )
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    return {
      baseUrl: `http://127.0.0.1:${port}`,
      received,
      untilReceived: (count) =>
        Effect.callback<void>((resume) => {
          const look = () => {
            if (received.length >= count) resume(Effect.void)
            else arrivals.once("request", look)
          }
          look()
          return Effect.sync(() => arrivals.off("request", look))
        }),
      connections: () => connections
    }
  })

/** A whole answer. */
export const response = (
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = { "content-type": "application/json" }
): string =>
  [
    `HTTP/1.1 ${status} Whatever`,
    ...Object.entries({ "content-length": String(Buffer.byteLength(body)), ...headers }).map(([name, value]) =>
      `${name}: ${value}`
    ),
    "",
    body
  ].join("\r\n")

/** Answers every request alike. */
export const always = (...answer: Parameters<typeof response>) =>
  serve((socket) => {
    socket.write(response(...answer))
  })

/** Breaks every connection before it has read a request. */
export const breaking = serve(() => {}, (socket) => socket.resetAndDestroy())

/** An address where nobody listens. */
export const nowhere: Effect.Effect<string> = Effect.scoped(
  Effect.map(serve(() => {}), ({ baseUrl }) => baseUrl)
)
