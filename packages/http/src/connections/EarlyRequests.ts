/**
 * Keeps requests that arrive after the server listens and before it has a handler: Node would never respond to them.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"

/** Makes a server keep these requests for its first handler, which then gets them in their order. */
export const hold = <S extends Server>(server: S): S => {
  const waiting: Array<readonly [IncomingMessage, ServerResponse]> = []
  const keep = (request: IncomingMessage, response: ServerResponse) => void waiting.push([request, response])
  const release = (event: string | symbol) => {
    if (event !== "request") return
    server.off("newListener", release)
    // the handler is added after this event
    queueMicrotask(() => {
      server.off("request", keep)
      for (const [request, response] of waiting) server.emit("request", request, response)
    })
  }
  server.on("request", keep).on("newListener", release)
  return server
}
