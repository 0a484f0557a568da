/**
 * Requests that are answered before all of them has come. What is still on its way would be read as a request of its
 * own, or answered once more when it is late: the connection ends with the answer.
 */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"

const isOpen = ({ source }: HttpServerRequest.HttpServerRequest): boolean =>
  source instanceof IncomingMessage && !source.complete

/** What came with the head in one piece is read in the present turn of the event loop. */
const aTurn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Whether part of the request has still to come, though its answer is ready. */
export const isLeft: Effect.Effect<boolean, never, HttpServerRequest.HttpServerRequest> = Effect.flatMap(
  HttpServerRequest.HttpServerRequest,
  (request) => isOpen(request) ? Effect.map(aTurn, () => isOpen(request)) : Effect.succeed(false)
)
