/**
 * The reports of a client about each request: for logs, metrics and traces. Nothing here contains a secret.
 */
import type { WacError } from "./ClientError.ts"
import type { LastResponse } from "./LastResponse.ts"

/** A request of a call. */
export interface RequestSummary {
  readonly method: string
  readonly url: string
  /** 1 for the first request of a call, then 2, … */
  readonly attempt: number
  readonly idempotencyKey: string | undefined
}

/**
 * Functions that a client calls immediately, without waiting for them. If one throws or rejects, the error is
 * printed by `console.error` and has no effect on the call.
 */
export interface Hooks {
  /** Before each request. `headers` are sent: add your own `traceparent` here. They never contain the credentials. */
  readonly onRequest?: (request: RequestSummary & { readonly headers: Headers }) => void
  /**
   * After each response of the service, errors included; `durationMs` lasts from the request to the end of the body, or
   * of the headers if it is a file.
   */
  readonly onResponse?: (response: RequestSummary & LastResponse & { readonly durationMs: number }) => void
  /** Before each wait for another attempt, which starts after `waitMs`. */
  readonly onRetry?: (
    retry: RequestSummary & { readonly error: WacError; readonly waitMs: number }
  ) => void
  /** When a call fails for good, before it rejects. */
  readonly onError?: (failure: RequestSummary & { readonly error: unknown }) => void
}

/**
 * Calls a hook, immediately; it may be an async function. Never rejects: an error of the hook must neither fail a send
 * that went out nor end the process.
 */
export const tell = async <Report>(
  hook: ((report: Report) => void) | undefined,
  report: Report
): Promise<void> => {
  try {
    await hook?.(report)
  } catch (error) {
    // oxlint-disable-next-line no-console -- no other code handles this error
    console.error(error)
  }
}
