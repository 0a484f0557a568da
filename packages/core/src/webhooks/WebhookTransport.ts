/**
 * Port: one POST to a receiver.
 */
import { Context, type Duration, type Effect } from "effect"
import type { Attempt } from "./Delivery.ts"

/** What is posted. `body` is what was signed, byte for byte. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** For everything: name look-up, connection, request and answer. */
  readonly timeout: Duration.Duration
}

/** What came of it, but for its place in the delivery's life. */
export type WebhookAnswer = Pick<
  Attempt,
  "outcome" | "statusCode" | "message" | "address" | "timings" | "response" | "retryAfter"
>

export class WebhookTransport extends Context.Service<WebhookTransport, {
  /**
   * Posts once: no redirect is followed, no proxy used, at most 16 KiB of the answer read. Every end is an answer,
   * none an error: when the time is over too, and then the answer says how far it came. That or an interruption
   * closes the connection.
   */
  readonly post: (request: WebhookRequest) => Effect.Effect<WebhookAnswer>
}>()("@wac/core/webhooks/WebhookTransport") {}
