/**
 * The request of an attempt, as the dashboard shows it (contract §6). It is not stored: everything except the URL
 * follows from the event, the variant and the time. Pure.
 */
import { SIGNATURE_HEADER, STANDARD_WEBHOOK_HEADERS } from "@wac/verifier"
import { body, type Envelope, type Event } from "../events/Event.ts"
import type { Attempt } from "./Delivery.ts"

/** The request of an attempt, without its signatures. */
export interface AttemptRequest {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  /** Byte for byte as sent. */
  readonly body: string
}

/** An attempt and its request. */
export interface ShownAttempt extends Attempt {
  readonly request: AttemptRequest
}

/** Replaces the signature: a person with read access must not be able to sign as us. */
const hidden = "…"

/** Rebuilds the request of an attempt, without its signatures. */
export const of = (
  event: Event,
  envelope: Envelope,
  attempt: Pick<Attempt, "url" | "startedAt">
): AttemptRequest => {
  const timestamp = `${Math.floor(attempt.startedAt / 1000)}`
  return {
    url: attempt.url,
    headers: {
      "content-type": "application/json",
      [SIGNATURE_HEADER]: `t=${timestamp},v1=${hidden}`,
      [STANDARD_WEBHOOK_HEADERS.id]: event.id,
      [STANDARD_WEBHOOK_HEADERS.timestamp]: timestamp,
      [STANDARD_WEBHOOK_HEADERS.signature]: `v1,${hidden}`
    },
    body: body(event, envelope)
  }
}

/** An attempt with its request. */
export const shown = (event: Event, envelope: Envelope, attempt: Attempt): ShownAttempt => ({
  ...attempt,
  request: of(event, envelope, attempt)
})
