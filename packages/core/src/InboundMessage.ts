/**
 * What a customer writes to one of our numbers.
 */
import type { Schema } from "effect"
import type { Customer } from "./Contact.ts"
import type { Instant } from "./Time.ts"

/** A customer's message, as the provider handed it over. */
export interface InboundMessage {
  /** The provider's name of the number that was written to. */
  readonly providerNumberId: string
  readonly providerMessageId: string
  readonly customer: Customer
  /** The message's own time, as the provider gives it. */
  readonly at: Instant
  /** `text`, `button`, … as the event's `data.type`. */
  readonly type: string
  /** What the event's `data` holds under the name of the type: `{body}` of a `text`. */
  readonly content: Schema.Json
  /** What it quotes or answers: `{message_id, from?, forwarded?}`. */
  readonly context: Schema.Json | null
  /** What the customer's words say of being written to. */
  readonly preference: "opt_out" | "opt_in" | undefined
  /** Whether it came so late that a receiver should know. */
  readonly late: boolean
}
