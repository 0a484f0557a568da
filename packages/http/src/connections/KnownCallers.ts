/**
 * The connections on which a caller was authenticated, by an API key or a session: their requests do not wait behind
 * those of strangers.
 */
import type { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"
import type { Socket } from "node:net"

const known = new WeakSet<Socket>()

/** Records that the caller of a request is authenticated. */
export const note = ({ source }: HttpServerRequest.HttpServerRequest): void => {
  if (source instanceof IncomingMessage) known.add(source.socket)
}

/** Whether a request on this connection was authenticated. */
export const has = (socket: Socket): boolean => known.has(socket)
