/**
 * A receiver for Express, and for everything that passes on Node's request and response: `node:http`, Connect, Next's
 * pages API.
 *
 * @module
 */
import type { Envelope } from "./Event.ts"
import { GatheredBytes } from "./GatheredBytes.ts"
import { alreadyRead, answer, type EventHandler, maxBytesOf, type ReceiverOptions, tooLarge } from "./Receiver.ts"

export type { EventHandler, Problem, ReceiverOptions } from "./Receiver.ts"

/** The part of Node's `IncomingMessage` that is needed, and what body parsers add to it. */
export interface NodeRequest {
  readonly headers: { readonly [name: string]: string | Array<string> | undefined }
  readonly readableDidRead?: boolean
  readonly destroyed?: boolean
  readonly body?: unknown
  readonly rawBody?: unknown
  on(event: string, listener: (chunk: Uint8Array) => void): unknown
  off(event: string, listener: (chunk: Uint8Array) => void): unknown
}

/** The part of Node's `ServerResponse` that is needed. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}

/**
 * A handler for `app.post(path, …)` that passes the verified event and the request to `handler`.
 *
 * ```ts
 * app.post("/webhook", webhook({ secret: process.env.WEBHOOK_SECRET }, async (event) => { … }))
 * app.use(express.json()) // after it
 * ```
 *
 * It reads the body itself. If something else has already read the body, it uses the raw bytes that `express.raw()`
 * leaves in `req.body`, or that `express.json({ verify })`, Nest and Cloud Functions leave in `req.rawBody`; an already
 * parsed body is refused as `body_already_parsed`.
 *
 * It responds with 200 once the handler is done, which must be within 5 seconds; with 400 and a description of the
 * mistake; with 413 over `maxBytes`; and with 500 if the handler throws, so that the event comes again. It never
 * rejects.
 */
export const webhook = <Request extends NodeRequest = NodeRequest, E extends Envelope = "combined">(
  options: ReceiverOptions<readonly [Request], E>,
  handler: EventHandler<readonly [Request], E>
) =>
async (request: Request, response: NodeResponse): Promise<void> => {
  const { body, status } = await answer(
    await bodyOf(request, maxBytesOf(options)),
    request.headers,
    options,
    handler,
    [request]
  )
  if (!response.headersSent) {
    response.statusCode = status
    response.setHeader("content-type", "application/json")
    if (status === 413) {
      // the rest of the body is not read
      response.setHeader("connection", "close")
    }
    response.end(body)
  }
}

const isRaw = (body: unknown): boolean => typeof body === "string" || ArrayBuffer.isView(body)

const bodyOf = (request: NodeRequest, maxBytes: number): unknown =>
  [request.rawBody, request.body].find(isRaw) ??
    (request.readableDidRead === true ? alreadyRead : read(request, maxBytes))

/** The bytes of the stream; `undefined` if they do not all arrive. */
const read = (request: NodeRequest, maxBytes: number): Promise<unknown> =>
  new Promise((resolve) => {
    if (request.destroyed === true) {
      // no event follows
      return resolve(undefined)
    }
    if (Number(request.headers["content-length"]) > maxBytes) {
      return resolve(tooLarge)
    }
    const bytes = new GatheredBytes()
    const take = (chunk: Uint8Array) => {
      if (!bytes.take(chunk, maxBytes)) {
        request.off("data", take)
        resolve(tooLarge)
      }
    }
    request.on("data", take)
    request.on("end", () => resolve(bytes.all()))
    for (const event of ["error", "close"]) {
      request.on(event, () => resolve(undefined))
    }
  })
