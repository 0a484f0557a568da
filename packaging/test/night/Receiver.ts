/**
 * A receiver behind TLS that verifies each signature and keeps every event, and that can be away for a while.
 */
import type { Certificates } from "@wac/testbed/Certificates"
import { SIGNATURE_HEADER, verify } from "@wac/verifier"
import { once } from "node:events"
import { createServer, type Server } from "node:https"
import type { AddressInfo } from "node:net"

/** An event, each time that it came. */
interface Event {
  readonly id: string
  readonly type: string
  readonly data: { readonly message_id?: string; readonly sequence?: number; readonly to?: string }
}

/** Starts it. Until it is told its secret, every event counts as forged. */
export const start = async ({ cert, key }: Certificates) => {
  const events = new Map<string, Event>()
  /** Of each message the numbers of its events, in the order in which each came first. */
  const sequences = new Map<string, Array<number>>()
  const forged: Array<string> = []
  let repeated = 0
  let secret = ""
  let server: Server | undefined

  const take = async (body: string, signature: string): Promise<boolean> => {
    const { ok } = await verify(body, signature, secret)
    if (!ok) {
      forged.push(body)
      return false
    }
    const event: Event = JSON.parse(body)
    if (events.has(event.id)) repeated++
    else {
      events.set(event.id, event)
      const { message_id, sequence } = event.data
      if (message_id !== undefined && sequence !== undefined) {
        sequences.set(message_id, [...sequences.get(message_id) ?? [], sequence])
      }
    }
    return true
  }

  const listen = async (port: number): Promise<number> => {
    server = createServer({ cert, key }, (request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => {})
      request.on(
        "end",
        () =>
          void take(Buffer.concat(chunks).toString(), `${request.headers[SIGNATURE_HEADER.toLowerCase()]}`)
            .then((isRight) => response.writeHead(isRight ? 200 : 400).end())
      )
    }).listen(port, "127.0.0.1")
    await once(server, "listening")
    return (server.address() as AddressInfo).port
  }
  const port = await listen(0)

  /** Refuses connections, and breaks those that there are. */
  const down = async (): Promise<void> => {
    if (server === undefined) return
    const closed = once(server, "close")
    server.close()
    server.closeAllConnections()
    server = undefined
    await closed
  }

  return {
    url: `https://127.0.0.1:${port}/`,
    trust: (signingSecret: string) => void (secret = signingSecret),
    events,
    sequences,
    forged,
    repeated: () => repeated,
    down,
    up: async (): Promise<void> => void await listen(port),
    close: down
  }
}
