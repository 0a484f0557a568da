/**
 * Requests that come after the server listens and before there is a handler: Node would leave them without an answer
 * for ever.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"

/** Has a server keep them until its first handler is there, which then gets them in their order. */
export const hold = <S extends Server>(server: S): S => {
  const waiting: Array<readonly [IncomingMessage, ServerResponse]> = []
  const keep = (request: IncomingMessage, response: ServerResponse) => void waiting.push([request, response])
  const release = (event: string | symbol) => {
    if (event !== "request") return
    server.off("newListener", release)
    // the handler is added after this is told
    queueMicrotask(() => {
      server.off("request", keep)
      for (const [request, response] of waiting) server.emit("request", request, response)
    })
  }
  server.on("request", keep).on("newListener", release)
  return server
}
