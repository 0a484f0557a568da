/**
 * A receiver for Fastify.
 *
 * @module
 */
import type { Envelope } from "./Event.ts"
import { alreadyRead, answer, type EventHandler, maxBytesOf, type ReceiverOptions } from "./Receiver.ts"

export type { EventHandler, Problem, ReceiverOptions } from "./Receiver.ts"

/** As much of Fastify's request as is needed, and what `fastify-raw-body` adds to it. */
export interface FastifyRequestLike {
  readonly headers: { readonly [name: string]: string | Array<string> | undefined }
  readonly body?: unknown
  readonly rawBody?: unknown
  readonly log: { error(error: unknown): void }
}

/** As much of Fastify's reply as is needed. */
export interface FastifyReplyLike {
  code(status: number): unknown
  type(contentType: string): unknown
  send(body: string): unknown
}

/** As much of a Fastify instance as is needed. */
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
 * A handler for a route whose body is raw: within a plugin whose parser leaves it a buffer, or with `fastify-raw-body`.
 * A parsed body is refused as `body_already_parsed`. `webhook` is the plugin with such a parser.
 *
 * Answers 200 once `handler` is done, within 5 seconds; 400 with the mistake in words; 500 when the handler throws, so
 * that the event comes again. What it throws goes to `request.log.error`, unless there is `onError`.
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
 * A plugin with the one route `POST <path>`, that hands the verified event and the request to `handler`.
 *
 * ```ts
 * app.register(webhook({ path: "/webhook", secret: process.env.WEBHOOK_SECRET }, async (event) => { … }))
 * ```
 *
 * Within it bodies stay raw; the parsers of the rest of the app are untouched, as plugins are closed. Over `maxBytes`,
 * Fastify answers 413. Otherwise it answers as `webhookHandler`.
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
