/**
 * Port: one POST to a receiver.
 */
import { Context, type Effect } from "effect"
import type { Attempt } from "./Delivery.ts"

/** What is posted. `body` is what was signed, byte for byte. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

/** What came of it, but for its place in the delivery's life. */
export type WebhookAnswer = Pick<Attempt, "outcome" | "statusCode" | "message" | "response" | "retryAfter">

export class WebhookTransport extends Context.Service<WebhookTransport, {
  /**
   * Posts once: no redirect is followed, no proxy used, at most 16 KiB of the answer read. Every end is an answer,
   * none an error. The caller sets the deadline by interrupting; the connection is then closed.
   */
  readonly post: (request: WebhookRequest) => Effect.Effect<WebhookAnswer>
}>()("@wac/core/WebhookTransport") {}
