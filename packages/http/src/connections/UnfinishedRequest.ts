/**
 * Requests that get a response before they have arrived completely. The rest would be read as a separate request, or
 * get a second response when it is late. So the connection ends with the response.
 */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"

const isOpen = ({ source }: HttpServerRequest.HttpServerRequest): boolean =>
  source instanceof IncomingMessage && !source.complete

/** Waits one turn of the event loop, in which Node reads the bytes that arrived together with the head. */
const aTurn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Whether part of the request has not arrived although its response is ready. */
export const isLeft: Effect.Effect<boolean, never, HttpServerRequest.HttpServerRequest> = Effect.flatMap(
  HttpServerRequest.HttpServerRequest,
  (request) => isOpen(request) ? Effect.map(aTurn, () => isOpen(request)) : Effect.succeed(false)
)
