/**
 * Receivers on the loopback, and the transport that posts to them.
 */
import { WebhookTransport } from "@wac/core"
import { Duration, Effect, Result } from "effect"
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse
} from "node:http"
import { createServer as createHttpsServer } from "node:https"
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net"
import { parseCidrs } from "../src/ReceiverAddress.ts"
import type { Options } from "../src/ReceiverConnections.ts"
import type { ReceiverRules } from "../src/ReceiverGuardDns.ts"
import { layer } from "../src/WebhookTransportHttp.ts"
import type { Credentials } from "./certificates.ts"

export const allowedCidrs = Result.getOrThrow(parseCidrs("127.0.0.0/8,::1"))

export const body = JSON.stringify({ id: "evt_1", text: "čau 👋" })

export const timeout = Duration.seconds(5)

export const headers = { "content-type": "application/json", "webhook-id": "evt_1", "stripe-signature": "t=1,v1=00" }

/** A listening server, what it saw, and where it is. */
export interface Receiver {
  readonly port: number
  readonly url: string
  /** Every connection ever made. */
  readonly sockets: ReadonlyArray<Socket>
  /** Ends with the first connection's end. */
  readonly closed: Promise<void>
}

export const listen = (server: Server, scheme: "http" | "https" = "http") =>
  Effect.acquireRelease(
    Effect.promise(() => {
      const sockets: Array<Socket> = []
      const closed = Promise.withResolvers<void>()
      server.on("connection", (socket) => {
        sockets.push(socket)
        socket.on("error", () => {})
        socket.on("close", () => closed.resolve())
      })
      return new Promise<Receiver>((resolve) =>
        server.listen(0, "127.0.0.1", () => {
          const { port } = server.address() as AddressInfo
          resolve({ port, url: `${scheme}://127.0.0.1:${port}/hook?a=1`, sockets, closed: closed.promise })
        })
      )
    }),
    (receiver) =>
      Effect.promise(() => {
        for (const socket of receiver.sockets) socket.destroy()
        return new Promise((resolve) => server.close(resolve))
      })
  )

export const serve = (listener: RequestListener) => Effect.suspend(() => listen(createHttpServer(listener)))

export const serveTls = (credentials: Credentials, listener: RequestListener = reply(200)) =>
  listen(createHttpsServer(credentials, listener), "https")

/** A server below HTTP: what it does with a connection once the request has begun to arrive. */
export const serveRaw = (answer: (socket: Socket) => void) =>
  listen(createTcpServer((socket) => socket.once("data", () => answer(socket))))

export const reply =
  (status: number, answerHeaders: Record<string, string> = {}) => (_: IncomingMessage, res: ServerResponse): void =>
    void res.writeHead(status, answerHeaders).end("thanks")

export const post = (url: string) =>
  WebhookTransport.WebhookTransport.use((transport) => transport.post({ url, headers, body, timeout }))

/** The transport, which allows loopback unless told otherwise. */
export const withRules = (rules: Partial<ReceiverRules> = {}, options: Options = {}) =>
  Effect.provide(layer({ allowInsecure: true, allowedCidrs, ...rules }, options))

export const withLoopback = withRules()
