/** The codes of errors, and their reasons. Written from the API definition; do not edit. */

/**
 * The reasons of each code: the condition under the code that applied (contract §2). A service newer than this package
 * can return newer reasons: give a `switch` a `default`.
 */
export interface ErrorReasons {
  /** The request itself is invalid. */
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
  /** The caller could not be authenticated. */
  readonly unauthorized:
    | "missing_key"
    | "invalid_key"
    | "expired_key"
    | "revoked_key"
    | "missing_session"
    | "invalid_credentials"
    | "second_factor_required"
    | "invalid_code"
    | "invalid_passkey"
    | "challenge_ended"
    | "invalid_signature"
    | "stale_signature"
    | "missing_signature"
  /** The caller is authenticated but may not do this, or the message may not be sent at present. */
  readonly forbidden:
    | "missing_scope"
    | "role_not_allowed"
    | "fresh_session_required"
    | "cross_site"
    | "failed_handshake"
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
    | "campaign_state"
    | "already_sent"
    | "not_queued"
  /** An Idempotency-Key was reused with a different body. */
  readonly idempotency_conflict: "payload_mismatch"
  /** Requests or messages come too fast. */
  readonly rate_limited: "workspace" | "phone_number" | "pair" | "provider" | "login"
  /**
   * The service or the provider failed. Only `outcome_unknown`, `delivery_unknown` and `in_progress` leave open whether
   * a message was sent or queued; every other reason means that this request sent and queued nothing.
   */
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
  /** The requested resource does not exist. */
  readonly not_found: undefined | "media_expired"
}
