/**
 * The errors of calls of the {@link file://./Client.ts client}.
 */
import type { ErrorReasons } from "./generated/ErrorReasons.ts"
import type { ProviderDetail } from "./generated/Event.ts"
import type { ErrorCode, ErrorReason, MessagingError } from "./generated/Messaging.ts"
import type { LastResponse } from "./LastResponse.ts"

/** The body of every error response (contract §2). */
export interface ErrorBody {
  readonly error: {
    readonly code: keyof ErrorReasons
    readonly message: string
    readonly reason?: ErrorReason<keyof ErrorReasons>
    readonly param?: string
    readonly request_id: string
    readonly doc_url?: string
    readonly challenge?: string
    readonly provider?: ProviderDetail
  }
}

/** What this client's errors have in addition to an embedded service's. */
interface Response {
  /** The page that explains the error. */
  readonly docUrl: string | undefined
  /** The response; `undefined` if the service did not respond. */
  readonly lastResponse: LastResponse | undefined
  /** With the reason `second_factor_required`: the token with which a code ends the sign-in. */
  readonly challenge?: string | undefined
}

/** The properties of an error, besides its message. */
export interface ErrorDetails extends Partial<Response> {
  readonly code: ErrorCode
  readonly reason?: ErrorReason | undefined
  readonly status?: number | undefined
  readonly param?: string | undefined
  readonly retryAfter?: number | undefined
  readonly requestId?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly provider?: ProviderDetail | undefined
}

/** Every call rejects with this error, or with the reason of its signal. */
export type WacError = MessagingError & Response

interface WacErrorConstructor {
  new(message: string, details: ErrorDetails, cause?: unknown): WacError
  readonly prototype: WacError
}

/** The class of {@link WacError}, for `instanceof`. */
export const WacError = class WacError extends Error {
  override readonly name = "WacError"

  constructor(...[message, details, cause]: ConstructorParameters<WacErrorConstructor>) {
    super(details.requestId === undefined ? message : `${message} (${details.requestId})`, { cause })
    Object.assign(this, details)
  }
} as unknown as WacErrorConstructor

/** Makes the error from a response's body. `nameOf` gives the caller's name of a parameter. */
export const errorOf = (
  { error }: ErrorBody,
  details: Pick<ErrorDetails, "status" | "retryAfter" | "idempotencyKey" | "lastResponse">,
  nameOf: (param: string) => string = String
): WacError => {
  const param = error.param && nameOf(error.param)
  return new WacError(param ? error.message.replaceAll(error.param, param) : error.message, {
    code: error.code,
    reason: error.reason,
    param,
    requestId: error.request_id,
    docUrl: error.doc_url,
    provider: error.provider,
    ...(error.challenge === undefined ? {} : { challenge: error.challenge }),
    ...details
  })
}

/** The error for an invalid option or field; `param` is undefined if the invalid value has no name. */
export const badOption = (
  param: string | undefined,
  message: string,
  reason: "invalid_field" | "unknown_field" | "invalid_idempotency_key" = "invalid_field"
): WacError => new WacError(message, { code: "invalid_body", reason, status: 400, param })
