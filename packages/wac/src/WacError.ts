/**
 * The one error class, with the specification's codes (specification §7, contract §2).
 */
import { Errors } from "@wac/core"
import { Duration } from "effect"

/** The kind of error: one of the specification's six codes, or `not_found`. */
export type ErrorCode =
  | "invalid_body"
  | "unauthorized"
  | "forbidden"
  | "idempotency_conflict"
  | "rate_limited"
  | "server_error"
  | "not_found"

/** The condition of a code that applied. Stable. */
export interface ErrorReasons {
  readonly invalid_body:
    | "malformed_json"
    | "missing_field"
    | "invalid_field"
    | "unknown_field"
    | "missing_idempotency_key"
    | "invalid_idempotency_key"
    | "template_params_mismatch"
    | "undeliverable"
    | "too_large"
    | "unsupported_media_type"
  readonly unauthorized:
    | "missing_key"
    | "invalid_key"
    | "expired_key"
    | "revoked_key"
    | "missing_session"
    | "invalid_credentials"
    | "invalid_signature"
    | "stale_signature"
    | "missing_signature"
  readonly forbidden:
    | "missing_scope"
    | "role_not_allowed"
    | "cross_site"
    | "outside_service_window"
    | "template_not_found"
    | "template_not_approved"
    | "opted_out"
    | "quota_exhausted"
    | "messaging_limit_reached"
    | "sender_not_available"
    | "workspace_suspended"
    | "provider_policy"
    | "phone_number_required"
    | "media_quota"
    | "frequency_cap"
    | "holdout"
    | "fresh_session_required"
    | "campaign_state"
  readonly idempotency_conflict: "payload_mismatch"
  readonly rate_limited: "workspace" | "phone_number" | "pair" | "provider" | "login"
  readonly server_error:
    | "internal"
    | "provider_error"
    | "provider_unavailable"
    | "overloaded"
    | "storage_unavailable"
    | "in_progress"
    | "outcome_unknown"
    | "delivery_unknown"
    | "body_already_parsed"
  /** Only of a customer's file that the provider no longer has. */
  readonly not_found: "media_expired"
}

/** The reason of any code. */
export type ErrorReason = ErrorReasons[ErrorCode]

/** The upstream provider's own error code and message. */
export interface ProviderDetail {
  readonly code: string
  readonly message: string
}

/** The properties of an error, besides its message. */
export interface ErrorDetails {
  readonly code: ErrorCode
  readonly reason?: ErrorReason | undefined
  readonly param?: string | undefined
  readonly retryAfter?: number | undefined
  readonly requestId?: string | undefined
  readonly provider?: ProviderDetail | undefined
}

/**
 * Every operation rejects with this error and no other. Switch on `code`, and on `reason` where it matters; `message`
 * is for people and may change. It holds no secret, no payload and no database message.
 *
 * For sends: only `server_error` with the reason `outcome_unknown` or `delivery_unknown` means that the message may
 * have been sent. After every other error, this call sent nothing. Retrying with the same idempotency key is always
 * safe.
 */
export class WacError extends Error {
  override readonly name = "WacError"
  /** The kind of error. */
  readonly code: ErrorCode
  /** The condition of the code that applied; `undefined` with most of `not_found`. */
  readonly reason: ErrorReason | undefined
  /** The first offending field, as a path (`template.bodyParams[1]`), or the option's name. */
  readonly param: string | undefined
  /** How long to wait before retrying, in milliseconds, if known. */
  readonly retryAfter: number | undefined
  /** The id of the send in the log, if there is one. */
  readonly requestId: string | undefined
  /** The upstream provider's own error. */
  readonly provider: ProviderDetail | undefined

  constructor(message: string, details: ErrorDetails) {
    super(message)
    this.code = details.code
    this.reason = details.reason
    this.param = details.param
    this.retryAfter = details.retryAfter
    this.requestId = details.requestId
    this.provider = details.provider
  }
}

/** Converts a domain error to a {@link WacError}. */
export const ofDomain = (error: Errors.DomainError, requestId?: string): WacError => {
  const retryAfter = Errors.retryAfterOf(error)
  return new WacError(error.message, {
    code: error.code,
    reason: Errors.reasonOf(error) as ErrorReason | undefined,
    param: error.param,
    retryAfter: retryAfter === undefined ? undefined : Duration.toMillis(retryAfter),
    requestId,
    provider: error.provider
  })
}

/** The error for an option that is missing or invalid. */
export const badOption = (param: string, message: string): WacError =>
  new WacError(message, { code: "invalid_body", reason: "invalid_field", param })
