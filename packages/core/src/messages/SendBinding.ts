/**
 * What a send's idempotency key is bound to (contract §4): its message, the claim of the process that sends it, and the
 * answer that repeated requests receive; and the verdict on a key that was used before. Pure.
 */
import { Context, Duration, Effect, Schema } from "effect"
import { DomainError, ServerError } from "../Errors.ts"
import { ApiKeyId, MessageId, RequestId, WorkspaceId } from "../Id.ts"
import { isExpired } from "../Idempotency.ts"
import type { Instant } from "../Time.ts"
import { isConcluded, isDeliveryUnknown, isNeverSent, isOver, type Message } from "./Message.ts"

/** The length of a send's claim: longer than the provider's deadline of 8 s and any pause of a healthy process. */
export const lease = Duration.seconds(30)

/**
 * The stored answer to a send, which repeated requests receive again: the message's identifiers, or the final error.
 */
export const Answer = Schema.Union([
  Schema.TaggedStruct("Sent", {
    messageId: MessageId,
    providerMessageId: Schema.String,
    workspaceId: WorkspaceId,
    apiKeyId: Schema.NullOr(ApiKeyId)
  }),
  /** The message was queued (contract §15). */
  Schema.TaggedStruct("Queued", {
    messageId: MessageId,
    workspaceId: WorkspaceId,
    apiKeyId: Schema.NullOr(ApiKeyId),
    sendAt: Schema.Finite
  }),
  /** `requestId` is the id of the first request, so that repeated answers have the same bytes. */
  Schema.TaggedStruct("Failed", { error: DomainError, requestId: RequestId })
])
export type Answer = typeof Answer.Type

/** The success of a send: the provider accepted the message and returned its identifier. */
export type Sent = Extract<Answer, { readonly _tag: "Sent" }>

/** The success of a request to send later: the message is queued. */
export type Queued = Extract<Answer, { readonly _tag: "Queued" }>

/** The final error of a send. */
export type Failed = Extract<Answer, { readonly _tag: "Failed" }>

/** What is stored for a key. */
export interface SendBinding {
  readonly fingerprint: string
  readonly messageId: MessageId
  /**
   * The token of the process that is sending, and the time until which no other process may treat the send as crashed.
   */
  readonly claim: { readonly token: string; readonly leaseUntil: Instant } | null
  /** The stored answer, once there is one. */
  readonly answer: Answer | null
  /** The outcome of the last try if nothing was sent. Requests that wait for the try receive it; later ones do not. */
  readonly lastFailure: Answer | null
  /** When the key is deleted; `null` until the message has ended, and for a campaign's recipients. */
  readonly expiresAt: Instant | null
}

/** The verdict on a request's key. */
export type Verdict =
  /** The key is unused or expired. The request may claim it. */
  | { readonly _tag: "Unbound" }
  /** The key was used with a different body. */
  | { readonly _tag: "Conflict" }
  | { readonly _tag: "Answered"; readonly answer: Answer }
  | { readonly _tag: "Running" }
  /** It is not known whether the message was sent. */
  | { readonly _tag: "Unknown"; readonly reason: "outcome_unknown" | "delivery_unknown" }
  /** The last try sent nothing. The request may claim the key again, for the same message. */
  | { readonly _tag: "Released"; readonly lastFailure: Answer | null }

/**
 * Judges a key; `message` is the message that the key is bound to. A claim is never taken over: after its lease the
 * outcome is unknown, until the provider's reports settle it (contract §3). `ofQueue` is set when the queue is about to
 * send the message; for callers, the key of a queued message is already answered.
 */
export const judge = (
  binding: SendBinding | undefined,
  message: Message | undefined,
  fingerprint: string,
  now: Instant,
  ofQueue = false
): Verdict => {
  if (binding === undefined || message === undefined || isExpired(binding, now)) return { _tag: "Unbound" }
  if (binding.fingerprint !== fingerprint) return { _tag: "Conflict" }
  if (binding.answer !== null && !(ofQueue && binding.answer._tag === "Queued")) {
    return { _tag: "Answered", answer: binding.answer }
  }
  if (binding.claim !== null && binding.claim.leaseUntil > now) return { _tag: "Running" }
  const settled = settledByReport(message)
  if (settled !== null) return { _tag: "Answered", answer: settled }
  if (isDeliveryUnknown(message)) return { _tag: "Unknown", reason: "delivery_unknown" }
  // a message may only be sent while it still waits for that
  return binding.claim === null && (message.status === "sending" || message.status === "queued")
    ? { _tag: "Released", lastFailure: binding.lastFailure }
    : { _tag: "Unknown", reason: "outcome_unknown" }
}

/**
 * The answer implied by the provider's reports. A report shows that the provider accepted the message, even if it
 * failed later. A provider that reports by our reference alone knows the message by our id.
 */
export const settledByReport = (message: Message): Answer | null =>
  isOver(message) && !isNeverSent(message) && !isConcluded(message)
    ? sent(message, message.providerMessageId ?? message.id)
    : null

/** The answer for an accepted message. */
export const sent = (
  message: Pick<Message, "id" | "workspaceId" | "apiKeyId">,
  providerMessageId: string
): Sent => ({
  _tag: "Sent",
  messageId: message.id,
  providerMessageId,
  workspaceId: message.workspaceId,
  apiKeyId: message.apiKeyId
})

/** The error for an unknown outcome. */
export const unknown = (reason: "outcome_unknown" | "delivery_unknown"): ServerError =>
  new ServerError({
    reason,
    message: reason === "outcome_unknown"
      ? "the provider did not confirm whether it accepted the message, so the message is not sent again. Repeat the " +
        "request with the same Idempotency-Key to learn the outcome"
      : "the provider never confirmed whether it accepted the message; it was not sent again"
  })

/** The error for a request to send later if the storage failed before it confirmed that the message is queued. */
export const unknownQueuing = (): ServerError =>
  new ServerError({
    reason: "outcome_unknown",
    message: "the storage did not confirm whether it queued the message. Send the message again under its " +
      "Idempotency-Key to learn the outcome"
  })

/**
 * Called when the current request receives the stored answer of an earlier request. The HTTP layer sets it to mark the
 * response as a replay. By default it does nothing.
 */
export const ReplayObserver = Context.Reference<(answer: Answer) => void>(
  "@wac/core/messages/SendBinding/ReplayObserver",
  {
    defaultValue: () => () => {}
  }
)

/** Calls the {@link ReplayObserver} of the current request. */
export const observeReplay = (answer: Answer): Effect.Effect<void> =>
  Effect.map(ReplayObserver, (observer) => observer(answer))

/**
 * Called when the current request is the one that sends a message, or may have queued it, with the message's id. By
 * default it does nothing.
 */
export const AttemptObserver = Context.Reference<(messageId: MessageId) => void>(
  "@wac/core/messages/SendBinding/AttemptObserver",
  {
    defaultValue: () => () => {}
  }
)

/** Calls the {@link AttemptObserver} of the current request. */
export const observeAttempt = (messageId: MessageId): Effect.Effect<void> =>
  Effect.map(AttemptObserver, (observer) => observer(messageId))
