/**
 * Metrics of requests for operators: their number by route and status, and their duration. Labels are templates of
 * routes, never requested paths or workspaces.
 */
import { Api, OpenApiErrors } from "@wac/api"
import { LatencyHistogram } from "@wac/core"
import { type Context, Metric, type Tracer } from "effect"
import { HttpApi } from "effect/http-api"

const requests = Metric.counter("wac_http_requests_total", {
  description: "HTTP requests that ended, by method, template of the route and status (499 if the caller left before " +
    "the response), and by reason if it is 5xx",
  incremental: true
})

/** The bounds reach from a cached response (below 1 ms) to a send that joins another one (10 s). */
const seconds = LatencyHistogram.make("wac_http_request_duration_seconds", {
  description: "Time from a request's arrival to the start of its response, or until its caller left, by method and " +
    "template of the route",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

/** The methods with their own label; every other method, which no route accepts, is `other`. */
export const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** A request with its response, or whose caller left before it. `route` is `unknown` if no route has its path. */
export interface CompletedRequest {
  readonly method: string
  readonly route: string
  readonly status: number
  /** The machine-readable reason of its error. Counters have it as a label only from status 500 on. */
  readonly reason: string | undefined
  /** When it arrived. */
  readonly at: number
  readonly durationMs: number
  /** The request's span, if a collector gets it. */
  readonly span: Tracer.AnySpan | undefined
}

/** The labels under which failed requests are counted. */
interface Failure {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly reason: string
}

/** Every failure (from status 500 on) that a request to `/v1` can get. Alerts watch these. */
const watched = (): ReadonlyArray<Failure> => {
  const failures: Array<Failure> = []
  HttpApi.reflect(Api, {
    predicate: ({ endpoint: { path } }) => path.startsWith("/v1/"),
    onGroup: () => {},
    onEndpoint: ({ endpoint, errors }) => {
      for (const status of errors.keys()) {
        if (status < 500) continue
        for (const reason of OpenApiErrors.reasonsOf(endpoint, status)) {
          failures.push({ method: endpoint.method, route: endpoint.path, status, reason })
        }
      }
    }
  })
  return failures
}

/**
 * Returns the function that counts requests in the registry of `context`. The counters of the public API's failures
 * exist at 0 from the start: a counter that begins with its first burst would show no increase.
 */
export const make = (context: Context.Context<never>): (request: CompletedRequest) => void => {
  // each is made at its first use; there are no more than methods and routes, times statuses and reasons
  const counters = new Map<string, ReturnType<typeof counterOf>>()
  const timers = new Map<string, ReturnType<typeof timerOf>>()
  const counterOf = (method: string, route: string, status: number, reason: string | undefined) =>
    Metric.withAttributes(requests, {
      method,
      route,
      status: `${status}`,
      ...(reason === undefined ? {} : { reason })
    })
  const timerOf = (method: string, route: string) => seconds.withLabels({ method, route })
  for (const { method, reason, route, status } of watched()) {
    const counter = counterOf(method, route, status, reason)
    counters.set(`${method} ${route} ${status} ${reason}`, counter)
    counter.updateUnsafe(0, context)
  }
  return ({ at, durationMs, route, span, status, ...given }) => {
    const reason = status < 500 ? undefined : given.reason
    const method = methods.has(given.method) ? given.method : "other"
    const name = `${method} ${route}`
    let timer = timers.get(name)
    if (timer === undefined) timers.set(name, timer = timerOf(method, route))
    const end = `${name} ${status} ${reason}`
    let counter = counters.get(end)
    if (counter === undefined) counters.set(end, counter = counterOf(method, route, status, reason))
    counter.updateUnsafe(1, context)
    timer.record({ seconds: durationMs / 1000, at, span }, context)
  }
}
