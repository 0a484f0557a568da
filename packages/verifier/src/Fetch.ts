/**
 * A receiver for everything that takes a `Request` and returns a `Response`: Next.js and other route handlers, Deno,
 * Bun, Cloudflare Workers.
 *
 * @module
 */
import type { Envelope } from "./Event.ts"
import { GatheredBytes } from "./GatheredBytes.ts"
import { alreadyRead, answer, type EventHandler, maxBytesOf, type ReceiverOptions, tooLarge } from "./Receiver.ts"

export type { EventHandler, Problem, ReceiverOptions } from "./Receiver.ts"

/**
 * A request handler that passes the verified event to `handler`, together with the request and all other arguments of
 * the framework (Next's context, a Worker's `env` and `ctx`).
 *
 * ```ts
 * export const POST = webhook({ secret: process.env.WEBHOOK_SECRET }, async (event) => {
 *   if (event.type === "message.delivered") await markDelivered(event.data.message_id)
 * })
 * ```
 *
 * It responds with 200 once the handler is done, which must be within 5 seconds; with 400 and a description of the
 * mistake; with 413 over `maxBytes`; and with 500 if the handler throws, so that the event comes again. It never
 * rejects.
 */
export const webhook = <
  Source extends readonly [Request, ...ReadonlyArray<unknown>] = readonly [Request],
  E extends Envelope = "combined"
>(
  options: ReceiverOptions<Source, E>,
  handler: EventHandler<Source, E>
) =>
async (...source: Source): Promise<Response> => {
  const [request] = source
  const { body, status } = await answer(
    await bodyOf(request, maxBytesOf(options)),
    request.headers,
    options,
    handler,
    source
  )
  return new Response(body, { status, headers: { "content-type": "application/json" } })
}

/** The bytes of a request; `undefined` if they do not all arrive. Internal to the package. */
export const bodyOf = async (request: Request, maxBytes: number): Promise<unknown> => {
  if (request.bodyUsed) {
    return alreadyRead
  }
  if (Number(request.headers.get("content-length")) > maxBytes) {
    return tooLarge
  }
  const bytes = new GatheredBytes()
  try {
    const reader = request.body?.getReader()
    for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
      if (!bytes.take(read.value, maxBytes)) {
        await reader?.cancel()
        return tooLarge
      }
    }
  } catch {
    return undefined
  }
  return bytes.all()
}
