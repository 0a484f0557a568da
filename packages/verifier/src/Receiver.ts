/**
 * The shared part of the helpers for frameworks: from a body to a response. Internal to the package.
 */
import type { Envelope, WebhookEvent } from "./Event.ts"
import { type HeadersLike, receive, type ReceiveOptions, type ReceiveReason, type Secrets } from "./Receive.ts"

// The largest event has some kilobytes; a larger body is not from the service and must not fill the memory.
const defaultMaxBytes = 1_048_576

/** Why the response was not 200: `body_too_large` is 413, `handler_failed` is 500, and every other reason is 400. */
export interface Problem {
  readonly reason: ReceiveReason | "body_too_large" | "handler_failed"
  /** A description of the mistake, without secrets. It is in the response, and so in the service's log of attempts. */
  readonly message: string
}

/** Settings of a receiver; `Source` is what the framework passes to a handler: the request or the context. */
export interface ReceiverOptions<Source extends ReadonlyArray<unknown>, E extends Envelope = "combined">
  extends ReceiveOptions<E>
{
  /** The webhook's signing secret, all live secrets during a rotation, or a function that returns them per request. */
  readonly secret: Secrets | ((...source: Source) => Secrets | Promise<Secrets>)
  /** The largest body that is read, in bytes; 1 MiB by default. The response to a larger body is 413. */
  readonly maxBytes?: number | undefined
  /** Called for each request refused with 400 or 413, and awaited before the response is sent. */
  readonly onRefused?: ((problem: Problem, ...source: Source) => unknown) | undefined
  /** Called with the handler's error, and awaited before the response 500 is sent; `console.error` by default. */
  readonly onError?: ((error: unknown, ...source: Source) => unknown) | undefined
}

/**
 * Handles an event. When it returns, the response is 200; if it throws, the response is 500 and the event comes again.
 */
export type EventHandler<Source extends ReadonlyArray<unknown>, E extends Envelope = "combined"> = (
  event: WebhookEvent<E>,
  ...source: Source
) => unknown

/** A response with a JSON body. */
export interface Answer {
  readonly status: 200 | 400 | 413 | 500
  readonly body: string
}

/** In place of a body that is larger than the limit. */
export const tooLarge: unique symbol = Symbol()

/** In place of a body that was already read without leaving its raw bytes. */
export const alreadyRead = {}

// NaN, as from a missing variable, would make no body too large
export const maxBytesOf = ({ maxBytes = NaN }: { readonly maxBytes?: number | undefined }): number =>
  maxBytes >= 0 ? maxBytes : defaultMaxBytes

const problem = (status: Answer["status"], reason: Problem["reason"], message: string): Answer => ({
  status,
  body: JSON.stringify({ reason, message } satisfies Problem)
})

// oxlint-disable-next-line no-console -- the frameworks also print errors that no handler takes
const print = (error: unknown): void => console.error(error)

/** Calls a callback of the receiver. Its error is printed: it must not replace the response or end the process. */
const tell = async (listener: () => unknown): Promise<void> => {
  try {
    await listener()
  } catch (error) {
    print(error)
  }
}

/** The response to a request with this body, after the handler is done. */
export const answer = async <Source extends ReadonlyArray<unknown>, E extends Envelope>(
  body: unknown,
  headers: HeadersLike,
  options: ReceiverOptions<Source, E>,
  handler: EventHandler<Source, E>,
  source: Source
): Promise<Answer> => {
  const { onError = print, onRefused, secret } = options
  try {
    const receipt = body === tooLarge
      ? { ok: false, reason: "body_too_large", message: `the body is over ${maxBytesOf(options)} bytes` } as const
      : await receive(
        body as string | Uint8Array,
        headers,
        typeof secret === "function" ? await secret(...source) : secret,
        options
      )
    if (!receipt.ok) {
      const { message, reason } = receipt
      await tell(() => onRefused?.({ reason, message }, ...source))
      return problem(body === tooLarge ? 413 : 400, reason, message)
    }
    await handler(receipt.event, ...source)
    return { status: 200, body: "{\"received\":true}" }
  } catch (error) {
    await tell(() => onError(error, ...source))
    return problem(500, "handler_failed", "the receiver failed while it worked on the event; it can be sent again")
  }
}
