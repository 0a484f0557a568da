/**
 * Connections whose caller has shown who they are, by a key or a session: what comes over them does not wait behind
 * what strangers ask for.
 */
import type { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"
import type { Socket } from "node:net"

const known = new WeakSet<Socket>()

/** Notes that the caller of a request is known. */
export const note = ({ source }: HttpServerRequest.HttpServerRequest): void => {
  if (source instanceof IncomingMessage) known.add(source.socket)
}

export const has = (socket: Socket): boolean => known.has(socket)
