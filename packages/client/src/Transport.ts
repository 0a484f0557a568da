/**
 * Makes the requests of a call: attempts, retries, deadlines, hooks. Both clients use it.
 */
import {
  type CallOptions,
  type Clock,
  given,
  limitsOf,
  onlyKnown,
  standard,
  type TransportOptions
} from "./CallOptions.ts"
import { type ErrorBody, errorOf, WacError } from "./ClientError.ts"
import type { ErrorReason } from "./generated/Messaging.ts"
import { type RequestSummary, tell } from "./Hooks.ts"
import { jsonOf } from "./JsonBody.ts"
import { type Answered, answered, type LastResponse, lastResponseOf } from "./LastResponse.ts"
import * as Retry from "./Retry.ts"

/**
 * The timeout of one request. A send waits up to 10 s for a send that it joins, and the provider has 8 s, so a response
 * that takes longer is lost. It is half of the default timeout, so that a lost request is repeated once.
 */
const attemptTimeout = 15_000

/** The request and response of an endpoint: an entry of a table of routes. */
interface Route {
  readonly query?: object
  readonly body?: object
  readonly response: object | undefined
}

/** One call of a route, whose key is method and path: `GET /v1/messages/:id`. */
type Call<R extends Route> =
  & {
    /** Replaces `:id`, or another parameter in the path. */
    readonly id?: string
    readonly idempotencyKey?: string
    /** A body that is not JSON. Its request may take as long as the whole call. */
    readonly content?: { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> | Blob }
    /** Headers of the request. */
    readonly headers?: Readonly<Record<string, string>>
    /** Called with a successful response instead of reading it as JSON. The call's signal also ends its body. */
    readonly opened?: (response: Response) => void
    /** Whether a second request could do harm if the outcome of the first is unknown. */
    readonly once?: boolean
  }
  & (R extends { readonly query: infer Query } ? { readonly query: Query | undefined } : { readonly query?: never })
  & (R extends { readonly body: infer Body } ? { readonly body: Body } : { readonly body?: never })

/** The result of a call. */
export type Result<R extends Route> = R["response"] extends object ? Answered<R["response"]> : void

/** The credentials that a client adds to every request. */
export interface Credentials {
  /** Headers that hold secrets; no hook sees them. `target` is path and query as sent. */
  readonly headersOf: (
    request: {
      readonly method: string
      readonly target: string
      readonly idempotencyKey: string | undefined
      readonly body: string | Uint8Array | undefined
    },
    now: number
  ) => Promise<Readonly<Record<string, string>>>
  /** Called with the headers of every response, which may set a new session cookie. */
  readonly onHeaders?: (headers: Headers) => void
}

/** Makes calls, typed by a table of routes. */
export type Transport<Routes extends { readonly [Key in keyof Routes]: Route }> = <Key extends keyof Routes & string>(
  route: Key,
  call: Call<Routes[Key]>,
  options?: CallOptions
) => Promise<Result<Routes[Key]>>

const wallClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (millis, signal) =>
    new Promise((resolve, reject) => {
      const abort = () => {
        clearTimeout(timer)
        reject(signal.reason)
      }
      const timer = setTimeout(() => {
        signal.removeEventListener("abort", abort)
        resolve()
      }, millis)
      signal.addEventListener("abort", abort, { once: true })
      if (signal.aborted) abort()
    })
}

const isErrorBody = (body: unknown): body is ErrorBody => {
  const error: Partial<ErrorBody["error"]> | null | undefined = (body as Partial<ErrorBody> | null | undefined)?.error
  return error?.code !== undefined && error.request_id !== undefined
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * An id as a segment of a path. Invalid Unicode is replaced, and `.` and `..`, which would lead to a different path,
 * get a `-`, so that such an id matches nothing.
 */
const segmentOf = (id: string): string => encodeURIComponent(`${id}`.toWellFormed()).replace(/^\.\.?$/, "$&-")

const queryOf = (query: object = {}): string => {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) params.set(name, value instanceof Date ? value.toISOString() : `${value}`)
  }
  return params.size === 0 ? "" : `?${params}`
}

/** Aborts with the caller's signal, and after a time. `AbortSignal.any` is younger than Node 20. */
const within = (millis: number, signal: AbortSignal | undefined) => {
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  const end = {
    signal: controller.signal,
    isTimeout: false,
    /** Ends the time; the signal keeps its effect if `isOpen`. */
    clear: (isOpen = false) => {
      clearTimeout(timer)
      if (!isOpen) signal?.removeEventListener("abort", abort)
    }
  }
  const timer = setTimeout(() => {
    end.isTimeout = true
    controller.abort()
  }, Math.max(0, Math.ceil(millis)))
  signal?.addEventListener("abort", abort, { once: true })
  if (signal?.aborted === true) abort()
  return end
}

/**
 * Makes a transport to the service whose paths begin at `base`. `nameOf` gives the caller's name of a parameter, which
 * defaults to its name on the wire. Throws a {@link WacError} for invalid options.
 */
