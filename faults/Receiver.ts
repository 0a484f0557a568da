/**
 * A receiver that verifies each signature and records every attempt, and that can answer badly or not at all.
 */
import type { Certificates } from "@wac/testbed/Certificates"
import { SIGNATURE_HEADER, verify } from "@wac/verifier"
import { once } from "node:events"
import { createServer, type RequestListener, type ServerResponse } from "node:http"
import { createServer as createSecureServer, Server as SecureServer } from "node:https"
import type { AddressInfo, Socket } from "node:net"
import type { Recorder } from "./Recorder.ts"
import { now } from "./Time.ts"

/** How a receiver answers. */
export type Manner =
  | "well"
  /** It reads the request and never answers. */
  | "hangs"
  /** It sends the head of its answer byte by byte, and never ends it. */
  | "drips"
  /** It breaks the connection. */
  | "resets"
  /** Its answer has an endless body. */
  | "floods"

/** An event of a message. */
interface Event {
  readonly id: string
  readonly data?: { readonly message_id?: string; readonly sequence?: number }
}

const drip = (socket: Socket): void => {
  const next = () => {
    if (socket.destroyed) return
    socket.write("x")
    setTimeout(next, 200)
  }
  socket.write("HTTP/1.1 200 OK\r\nX-Slow: ")
  next()
}

const flood = (response: ServerResponse): void => {
  const part = Buffer.alloc(256 * 1024, "x")
  const pour = () => {
    while (!response.destroyed && response.write(part));
    if (!response.destroyed) response.once("drain", pour)
  }
  response.writeHead(200)
  pour()
}

/** Starts it; behind TLS if it has certificates. */
export const start = async ({ add }: Recorder, certificates?: Certificates) => {
  let manner: Manner = "well"
  let secret = ""
  let webhook = ""
  let repeated = 0
  const sockets = new Set<Socket>()
  /** Sequences of events that were answered with 200, by message. */
  const arrived = new Map<string, Set<number>>()
  const answered = new Set<string>()

  const note = (event: Event, status: number): void => {
    if (status !== 200) return
    if (answered.has(event.id)) repeated++
    answered.add(event.id)
    const { message_id: message, sequence } = event.data ?? {}
    if (message === undefined || sequence === undefined) return
    arrived.set(message, (arrived.get(message) ?? new Set()).add(sequence))
  }

  const take: RequestListener = (request, response) => {
    const begun = now()
    const chunks: Array<Buffer> = []
    response.on("error", () => {})
    request.on("error", () => {}).on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
      const body = Buffer.concat(chunks).toString()
      void (async () => {
        const signature = `${request.headers[SIGNATURE_HEADER.toLowerCase()]}`
        const { ok } = await verify(body, signature, secret)
        // whoever signed it, and whenever its clock said
        const genuine = ok || (await verify(body, signature, secret, { tolerance: Number.MAX_SAFE_INTEGER })).ok
        const event: Event = JSON.parse(body)
        const status = !ok ? 400 : manner === "well" || manner === "floods" ? 200 : null
        response.once("close", () => {
          // an answer that did not leave is none; of an endless one, the head is the answer
          const left = response.writableFinished || manner === "floods" ? status : null
          add({
            kind: "attempt",
            webhook,
            event_id: event.id,
            body,
            genuine,
            process: "receiver",
            begun,
            ended: left === null ? null : now(),
            status: left
          })
          if (left !== null) note(event, left)
        })
        if (!ok || manner === "well") response.writeHead(status!).end()
        else if (manner === "resets") request.socket.resetAndDestroy()
        else if (manner === "drips") drip(request.socket)
        else if (manner === "floods") flood(response)
      })().catch(() => response.destroy())
    })
  }
  const server = certificates === undefined
    ? createServer(take)
    : createSecureServer({ cert: certificates.cert, key: certificates.key }, take)
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("error", () => {}).on("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")

  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `${certificates === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** Its webhook, once it is set. */
    trust: (id: string, signingSecret: string): void => {
      webhook = id
      secret = signingSecret
    },
    /** Answers in this manner from now on, as if it was restarted. */
    answer: (next: Manner): void => {
      breakAll()
      manner = next
    },
    /** Shows another certificate from now on. */
    certify: ({ cert, key }: Pick<Certificates, "cert" | "key">): void => {
      if (!(server instanceof SecureServer)) throw new Error("the receiver is not behind TLS")
      server.setSecureContext({ cert, key })
      breakAll()
    },
    /** How many events of a message arrived and were answered with 200. */
    count: (messageId: string): number => arrived.get(messageId)?.size ?? 0,
    /** Whether an event was answered with 200. */
    has: (eventId: string): boolean => answered.has(eventId),
    /** How often an event came again after it was answered with 200. */
    repeated: (): number => repeated,
    close: (): void => {
      server.close()
      breakAll()
    }
  }
}
