/**
 * The errors of calls of the {@link file://./Client.ts client}.
 */
import type { ErrorReasons } from "./generated/ErrorReasons.ts"
import type { ProviderDetail } from "./generated/Event.ts"
import type { LastResponse } from "./LastResponse.ts"

/** The codes of specification §7, and `not_found`. */
export type ErrorCode = keyof ErrorReasons

/** The reasons of all codes, or of some. */
export type ErrorReason<Code extends ErrorCode = ErrorCode> = NonNullable<ErrorReasons[Code]>

/** The body of every error response (contract §2). */
export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode
    readonly message: string
    readonly reason?: ErrorReason
    readonly param?: string
    readonly request_id: string
    readonly doc_url?: string
    readonly provider?: ProviderDetail
  }
}

/** The details of an error besides its code and reason. */
interface WacApiErrorFields extends Error {
  readonly name: "WacApiError"
  readonly status: number
  /** JSON path of the first offending field (`template.bodyParams[1]`) or the header's name. */
  readonly param: string | undefined
  readonly requestId: string
  /** The page that explains the error. */
  readonly docUrl: string | undefined
  readonly provider: ProviderDetail | undefined
  /** How long to wait before the same request can succeed, in milliseconds, if the service said so. */
  readonly retryAfter: number | undefined
  /** The key that the request was made under: repeat a send with it, and the message goes out once. */
  readonly idempotencyKey: string | undefined
  readonly lastResponse: LastResponse
}

/**
 * The service responded with an error (contract §2). `code` and `reason` are for programs, `message` is for people. A
 * comparison of `code` narrows `reason`.
 */
export type WacApiError = {
  readonly [Code in ErrorCode]: WacApiErrorFields & {
    readonly code: Code
    /** The condition under the code that applied: `outside_service_window`, `pair`, `outcome_unknown`, … */
    readonly reason: ErrorReasons[Code]
  }
}[ErrorCode]

interface WacApiErrorConstructor {
  new(
    body: ErrorBody,
    response: {
      readonly lastResponse: LastResponse
      readonly retryAfter?: number | undefined
      readonly idempotencyKey?: string | undefined
    }
  ): WacApiError
  readonly prototype: WacApiError
}

/** The class of {@link WacApiError}, for `instanceof`. */
export const WacApiError = class WacApiError extends Error {
  override readonly name = "WacApiError"
  readonly status
  readonly code
  readonly reason
  readonly param
  readonly requestId
  readonly docUrl
  readonly provider
  readonly retryAfter
  readonly idempotencyKey
  readonly lastResponse

  constructor(...[{ error }, response]: ConstructorParameters<WacApiErrorConstructor>) {
    super(error.message)
    this.code = error.code
    this.reason = error.reason
    this.param = error.param
    this.requestId = error.request_id
    this.docUrl = error.doc_url
    this.provider = error.provider
    this.status = response.lastResponse.status
    this.retryAfter = response.retryAfter
    this.idempotencyKey = response.idempotencyKey
    this.lastResponse = response.lastResponse
  }
} as unknown as WacApiErrorConstructor

/**
 * The service did not respond: it could not be reached, the connection broke, the call timed out, or an intermediary
 * responded instead. A send may have gone out; repeated with {@link idempotencyKey}, it goes out once.
 */
export class WacConnectionError extends Error {
  override readonly name = "WacConnectionError"
  /** `unexpected_response`: something other than the service responded, such as a proxy. */
  readonly reason: "unreachable" | "timeout" | "unexpected_response"
  readonly idempotencyKey: string | undefined
  /** The status of an unexpected response. */
  readonly status: number | undefined

  constructor(
    message: string,
    details: {
      readonly reason: WacConnectionError["reason"]
      readonly idempotencyKey: string | undefined
      readonly status?: number | undefined
      readonly cause?: unknown
    }
  ) {
    super(message, { cause: details.cause })
    this.reason = details.reason
    this.idempotencyKey = details.idempotencyKey
    this.status = details.status
  }
}
