/**
 * The error codes (specification §7, contract §2).
 *
 * Seven codes, each with machine-readable reasons for the condition that applied. These errors know nothing of HTTP:
 * `@wac/api` maps each to a status. A message names the field or the rule, never a secret, a payload or a database
 * statement.
 */
import { type Duration, Predicate, Schema } from "effect"

/** The upstream provider's own error code and message. */
export const ProviderDetail = Schema.Struct({ code: Schema.String, message: Schema.String }).annotate({
  identifier: "ProviderDetail",
  description: "The upstream provider's own error code and message."
})
export type ProviderDetail = typeof ProviderDetail.Type

const described = {
  message: Schema.String,
  /** JSON path of the first offending field (`template.bodyParams[1]`) or the header's name. */
  param: Schema.optionalKey(Schema.String),
  provider: Schema.optionalKey(ProviderDetail)
}

/** The request itself is wrong. Sending it again unchanged cannot succeed. */
export class InvalidBody extends Schema.TaggedError<InvalidBody>()("InvalidBody", {
  reason: Schema.Literals([
    "malformed_json",
    "missing_field",
    "invalid_field",
    "unknown_field",
    "missing_idempotency_key",
    "invalid_idempotency_key",
    "template_params_mismatch",
    "undeliverable",
    "too_large",
    "unsupported_media_type"
  ]),
  ...described
}) {
  readonly code = "invalid_body"
}

/** The caller is not authenticated: a key, session or signature is missing, wrong, expired or revoked. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {
  reason: Schema.Literals([
    "missing_key",
    "invalid_key",
    "expired_key",
    "revoked_key",
    "missing_session",
    "invalid_credentials",
    "second_factor_required",
    "invalid_code",
    "invalid_passkey",
    "challenge_ended",
    "invalid_signature",
    "stale_signature",
    "missing_signature"
  ]),
  /**
   * With `second_factor_required`: the one-time token that completes the sign-in, together with a code or a passkey.
   */
  challenge: Schema.optionalKey(Schema.String),
  ...described
}) {
  readonly code = "unauthorized"
}

/** The caller is known but may not do this, or the current state does not allow the message. */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", {
  reason: Schema.Literals([
    "missing_scope",
    "role_not_allowed",
    "cross_site",
    "failed_handshake",
    "outside_service_window",
    "template_not_found",
    "template_not_approved",
    "opted_out",
    "quota_exhausted",
    "messaging_limit_reached",
    "sender_not_available",
    "workspace_suspended",
    "provider_policy",
    "phone_number_required",
    "media_quota",
    "frequency_cap",
    "holdout",
    "fresh_session_required",
    "campaign_state",
    "already_sent",
    "not_queued"
  ]),
  ...described
}) {
  readonly code = "forbidden"
}

/** An idempotency key was reused with a different body. */
export class IdempotencyConflict extends Schema.TaggedError<IdempotencyConflict>()("IdempotencyConflict", {
  reason: Schema.Literal("payload_mismatch"),
  ...described
}) {
  readonly code = "idempotency_conflict"
}

/** The caller exceeded a rate limit. `retryAfter` is how long to wait before the same request can be allowed. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  reason: Schema.Literals(["workspace", "phone_number", "pair", "provider", "login"]),
  retryAfter: Schema.DurationFromMillis,
  ...described
}) {
  readonly code = "rate_limited"
}

/**
 * An error in the service or upstream. `outcome_unknown` and `delivery_unknown` mean that a message may have been
 * sent or queued, and `in_progress` that another request with the key may do so; every other reason means that this
 * request sent and queued nothing.
 */
export class ServerError extends Schema.TaggedError<ServerError>()("ServerError", {
  reason: Schema.Literals([
    "internal",
    "provider_error",
    "provider_unavailable",
    "overloaded",
    "storage_unavailable",
    "in_progress",
    "outcome_unknown",
    "delivery_unknown",
    "body_already_parsed"
  ]),
  retryAfter: Schema.optionalKey(Schema.DurationFromMillis),
  ...described
}) {
  readonly code = "server_error"
}

/** The error for an unexpected failure of the service, whose cause is in the log. */
export const internal = (): ServerError => new ServerError({ reason: "internal", message: "an error in the service" })

/** A route or an id that does not exist in the caller's workspace. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {
  reason: Schema.optionalKey(Schema.Literal("media_expired")),
  ...described
}) {
  readonly code = "not_found"
}

/** Every error that a caller can receive. */
export const DomainError = Schema.Union([
  InvalidBody,
  Unauthorized,
  Forbidden,
  IdempotencyConflict,
  RateLimited,
  ServerError,
  NotFound
])
export type DomainError = typeof DomainError.Type

/** Whether a thrown value or a failure is a {@link DomainError}. */
export const isDomainError: (u: unknown) => u is DomainError = Schema.is(DomainError)

/** The error's machine-readable reason; `undefined` for a `not_found` without one. */
export const reasonOf = (error: DomainError): string | undefined =>
  Predicate.hasProperty(error, "reason") ? error.reason : undefined

/** How long to wait before retrying; `undefined` if the error does not carry it. */
export const retryAfterOf = (error: DomainError): Duration.Duration | undefined =>
  Predicate.hasProperty(error, "retryAfter") ? error.retryAfter : undefined
