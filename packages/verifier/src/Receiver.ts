/**
 * What the helpers for frameworks have in common: from a body to an answer. Internal to the package.
 */
import type { Envelope, WebhookEvent } from "./Event.ts"
import { type HeadersLike, receive, type ReceiveOptions, type ReceiveReason, type Secrets } from "./Receive.ts"

// The largest event is some kilobytes; whoever sends more is not the service, and must not fill the memory.
const defaultMaxBytes = 1_048_576

/** Why a request was not answered with 200: `body_too_large` is 413, `handler_failed` 500, and every other 400. */
export interface Problem {
  readonly reason: ReceiveReason | "body_too_large" | "handler_failed"
  /** The mistake in words, without anything secret. It is in the answer, and so in the service's log of attempts. */
  readonly message: string
}

/** Settings of a receiver; `Source` is what the framework hands to a handler: the request or context. */
export interface ReceiverOptions<Source extends ReadonlyArray<unknown>, E extends Envelope = "combined">
  extends ReceiveOptions<E>
{
  /** The webhook's signing secret, all live ones during a rotation, or how to get at it for each request. */
  readonly secret: Secrets | ((...source: Source) => Secrets | Promise<Secrets>)
  /** The largest body that is read, in bytes; 1 MiB by default. A larger one is answered with 413. */
  readonly maxBytes?: number | undefined
  /** Told of each request that is refused with 400 or 413, before the answer, which waits for it. */
  readonly onRefused?: ((problem: Problem, ...source: Source) => unknown) | undefined
  /** Told what the handler threw, before the answer 500, which waits for it; `console.error` by default. */
  readonly onError?: ((error: unknown, ...source: Source) => unknown) | undefined
}

/** Does the receiver's work. Once it returns the answer is 200; when it throws, 500, and the event comes again. */
export type EventHandler<Source extends ReadonlyArray<unknown>, E extends Envelope = "combined"> = (
  event: WebhookEvent<E>,
  ...source: Source
) => unknown

/** An answer whose body is JSON. */
export interface Answer {
  readonly status: 200 | 400 | 413 | 500
  readonly body: string
}

/** In place of a body: it is larger than the limit. */
export const tooLarge: unique symbol = Symbol()

/** In place of a body: another reader was there first, and what it left is not the raw bytes. */
export const alreadyRead = {}

// compared with NaN, as a missing variable makes one, no body is too large
export const maxBytesOf = ({ maxBytes = NaN }: { readonly maxBytes?: number | undefined }): number =>
  maxBytes >= 0 ? maxBytes : defaultMaxBytes

const problem = (status: Answer["status"], reason: Problem["reason"], message: string): Answer => ({
  status,
  body: JSON.stringify({ reason, message } satisfies Problem)
})

// oxlint-disable-next-line no-console -- what the frameworks do with an error that nobody handles
const print = (error: unknown): void => console.error(error)

/** Tells the receiver. What comes of that is printed: it must not take the place of the answer, or end the process. */
const tell = async (listener: () => unknown): Promise<void> => {
  try {
    await listener()
  } catch (error) {
    print(error)
  }
}

/** The answer to a request with this body, after the handler has done its work. */
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
