/**
 * A receiver for Hono, on any runtime.
 *
 * @module
 */
import type { Envelope } from "./Event.ts"
import { bodyOf } from "./Fetch.ts"
import { alreadyRead, answer, type EventHandler, maxBytesOf, type ReceiverOptions } from "./Receiver.ts"

export type { EventHandler, Problem, ReceiverOptions } from "./Receiver.ts"

/** As much of Hono's `Context` as is needed. */
export interface HonoContext {
  readonly req: { readonly raw: Request; readonly bodyCache?: object }
}

/**
 * A handler for `app.post(path, …)` that hands the verified event and the context to `handler`.
 *
 * ```ts
 * app.post("/webhook", webhook({ secret: (c: Context<Env>) => c.env.WEBHOOK_SECRET }, async (event, c) => { … }))
 * ```
 *
 * The body may have been read before by `c.req.arrayBuffer()` or `c.req.text()`, which keep it as it came. Answers as the
 * handler of `@wac/verifier/fetch` does.
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

/** What Hono has kept of a body that was read: the bytes, or their text. */
const cached = async (cache: { readonly arrayBuffer?: unknown; readonly text?: unknown } = {}): Promise<unknown> => {
  const bytes = await cache.arrayBuffer
  return bytes === undefined ? await cache.text ?? alreadyRead : new Uint8Array(bytes as ArrayBuffer)
}
