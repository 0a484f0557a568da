/**
 * Idempotency keys (specification §4 rules 4 and 5, contract §4): their syntax, the fingerprint of a body, and what a
 * key that was seen before means.
 */
import { Context, Duration, Effect, Result, Schema } from "effect"
import { Digest } from "effect/crypto"
import { DomainError, InvalidBody, ServerError } from "../Errors.ts"
import { ApiKeyId, MessageId, RequestId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import { isDeliveryUnknown, type Message, ranks } from "./Message.ts"

/** How long a key is kept after its answer. */
export const retention = Duration.hours(24)

/** How long a send's claim is good for: more than the provider's 8 s and any pause of a healthy process. */
export const lease = Duration.seconds(30)

/** How long a second request waits for the first one's answer (contract §4). */
export const joinTimeout = Duration.seconds(10)

/** What the second request is asked to wait when the first one takes longer. */
export const joinRetryAfter = Duration.seconds(1)

const keyPattern = /^[\x21-\x7e]{1,255}$/u

/** 1–255 visible ASCII characters. */
export const IdempotencyKey = Schema.String.check(Schema.isPattern(keyPattern)).pipe(Schema.brand("IdempotencyKey"))
export type IdempotencyKey = typeof IdempotencyKey.Type

const isKey = (text: string): text is IdempotencyKey => keyPattern.test(text)

/** The header's name, as errors give it. */
export const header = "Idempotency-Key"

/** Reads the header's value; the quoted form of the IETF draft is unquoted, so that `"k"` and `k` are one key. */
export const parseKey = (value: string | undefined): Result.Result<IdempotencyKey, InvalidBody> => {
  if (value === undefined) {
    return Result.fail(
      new InvalidBody({ reason: "missing_idempotency_key", param: header, message: `the header ${header} is required` })
    )
  }
  const quoted = /^"(.*)"$/s.exec(value)
  const key = quoted === null ? value : quoted[1]!.replace(/\\(["\\])/g, "$1")
  return isKey(key) ? Result.succeed(key) : Result.fail(
    new InvalidBody({
      reason: "invalid_idempotency_key",
      param: header,
      message: `${header} must be 1 to 255 visible ASCII characters`
    })
  )
}

/** JSON with sorted keys and no white space, so that neither makes a conflict. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value))

const sorted = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const fields = value as { readonly [name: string]: unknown }
  return Object.fromEntries(Object.keys(fields).sort().map((name) => [name, sorted(fields[name])]))
}

const utf8 = new TextEncoder()

/** SHA-256 (hex) of the canonical JSON of a decoded body. */
export const fingerprint = (digest: Digest.Digest["Service"], body: unknown): Effect.Effect<string> =>
  digest.digestHex(Digest.sha256, utf8.encode(canonicalJson(body)))

/** The answer to a send that was given once and is given again: the message's names, or the final error. */
export const Answer = Schema.Union([
  Schema.TaggedStruct("Sent", {
    messageId: MessageId,
    providerMessageId: Schema.String,
    workspaceId: WorkspaceId,
    apiKeyId: Schema.NullOr(ApiKeyId)
  }),
  /** `requestId` is of the request that got it first, so that the body is the same to the byte. */
  Schema.TaggedStruct("Failed", { error: DomainError, requestId: RequestId })
])
export type Answer = typeof Answer.Type

/** The success of a send: the provider accepted the message and named it. */
export type Sent = Extract<Answer, { readonly _tag: "Sent" }>

/** What is kept of a key. */
export interface Binding {
  readonly fingerprint: string
  readonly messageId: MessageId
  /** Who is sending at the moment, and until when nobody else may think that they crashed. */
  readonly claim: { readonly token: string; readonly leaseUntil: Instant } | null
  /** The stored answer, once there is one. */
  readonly answer: Answer | null
  /** How the last try ended when it certainly sent nothing; told to those who waited for it, never replayed later. */
  readonly lastFailure: Answer | null
  /** When the key is forgotten; `null` while its send has no end. */
  readonly expiresAt: Instant | null
}

/** What a request finds under its key. */
export type Verdict =
  /** Nothing, or something forgotten: the request may claim it. */
  | { readonly _tag: "Unbound" }
  /** Another body came with this key. */
  | { readonly _tag: "Conflict" }
  | { readonly _tag: "Answered"; readonly answer: Answer }
  | { readonly _tag: "Running" }
  /** Nobody knows yet, or ever will, whether the message went out. */
  | { readonly _tag: "Unknown"; readonly reason: "outcome_unknown" | "delivery_unknown" }
  /** The last try certainly sent nothing: the request may claim it again, under the same message. */
  | { readonly _tag: "Released"; readonly lastFailure: Answer | null }

/**
 * Judges a key. `message` is the one that the key is bound to. A claim is never taken over: an ended lease means that
 * the outcome is unknown, until upstream's reports say more (contract §3).
 */
export const judge = (
  binding: Binding | undefined,
  message: Message | undefined,
  fingerprint: string,
  now: Instant
): Verdict => {
  if (binding === undefined || message === undefined || (binding.expiresAt !== null && binding.expiresAt <= now)) {
    return { _tag: "Unbound" }
  }
  if (binding.fingerprint !== fingerprint) return { _tag: "Conflict" }
  if (binding.answer !== null) return { _tag: "Answered", answer: binding.answer }
  if (binding.claim !== null && binding.claim.leaseUntil > now) return { _tag: "Running" }
  const settled = settledByReport(message)
  if (settled !== null) return { _tag: "Answered", answer: settled }
  if (isDeliveryUnknown(message)) return { _tag: "Unknown", reason: "delivery_unknown" }
  // whatever else has become of it, only a message that is still waiting to be sent may be sent
  return binding.claim === null && message.status === "sending"
    ? { _tag: "Released", lastFailure: binding.lastFailure }
    : { _tag: "Unknown", reason: "outcome_unknown" }
}

/** The answer that upstream's own reports give: whoever reports on a message has taken it, even if it failed later. */
export const settledByReport = (message: Message): Answer | null =>
  message.providerMessageId !== null && !isDeliveryUnknown(message) &&
    (message.status === "failed" || ranks[message.status] >= ranks.sent)
    ? sent(message, message.providerMessageId)
    : null

/** The answer of an accepted message. */
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

/** The error for an outcome that nobody knows. */
export const unknown = (reason: "outcome_unknown" | "delivery_unknown"): ServerError =>
  new ServerError({
    reason,
    message: reason === "outcome_unknown"
      ? "the provider did not confirm whether it accepted the message, so the message is not sent again. Repeat the " +
        "request with the same Idempotency-Key to learn the outcome"
      : "the provider never confirmed whether it accepted the message; it was not sent again"
  })

/**
 * Told when the current request gets an answer that another request got first: the HTTP layer sets it to mark the
 * answer; elsewhere nobody listens.
 */
export const ReplayObserver = Context.Reference<(answer: Answer) => void>("@wac/core/Idempotency/ReplayObserver", {
  defaultValue: () => () => {}
})

/** Tells the {@link ReplayObserver} of the current request. */
export const observeReplay = (answer: Answer): Effect.Effect<void> =>
  Effect.map(ReplayObserver, (observer) => observer(answer))
