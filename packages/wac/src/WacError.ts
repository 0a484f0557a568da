/**
 * The one error class, with the specification's codes (specification §7, contract §2).
 */
import { Errors } from "@wac/core"
import { Duration } from "effect"
import type { ErrorReasons } from "./generated/ErrorReasons.ts"

/** The kind of error: one of the specification's six codes, or `not_found`. */
export type ErrorCode = keyof ErrorReasons

/** The reason of any code. */
export type ErrorReason = NonNullable<ErrorReasons[ErrorCode]>

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
