/** The HTTP server of the simulated Cloud API: it reads whole calls, and carries out faults of the connection. */
import { Effect, Fiber, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Fault } from "./control/CloudApiFaults.ts"

/** A call with its whole body. */
export interface Incoming {
  readonly method: string
  readonly target: string
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
  readonly body: Buffer<ArrayBuffer>
}

/** A response, and the fault with which it is sent. */
export interface Outgoing {
  readonly http: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string | Uint8Array
  readonly fault?: Fault | undefined
}

export interface Server {
  readonly url: string
  readonly port: number
  /** Breaks every connection and refuses new ones. */
  readonly refuse: Effect.Effect<void>
  /** Accepts connections again, on the same port. */
  readonly accept: Effect.Effect<void>
}

/** The limit on a body, in bytes: more than the largest upload. */
const longestBody = 101 * 1024 * 1024

/**
 * How long an unused connection is kept, in milliseconds: long, because a connection that closes while a caller uses it
 * again would be a fault that no test asked for.
 */
const keepAlive = 120_000

const page = (status: number) =>
  `<!DOCTYPE html>\n<html lang="en"><head><title>Error</title></head><body><h1>Sorry, something went wrong.</h1><p>HTTP ${status}</p></body></html>\n`

const defaultPage = 502
const defaultTrickle = 50
const defaultHuge = 8 * 1024 * 1024

const trickle = (response: ServerResponse, body: Buffer, every: number): void => {
  const next = (i: number) => {
    if (response.destroyed) return
    if (i >= body.length) {
      response.end()
      return
    }
    response.write(body.subarray(i, i + 1))
    setTimeout(next, every, i + 1)
  }
  response.flushHeaders()
  setTimeout(next, every, 0)
}

const drown = (response: ServerResponse, body: Buffer, bytes: number): void => {
  const space = Buffer.alloc(64 * 1024, " ")
  let left = Math.max(0, bytes - body.length)
  const pour = () => {
    while (left > 0 && !response.destroyed) {
      const part = space.subarray(0, Math.min(left, space.length))
      left -= part.length
      if (!response.write(part)) {
        response.once("drain", pour)
        return
      }
    }
    if (!response.destroyed) response.end(body)
  }
  pour()
}

/** Sends the response, or carries out the fault on the connection. */
const carryOut = (outgoing: Outgoing, socket: Socket, response: ServerResponse): void => {
  const { fault } = outgoing
  const body = Buffer.from(outgoing.body as string)
  const head = (status: number, length: number, type = "application/json; charset=UTF-8") =>
    response.writeHead(status, { "content-type": type, ...outgoing.headers, "content-length": length })
  switch (fault?.kind) {
    case "close_before_reading":
    case "reset_before":
    case "reset_after":
      socket.resetAndDestroy()
      return
    case "hang_before":
    case "hang_after":
      return
    case "html_before":
    case "html_after": {
      const status = fault.http ?? defaultPage
      const html = Buffer.from(page(status))
      head(status, html.length, "text/html; charset=utf-8").end(html)
      return
    }
    case "cut_answer":
      head(outgoing.http, body.length)
      response.write(body.subarray(0, Math.floor(body.length / 2)), () => socket.destroy())
      return
    case "trickle":
      head(outgoing.http, body.length)
      trickle(response, body, fault.every ?? defaultTrickle)
      return
    case "truncated_json": {
      const half = body.subarray(0, Math.floor(body.length / 2))
      head(outgoing.http, half.length).end(half)
      return
    }
    case "huge_body": {
      const bytes = Math.max(fault.bytes ?? defaultHuge, body.length)
      head(outgoing.http, bytes)
      drown(response, body, bytes)
      return
    }
    case "empty_body":
      head(outgoing.http, 0).end()
      return
    case "error":
    case "late":
    case undefined:
      head(outgoing.http, body.length).end(body)
  }
}

/**
 * Serves on this port of 127.0.0.1 (0: a free one) until the scope closes, which breaks every connection. Fails if the
 * port is taken.
 */
export const make = Effect.fnUntraced(function*(options: {
  readonly port: number
  /** Whether the connection of a call must break before its body is read. */
  readonly breaksUnread: (method: string, target: string) => boolean
  readonly handle: (call: Incoming) => Effect.Effect<Outgoing>
}): Effect.fn.Return<Server, string, Scope.Scope> {
  const sockets = new Set<Socket>()
  const running = new Set<Fiber.Fiber<void>>()
  const run = Effect.runForkWith(yield* Effect.context())

  const take = (incoming: IncomingMessage, response: ServerResponse) => {
    incoming.on("error", () => {})
    response.on("error", () => {})
    const method = incoming.method ?? ""
    const target = incoming.url ?? ""
    if (options.breaksUnread(method, target)) {
      incoming.socket.resetAndDestroy()
      return
    }
    const chunks: Array<Buffer> = []
    let length = 0
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length
      if (length > longestBody) incoming.socket.destroy()
      else chunks.push(chunk)
    })
    incoming.on("end", () => {
      const fiber = run(
        options.handle({ method, target, headers: incoming.headers, body: Buffer.concat(chunks) }).pipe(
          Effect.map((outgoing) => carryOut(outgoing, incoming.socket, response))
        )
      )
      running.add(fiber)
      fiber.addObserver(() => void running.delete(fiber))
    })
  }

  const server = createServer({ keepAliveTimeout: keepAlive }, take)
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => sockets.delete(socket))
  })

  const listen = (port: number) =>
    Effect.callback<void, string>((resume) => {
      const failed = (error: Error) => resume(Effect.fail(error.message))
      server.once("error", failed)
      server.listen(port, "127.0.0.1", () => {
        server.off("error", failed)
        resume(Effect.void)
      })
    })
  const close = Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    for (const socket of sockets) socket.destroy()
  })

  yield* Effect.acquireRelease(
    listen(options.port),
    () => Effect.andThen(Effect.suspend(() => Fiber.interruptAll([...running])), close)
  )
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    refuse: close,
    accept: Effect.suspend(() => server.listening ? Effect.void : Effect.orDie(listen(port)))
  }
})
