/**
 * Port: sends one POST to a receiver.
 */
import { Context, type Duration, type Effect } from "effect"
import type { Attempt } from "./Delivery.ts"

/** The request. `body` is what was signed, byte for byte. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** Covers everything: DNS lookup, connection, request and response. */
  readonly timeout: Duration.Duration
}

/** The result of a POST: an `Attempt` without its place in the delivery's life. */
export type WebhookAnswer = Pick<
  Attempt,
  "outcome" | "statusCode" | "message" | "address" | "timings" | "response" | "retryAfter"
>

export class WebhookTransport extends Context.Service<WebhookTransport, {
  /**
   * Posts once, without following a redirect or using a proxy, and reads at most 16 KiB of the response. Every failure
   * is a result, never an error. If time runs out, the result reports how far the attempt got. A timeout or an
   * interruption closes the connection.
   */
  readonly post: (request: WebhookRequest) => Effect.Effect<WebhookAnswer>
}>()("@wac/core/webhooks/WebhookTransport") {}
