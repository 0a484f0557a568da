/**
 * A receiver for Hono, on any runtime.
 *
 * @module
 */
import type { Envelope } from "./Event.ts"
import { bodyOf } from "./Fetch.ts"
import { alreadyRead, answer, type EventHandler, maxBytesOf, type ReceiverOptions } from "./Receiver.ts"

export type { EventHandler, Problem, ReceiverOptions } from "./Receiver.ts"

/** The part of Hono's `Context` that is needed. */
export interface HonoContext {
  readonly req: { readonly raw: Request; readonly bodyCache?: object }
}

/**
 * A handler for `app.post(path, …)` that passes the verified event and the context to `handler`.
 *
 * ```ts
 * app.post("/webhook", webhook({ secret: (c: Context<Env>) => c.env.WEBHOOK_SECRET }, async (event, c) => { … }))
 * ```
 *
 * `c.req.arrayBuffer()` or `c.req.text()` may have read the body before, because they keep it unchanged. Responds like
 * the handler of `@wac/verifier/fetch`.
 */
export const webhook = <Context extends HonoContext = HonoContext, E extends Envelope = "combined">(
  options: ReceiverOptions<readonly [Context], E>,
  handler: EventHandler<readonly [Context], E>
) =>
async (context: Context): Promise<Response> => {
  const { bodyCache, raw } = context.req
  const { body, status } = await answer(
    raw.bodyUsed ? await cached(bodyCache) : await bodyOf(raw, maxBytesOf(options)),
    raw.headers,
    options,
    handler,
    [context]
  )
  return new Response(body, { status, headers: { "content-type": "application/json" } })
}

/** The form in which Hono keeps a body that was read: the bytes, or their text. */
const cached = async (cache: { readonly arrayBuffer?: unknown; readonly text?: unknown } = {}): Promise<unknown> => {
  const bytes = await cache.arrayBuffer
  return bytes === undefined ? await cache.text ?? alreadyRead : new Uint8Array(bytes as ArrayBuffer)
}
