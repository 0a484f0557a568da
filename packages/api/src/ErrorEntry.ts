/**
 * How one error is described in {@link file://./ErrorReference.ts}.
 */
import type { Errors } from "@wac/core"

/** The sentences on whether the same request can succeed later. */
export const retries = {
  no: "No: the same request is refused again.",
  waiting: "Yes, after the time in `Retry-After`; keep the Idempotency-Key.",
  backoff: "Yes, with exponential backoff; keep the Idempotency-Key.",
  changed: "Only once the cause is gone; if the error has `provider`, use a new Idempotency-Key."
} as const

/** The description of one reason. */
export interface Entry {
  readonly when: string
  readonly remedy: string
  readonly retry: string
  /** A response's `message`, and its `param` if it has one. */
  readonly example: {
    readonly message: string
    readonly param?: string
    readonly challenge?: string
    readonly provider?: Errors.ProviderDetail
  }
}

/** The reasons of each code that has reasons. */
export interface Reasons {
  readonly invalid_body: Errors.InvalidBody["reason"]
  readonly unauthorized: Errors.Unauthorized["reason"]
  readonly forbidden: Errors.Forbidden["reason"]
  readonly idempotency_conflict: Errors.IdempotencyConflict["reason"]
  readonly rate_limited: Errors.RateLimited["reason"]
  readonly server_error: Errors.ServerError["reason"]
}

/** A code that has reasons. */
export type Code = keyof Reasons
