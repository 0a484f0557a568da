/**
 * The one error class, with the specification's codes (specification §7, contract §2).
 */
import { ErrorBody } from "@wac/api"
import { Errors } from "@wac/core"
import { Duration } from "effect"
import type { ProviderDetail } from "./generated/Event.ts"
import type { ErrorCode, ErrorReason, MessagingError } from "./generated/Messaging.ts"

export type { ProviderDetail }

/** The properties of an error, besides its message. */
export interface ErrorDetails {
  readonly code: ErrorCode
  readonly reason?: ErrorReason | undefined
  readonly status?: number | undefined
  readonly param?: string | undefined
  readonly retryAfter?: number | undefined
  readonly requestId?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly provider?: ProviderDetail | undefined
}

/** Every operation rejects with this error, or with the reason of its signal. */
export type WacError = MessagingError

interface WacErrorConstructor {
  new(message: string, details: ErrorDetails): WacError
  readonly prototype: WacError
}

// the class has no name of its own, because bundlers would change it where it meets the name of the type
/** The class of {@link WacError}, for `instanceof`. */
export const WacError = class extends Error {
  override readonly name = "WacError"
  readonly code
  readonly reason
  readonly status
  readonly param
  readonly retryAfter
  readonly requestId
  readonly idempotencyKey
  readonly provider

  constructor(...[message, details]: ConstructorParameters<WacErrorConstructor>) {
    super(details.requestId === undefined ? message : `${message} (${details.requestId})`)
    this.code = details.code
    this.reason = details.reason
    this.status = details.status
    this.param = details.param
    this.retryAfter = details.retryAfter
    this.requestId = details.requestId
    this.idempotencyKey = details.idempotencyKey
    this.provider = details.provider
  }
} as unknown as WacErrorConstructor

/** What an error says about the call that failed. */
export type Called = Pick<ErrorDetails, "requestId" | "idempotencyKey">

/** Converts a domain error to a {@link WacError}. */
export const ofDomain = (error: Errors.DomainError, called: Called = {}): WacError => {
  const retryAfter = Errors.retryAfterOf(error)
  return new WacError(error.message, {
    code: error.code,
    reason: Errors.reasonOf(error) as ErrorReason | undefined,
    status: ErrorBody.statusOf(error),
    param: error.param,
    retryAfter: retryAfter === undefined ? undefined : Duration.toMillis(retryAfter),
    provider: error.provider,
    ...called
  })
}

/** The error for an option that is missing, invalid or unknown. */
export const badOption = (
  param: string,
  message: string,
  reason: "invalid_field" | "unknown_field" = "invalid_field"
): WacError => new WacError(message, { code: "invalid_body", reason, status: 400, param })
