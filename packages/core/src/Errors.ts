/**
 * What can go wrong, in the specification's words (specification §7, contract §2).
 *
 * Seven codes, each with the machine-readable reasons that say which of its conditions applied. These errors
 * know nothing of HTTP: `@wac/api` gives each a status. A message names the field or the rule, never a secret, a
 * payload or a statement sent to the database.
 */
import { type Duration, Predicate, Schema } from "effect"

/** What the upstream provider said, in its own code and words. */
export const ProviderDetail = Schema.Struct({ code: Schema.String, message: Schema.String })
export type ProviderDetail = typeof ProviderDetail.Type

const described = {
  message: Schema.String,
  /** JSON path of the first offending field (`template.bodyParams[1]`) or the header's name. */
  param: Schema.optionalKey(Schema.String),
  provider: Schema.optionalKey(ProviderDetail)
}

/** The request itself is wrong; sending it again unchanged cannot help. */
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

/** The caller is not who it must be: no key or session, or one that is wrong, expired or revoked. */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {
  reason: Schema.Literals([
    "missing_key",
    "invalid_key",
    "expired_key",
    "revoked_key",
    "missing_session",
    "invalid_credentials",
    "invalid_signature",
    "stale_signature",
    "missing_signature"
  ]),
  ...described
}) {
  readonly code = "unauthorized"
}

/** The caller is known and may not do this, or the message may not be sent as things stand. */
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
    "holdout"
  ]),
  ...described
}) {
  readonly code = "forbidden"
}

/** An idempotency key came again with another body. */
export class IdempotencyConflict extends Schema.TaggedError<IdempotencyConflict>()("IdempotencyConflict", {
  reason: Schema.Literal("payload_mismatch"),
  ...described
}) {
  readonly code = "idempotency_conflict"
}

/** Too fast. `retryAfter` is how long to wait before the same request can be allowed. */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  reason: Schema.Literals(["workspace", "phone_number", "pair", "provider", "login"]),
  retryAfter: Schema.DurationFromMillis,
  ...described
}) {
  readonly code = "rate_limited"
}

/**
 * An error in the service or upstream. `outcome_unknown` and `delivery_unknown` mean that a message may have been
 * sent; every other reason means that this request sent nothing.
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

/** A route or an id that does not exist in the caller's workspace. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", described) {
  readonly code = "not_found"
}

/** Every error that a caller can be given. */
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

/** Tells a {@link DomainError} from anything else that was thrown or failed with. */
export const isDomainError: (u: unknown) => u is DomainError = Schema.is(DomainError)

/** The machine word that says which condition of the code applied; `not_found` has none. */
export const reasonOf = (error: DomainError): string | undefined =>
  Predicate.hasProperty(error, "reason") ? error.reason : undefined

/** How long to wait before trying again, where that is known. */
export const retryAfterOf = (error: DomainError): Duration.Duration | undefined =>
  Predicate.hasProperty(error, "retryAfter") ? error.retryAfter : undefined
