/**
 * Port: the upstream messaging provider. What customers and upstream report comes back through `Inbound`.
 */
import { Context, Effect, Schema } from "effect"
import { type Forbidden, type InvalidBody, type RateLimited, ServerError } from "../Errors.ts"
import type { MessageId } from "../Id.ts"
import type { PhoneNumber, ProviderNumber } from "../numbers/PhoneNumber.ts"
import type { ProviderTemplate, Template } from "../templates/Template.ts"
import type { OutboundMessage } from "./Message.ts"
import type { Resolved } from "./Referred.ts"

/** One message to be sent. */
export interface ProviderSend {
  /** Sent along as the opaque reference that status reports come back with. */
  readonly messageId: MessageId
  readonly sender: PhoneNumber
  readonly message: OutboundMessage
  /** The template that the message names. */
  readonly template: Template | undefined
  /** What the message refers to, in the provider's own names. */
  readonly refers: Resolved
}

/** How the provider took it (contract §3). */
export type ProviderOutcome =
  /** It accepted the message and named it. */
  | { readonly _tag: "Accepted"; readonly providerMessageId: string }
  /** It refused for good. */
  | { readonly _tag: "Refused"; readonly error: InvalidBody | Forbidden }
  /** It certainly sent nothing: throttled, unavailable, connection refused. */
  | { readonly _tag: "NotSent"; readonly error: RateLimited | ServerError }
  /** The request may have left, and no answer came that says what became of it. */
  | { readonly _tag: "Unknown" }

/** The provider could not say which templates there are. */
export class TemplatesUnavailable extends Schema.TaggedError<TemplatesUnavailable>()("TemplatesUnavailable", {
  reason: Schema.Literals(["provider_unavailable", "provider_error"]).pipe(
    Schema.withConstructorDefault(Effect.succeed("provider_unavailable" as const))
  ),
  message: Schema.String
}) {}

/** The provider could not be asked, or did not answer the question. `message` says what was asked for and why not. */
export class ProviderError extends Schema.TaggedError<ProviderError>()("ProviderError", {
  reason: Schema.Literals(["provider_unavailable", "provider_error"]),
  message: Schema.String
}) {}

/** What a caller is told. */
export const toServerError = ({ message, reason }: ProviderError | TemplatesUnavailable): ServerError =>
  new ServerError({ message, reason })

export class Provider extends Context.Service<Provider, {
  /** As the terminal and the log name it. */
  readonly name: string
  /**
   * Sends a message once. Every end is an outcome, none an error; a defect, an interruption or 8 seconds of silence
   * count as `Unknown`. It must not send again by itself.
   */
  readonly send: (command: ProviderSend) => Effect.Effect<ProviderOutcome>
  /**
   * Marks a customer's message as read, and may show that somebody types. Marking it again does no harm. Left out by a
   * provider that has no such thing.
   */
  readonly markRead?: (command: {
    readonly sender: PhoneNumber
    readonly providerMessageId: string
    readonly isTyping: boolean
  }) => Effect.Effect<void, InvalidBody | Forbidden | RateLimited | ServerError>
  /** The number that the configuration names, as the provider has it now: what the first workspace begins with. Takes 8 s at most. */
  readonly firstNumber: Effect.Effect<ProviderNumber, ProviderError>
  /** Every template of the account that the number belongs to, of every status. */
  readonly templates: (sender: PhoneNumber) => Effect.Effect<ReadonlyArray<ProviderTemplate>, TemplatesUnavailable>
}>()("@wac/core/messages/Provider") {}