export const transportOf = <Routes extends { readonly [Key in keyof Routes]: Route }>(
  base: URL,
  credentials: Credentials,
  options: TransportOptions,
  nameOf?: (param: string) => string
): Transport<Routes> => {
  const defaults = limitsOf(standard, options)
  const { clock = wallClock, hooks = {} } = options
  const root = base.pathname.replace(/\/$/, "")

  return async (route, call, asked) => {
    const callSite = new Error()
    const callOptions: CallOptions = given(asked)
    onlyKnown(callOptions, ["signal", "timeout", "retries"])
    const { body, content: form, id = "", idempotencyKey, once = false, opened, query } = call
    const { retries, timeout } = limitsOf(defaults, callOptions)
    const { signal } = callOptions
    const deadline = clock.now() + timeout
    const [method, path] = route.split(" ") as [string, string]
    const url = new URL(`${root}${path.replace(/:[a-z]+/, () => segmentOf(id))}${queryOf(query)}`, base)
    const content = form?.bytes ?? jsonOf(body)
    // only the dashboard sends a `Blob`, and requests of a session are not signed
    const signed = content instanceof Blob ? undefined : content
    const longest = form === undefined ? attemptTimeout : timeout
    const mayRepeat = once ? Retry.isUndone : Retry.isRetryable
    let summary: RequestSummary = { method, url: url.href, attempt: 1, idempotencyKey }

    const noResponse = (
      message: string,
      details: { readonly reason: ErrorReason<"no_response">; readonly status?: number },
      cause?: unknown
    ) => new WacError(message, { code: "no_response", idempotencyKey, ...details }, cause)

    /** Makes one request: returns the service's response, or the error. */
    const attempt = async (): Promise<unknown> => {
      const headers = new Headers({ accept: "application/json" })
      if (content !== undefined) headers.set("content-type", form?.type ?? "application/json")
      for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value)
      if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey)
      void tell(hooks.onRequest, { ...summary, headers })
      const begun = clock.now()
      const target = `${url.pathname}${url.search}`
      const secrets = await credentials.headersOf({ method, target, idempotencyKey, body: signed }, begun)
      // a copy, because a hook may have kept its headers
      const complete = new Headers(headers)
      for (const [name, value] of Object.entries(secrets)) complete.set(name, value)
      let lastResponse: LastResponse
      // stays undefined if the caller reads the body itself (`opened`)
      let text: string | undefined
      let isOpened = false
      const end = within(Math.min(longest, deadline - begun), signal)
      try {
        const response = await (options.fetch ?? fetch)(url, {
          method,
          headers: complete,
          ...(content === undefined ? {} : { body: content }),
          // following a redirect would send the key to its target; workers do not support "error"
          redirect: "manual",
          signal: end.signal
        })
        lastResponse = lastResponseOf(response, summary.attempt)
        isOpened = opened !== undefined && (response.ok || response.status === 416)
        if (isOpened) opened!(response)
        else text = await response.text()
      } catch (cause) {
        if (signal?.aborted === true) throw signal.reason
        throw end.isTimeout
          ? noResponse("the service did not respond in time", { reason: "timeout" }, cause)
          : noResponse("the service could not be reached", { reason: "unreachable" }, cause)
      } finally {
        end.clear(isOpened)
      }
      const { status } = lastResponse
      credentials.onHeaders?.(lastResponse.headers)
      void tell(hooks.onResponse, { ...summary, ...lastResponse, durationMs: clock.now() - begun })
      if (status === 204 || text === undefined) return undefined
      const body = parse(text)
      if (isErrorBody(body)) {
        const retryAfter = Retry.retryAfterOf(lastResponse.headers.get("retry-after"), clock.now())
        throw errorOf(body, { status, lastResponse, retryAfter, idempotencyKey }, nameOf)
      }
      if (status >= 200 && status < 300 && typeof body === "object" && body !== null) {
        return answered(body, lastResponse)
      }
      throw noResponse(`a response with status ${status} did not come from the service`, {
        reason: "unexpected_response",
        status
      })
    }

    // the last attempt of which the caller must know that it may have had an effect, whatever the later ones tell
    let open: WacError | undefined
    try {
      for (;;) {
        signal?.throwIfAborted()
        try {
          return await attempt() as Result<Routes[typeof route]>
        } catch (error) {
          if (idempotencyKey !== undefined && Retry.isOpen(error)) open = error
          if (!mayRepeat(error) || summary.attempt > retries) throw error
          const waitMs = Retry.waitAfter(summary.attempt, error, clock.random())
          if (clock.now() + waitMs >= deadline) throw error
          void tell(hooks.onRetry, { ...summary, error, waitMs })
          await clock.sleep(waitMs, signal ?? new AbortController().signal)
          summary = { ...summary, attempt: summary.attempt + 1 }
        }
      }
    } catch (cause) {
      const error = open !== undefined && open !== cause && Retry.isSilent(cause)
        ? Object.assign(open, { cause, retryAfter: cause.retryAfter })
        : cause
      // the error was thrown after a network event, where not every engine's stack reaches the caller, so the stack of
      // the call replaces it
      if (error instanceof WacError) {
        error.stack = `${error.name}: ${error.message}${callSite.stack?.replace(/^.*/, "") ?? ""}`
      }
      void tell(hooks.onError, { ...summary, error })
      throw error
    }
  }
}
