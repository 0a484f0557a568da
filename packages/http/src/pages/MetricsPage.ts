/**
 * `GET /metrics` for Prometheus (contract §1, §8 `METRICS_TOKEN`).
 */
import { Errors, Gauges, LatencyHistogram } from "@wac/core"
import { Context, Effect, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { createHash, timingSafeEqual } from "node:crypto"
import * as HostName from "../connections/HostName.ts"
import * as ErrorResponse from "../ErrorResponse.ts"
import { IsGiven, PublicUrl } from "../PublicUrl.ts"
import * as OpenMetrics from "./OpenMetrics.ts"

/** The path of the metrics. */
export const path = "/metrics"

/**
 * The Bearer token that opens the metrics. Without one, only programs on the same machine can read them, and nobody if
 * the configured public address is another host's.
 */
export const MetricsToken = Context.Reference<Redacted.Redacted | undefined>("@wac/http/MetricsPage/MetricsToken", {
  defaultValue: () => undefined
})

const digest = (text: string) => createHash("sha256").update(text).digest()

/** Headers that a proxy adds. Trusted or not, a proxy on this machine acts for a remote client. */
const forwarding = ["forwarded", "x-forwarded-for", "x-real-ip", "via"]

/** Whether `Host` is this machine. Requests of a stranger's page, even one in a browser here, have that page's host. */
const isToLoopback = (host: string | undefined): boolean => {
  const name = HostName.of(host)
  return name !== undefined && HostName.isLoopback(name)
}

/**
 * Whether the configured address is another host's than this machine. Its clients come through a proxy, and a proxy with
 * its defaults names none of them: all of them look like programs on this machine.
 */
const isElsewhere = Effect.gen(function*() {
  return (yield* IsGiven) && !isToLoopback((yield* PublicUrl).host)
})

/** How metrics are opened: with a token, or without one to programs on this machine, or to nobody. */
interface Access {
  readonly token: Redacted.Redacted | undefined
  readonly isElsewhere: boolean
}

const refusal = (
  { headers, remoteAddress }: HttpServerRequest.HttpServerRequest,
  { isElsewhere, token }: Access
): Errors.DomainError | undefined => {
  if (token === undefined) {
    if (isElsewhere) {
      return new Errors.NotFound({
        message: "metrics need METRICS_TOKEN if PUBLIC_URL names another host than localhost or 127.0.0.1"
      })
    }
    const isNear = Option.exists(remoteAddress, HostName.isLoopback) && isToLoopback(headers["host"]) &&
      forwarding.every((name) => headers[name] === undefined)
    return isNear ? undefined : new Errors.NotFound({
      message:
        "without METRICS_TOKEN, only programs on the server's machine can read metrics, at localhost or 127.0.0.1"
    })
  }
  const shown = /^Bearer +(\S+)$/i.exec(headers["authorization"] ?? "")?.[1]
  if (shown === undefined) {
    return new Errors.Unauthorized({ reason: "missing_key", message: "METRICS_TOKEN is required as a Bearer token" })
  }
  return timingSafeEqual(digest(shown), digest(Redacted.value(token)))
    ? undefined
    : new Errors.Unauthorized({ reason: "invalid_key", message: "the Bearer token is not METRICS_TOKEN" })
}

/** Returns the function that reads the metrics of the running instance, in Prometheus' text format. */
export const reader = Effect.map(Gauges.observer, (observe) => Effect.andThen(observe, PrometheusMetrics.format()))

/** The media type of the result of {@link reader}. */
const contentType = "text/plain; version=0.0.4; charset=utf-8"

/** Whether the scraper accepts OpenMetrics, which alone has exemplars. Prometheus prefers it. */
const acceptsOpenMetrics = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  (headers["accept"] ?? "").toLowerCase().includes(OpenMetrics.mediaType)

export const layer = HttpRouter.use((router) =>
  Effect.gen(function*() {
    const access = { token: yield* MetricsToken, isElsewhere: yield* isElsewhere }
    const read = yield* reader
    yield* router.add(
      "GET",
      path,
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const refused = refusal(request, access)
        if (refused !== undefined) return yield* ErrorResponse.of(refused)
        const text = yield* read
        if (!acceptsOpenMetrics(request)) return HttpServerResponse.text(text, { contentType })
        const exemplars = LatencyHistogram.exemplars(yield* Effect.context<never>())
        return HttpServerResponse.text(OpenMetrics.of(text, exemplars), { contentType: OpenMetrics.contentType })
      })
    )
  })
)
