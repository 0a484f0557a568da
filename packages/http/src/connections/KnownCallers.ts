/**
 * Connections of authenticated callers, by a key or a session: their requests do not wait behind those of strangers.
 */
import type { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"
import type { Socket } from "node:net"

const known = new WeakSet<Socket>()

/** Records that the caller of a request is authenticated. */
export const note = ({ source }: HttpServerRequest.HttpServerRequest): void => {
  if (source instanceof IncomingMessage) known.add(source.socket)
}

export const has = (socket: Socket): boolean => known.has(socket)
