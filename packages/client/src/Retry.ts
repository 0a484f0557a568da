/**
 * When to retry a request, and how long to wait before (specification §7). Pure.
 */
import { WacError } from "./ClientError.ts"

/** The first wait: long enough for a broken connection to recover. */
const firstWait = 500
/** The longest wait unless the service asks for more. */
const longestWait = 8000

/**
 * Statuses after which the same request can succeed later: too early, too fast, or a failure of the service or a proxy.
 */
const retryable = new Set([408, 425, 429, 500, 502, 503, 504])

/** Reasons whose outcome can never change, whatever the status. */
const isFinal = (error: WacError): boolean =>
  error.reason === "delivery_unknown" || error.reason === "body_already_parsed"

/**
 * Whether the same request, under the same Idempotency-Key, may succeed later. The client has already repeated it as
 * often as its options allow; this is for a job that tries again later.
 */
export const isRetryable = (error: unknown): error is WacError => {
  if (!(error instanceof WacError)) return false
  const { code, status } = error
  // without a valid response, a truncated success is worth another try, but a redirect means a wrong address
  return code === "no_response" && (status === undefined || status >= 200 && status < 300) ||
    retryable.has(status!) && !isFinal(error)
}

/** Whether the attempt, or another request under its key, may have had an effect of which the error does not tell. */
export const isOpen = (error: unknown): error is WacError =>
  error instanceof WacError && (error.code === "no_response" || /_unknown$|^in_progress$/.test(`${error.reason}`))

/** Reasons of a 403 by which the service refuses a request before it looks at the key. */
const beforeKey = new Set<string | undefined>(["missing_scope", "workspace_suspended"])

/**
 * Whether an error tells nothing of earlier attempts under the key: the service failed, or refused the request before it
 * looked at the key.
 */
export const isSilent = (error: unknown): error is WacError =>
  error instanceof WacError &&
  (error.status === 401 || error.status! >= 500 || retryable.has(error.status!) || beforeKey.has(error.reason))

/** Whether the service refused the request before it did anything, so that even a one-time request can be repeated. */
export const isUndone = (error: unknown): error is WacError => error instanceof WacError && error.status === 429

/**
 * How long to wait before the next attempt, in milliseconds: twice as long each time, shortened at random by up to a
 * half so that callers that failed together do not return together, and never less than the service asked for.
 * `attempt` counts from 1; `random` is from 0 to below 1.
 */
export const waitAfter = (
  attempt: number,
  error: WacError,
  random: number
): number => {
  const longest = Math.min(longestWait, firstWait * 2 ** (attempt - 1))
  const own = longest * (1 - random / 2)
  return Math.max(own, error.retryAfter ?? 0)
}

/** Reads `Retry-After`: seconds, or a date, as milliseconds from `now`. */
export const retryAfterOf = (value: string | null, now: number): number | undefined => {
  if (value === null) return undefined
  if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
