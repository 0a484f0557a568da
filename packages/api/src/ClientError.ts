/**
 * What a call of the {@link file://./Client.ts client} fails with.
 */
import type { ErrorBody, ErrorCode, ProviderDetail } from "./Wire.ts"

/** The service answered with an error (contract §2). `code` and `reason` are for programs, `message` is for people. */
export class WacApiError extends Error {
  override readonly name = "WacApiError"
  readonly status: number
  readonly code: ErrorCode
  /** Which condition of the code applied: `outside_service_window`, `pair`, `outcome_unknown`, … */
  readonly reason: string | undefined
  /** JSON path of the first offending field (`template.bodyParams[1]`) or the header's name. */
  readonly param: string | undefined
  readonly requestId: string
  readonly provider: ProviderDetail | undefined
  /** How long to wait before the same request can succeed, in milliseconds, where the service said so. */
  readonly retryAfter: number | undefined
  /** The key that a send was made under: repeat it with this one, and it goes out once. */
  readonly idempotencyKey: string | undefined

  constructor(
    { error }: ErrorBody,
    answer: {
      readonly status: number
      readonly retryAfter: number | undefined
      readonly idempotencyKey: string | undefined
    }
  ) {
    super(error.message)
    this.code = error.code
    this.reason = error.reason
    this.param = error.param
    this.requestId = error.request_id
    this.provider = error.provider
    this.status = answer.status
    this.retryAfter = answer.retryAfter
    this.idempotencyKey = answer.idempotencyKey
  }
}

/**
 * No answer of the service's came: it cannot be reached, the connection broke, time ran out, or something between
 * answered in its place. A send may have gone out; repeated with {@link idempotencyKey}, it does so once.
 */
export class WacConnectionError extends Error {
  override readonly name = "WacConnectionError"
  readonly idempotencyKey: string | undefined
  /** The status of an answer that is not the service's; nothing when none came. */
  readonly status: number | undefined

  constructor(
    message: string,
    details: {
      readonly idempotencyKey: string | undefined
      readonly status?: number | undefined
      readonly cause?: unknown
    }
  ) {
    super(message, { cause: details.cause })
    this.idempotencyKey = details.idempotencyKey
    this.status = details.status
  }
}
