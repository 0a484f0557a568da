/**
 * A receiver for Fastify.
 *
 * @module
 */
import type { Envelope } from "./Event.ts"
import { alreadyRead, answer, type EventHandler, maxBytesOf, type ReceiverOptions } from "./Receiver.ts"

export type { EventHandler, Problem, ReceiverOptions } from "./Receiver.ts"

/** The part of Fastify's request that is needed, and what `fastify-raw-body` adds to it. */
export interface FastifyRequestLike {
  readonly headers: { readonly [name: string]: string | Array<string> | undefined }
  readonly body?: unknown
  readonly rawBody?: unknown
  readonly log: { error(error: unknown): void }
}

/** The part of Fastify's reply that is needed. */
export interface FastifyReplyLike {
  code(status: number): unknown
  type(contentType: string): unknown
  send(body: string): unknown
}

/** The part of a Fastify instance that is needed. */
export interface FastifyLike {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    contentType: string,
    options: { readonly parseAs: "buffer"; readonly bodyLimit: number },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: unknown) => void) => void
  ): unknown
  post(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>): unknown
}

/**
 * A handler for a route with a raw body: in a plugin whose parser leaves it a buffer, or with `fastify-raw-body`.
 * A parsed body is refused as `body_already_parsed`. `webhook` is the plugin with such a parser.
 *
 * Responds with 200 once `handler` is done, which must be within 5 seconds; with 400 and a description of the mistake;
 * and with 500 if the handler throws, so that the event comes again. Its error goes to `request.log.error`, unless
 * `onError` is set.
 */
export const webhookHandler = <
  Request extends FastifyRequestLike = FastifyRequestLike,
  E extends Envelope = "combined"
>(
  options: ReceiverOptions<readonly [Request], E>,
  handler: EventHandler<readonly [Request], E>
) => {
  const { onError = (error, request) => request.log.error(error) } = options
  return async (request: Request, reply: FastifyReplyLike): Promise<unknown> => {
    const body = [request.rawBody, request.body].find((each) => typeof each === "string" || ArrayBuffer.isView(each))
    const answered = await answer(body ?? alreadyRead, request.headers, { ...options, onError }, handler, [request])
    reply.code(answered.status)
    reply.type("application/json")
    return reply.send(answered.body)
  }
}

/**
 * A plugin with the single route `POST <path>`, which passes the verified event and the request to `handler`.
 *
 * ```ts
 * app.register(webhook({ path: "/webhook", secret: process.env.WEBHOOK_SECRET }, async (event) => { … }))
 * ```
 *
 * In the plugin, bodies stay raw; the parsers of the rest of the app do not change, because plugins are encapsulated.
 * Over `maxBytes`, Fastify responds with 413. All other responses are those of `webhookHandler`.
 */
export const webhook = <Request extends FastifyRequestLike = FastifyRequestLike, E extends Envelope = "combined">(
  options: ReceiverOptions<readonly [Request], E> & { readonly path: string },
  handler: EventHandler<readonly [Request], E>
) =>
async (app: FastifyLike): Promise<void> => {
  const answered = webhookHandler(options, handler)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    "*",
    { parseAs: "buffer", bodyLimit: maxBytesOf(options) },
    (_request, body, done) => done(null, body)
  )
  // Fastify's own request, which is what the handler asks for
  app.post(options.path, (request, reply) => answered(request as Request, reply))
}
