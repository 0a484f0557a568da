/**
 * Traces, metrics and logs for an OpenTelemetry collector (contract §8 `OTEL_…`), in the semantic conventions' names.
 *
 * Exported spans name operations and ids. Paths and queries may hold a customer's number or a
 * token, and error messages may quote them, so spans have none of these; the log has the messages.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Span } from "@wac/core"
import { HttpApp, Version } from "@wac/http"
import { Cause, Duration, Effect, Exit, Formatter, Layer, Logger, Option, Redacted, Struct, Tracer } from "effect"
import { HttpClient } from "effect/http"
import { OtlpExporter, OtlpLogger, OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"

/** Decides which traces are collected. */
interface Sampler {
  /** Whether a trace that began in another process is collected if that process collects it. */
  readonly isParentBased: boolean
  /** The share of the other traces, from 0 to 1. */
  readonly ratio: number
}

/** The collector, and what it gets. */
export interface Config {
  readonly endpoint: string
  /** Headers of each request to the collector. */
  readonly headers: Redacted.Redacted<{ readonly [name: string]: string }>
  readonly serviceName: string
  /** Attributes of the resource besides its name. */
  readonly attributes: { readonly [name: string]: string }
  readonly sampler: Sampler
  /** The signals to export. */
  readonly signals: { readonly traces: boolean; readonly metrics: boolean; readonly logs: boolean }
}

/** How often metrics are sent to a collector. */
export const metricsEvery = Duration.seconds(10)

const ofTraceId = (traceId: string): number => Number.parseInt(traceId.slice(-12), 16) / 2 ** 48

/**
 * Whether a span is collected. Within the process, a trace is collected as a whole. A new trace that links to a
 * collected one is collected too, so that a send can be followed to its deliveries.
 */
export const isSampled = (
  { isParentBased, ratio }: Sampler,
  { links, parent }: Pick<Parameters<Tracer.Tracer["span"]>[0], "links" | "parent">
): boolean => {
  if (Option.isSome(parent)) {
    const { _tag, sampled, traceId } = parent.value
    return _tag === "Span" || isParentBased ? sampled : ofTraceId(traceId) < ratio
  }
  return (isParentBased && links.some(({ span }) => span.sampled)) || Math.random() < ratio
}

/** Attributes that may hold a customer's number or a token. */
const hidden: ReadonlySet<string> = new Set(["url.full", "url.path", "url.query"])

/** The kind of an error in one word, for the attribute `error.type`. */
const typeOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return typeof error
  if ("reason" in error && typeof error.reason === "string") return error.reason
  if ("_tag" in error && typeof error._tag === "string") return error._tag
  return error instanceof Error ? error.name : "object"
}

/** The failure of a span without the error's message, which only the log has. Of a defect, the stack remains. */
const withoutMessage = (cause: Cause.Cause<unknown>, type: string): Exit.Exit<never, Error> => {
  const error = Cause.squash(cause)
  const shown = Object.assign(new Error(), { name: type, message: type })
  shown.stack = Cause.hasDies(cause) && error instanceof Error
    ? [type, ...(error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line))].join("\n")
    : type
  return Exit.fail(shown)
}

/** A tracer with our sampler, whose spans have no attributes or messages that operators must not see. */
export const guarded = (sampler: Sampler, tracer: Tracer.Tracer): Tracer.Tracer => ({
  ...tracer,
  span: (options) => {
    const span = tracer.span({ ...options, sampled: isSampled(sampler, options) })
    const attribute = span.attribute.bind(span)
    const end = span.end.bind(span)
    return Object.assign(span, {
      attribute: (key: string, value: unknown) => {
        if (!hidden.has(key)) attribute(key, value)
      },
      end: (at: bigint, exit: Exit.Exit<unknown, unknown>) => {
        if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return end(at, exit)
        const known = span.attributes.get("error.type") ?? span.attributes.get("http.response.status_code")
        const type = String(known ?? typeOf(Cause.squash(exit.cause)))
        attribute("error.type", type)
        end(at, withoutMessage(exit.cause, type))
      }
    })
  }
})

/** Exports the configured signals to the collector; without a collector, exports nothing. */
export const layer = (config: Config | undefined): Layer.Layer<never> => {
  if (config === undefined) return Layer.empty
  const { attributes, endpoint, headers, sampler, serviceName, signals } = config
  const options = (path: string) => ({
    url: `${endpoint.replace(/\/$/, "")}/v1/${path}`,
    headers: Redacted.value(headers),
    resource: {
      serviceName,
      serviceVersion: attributes["service.version"] ?? Version.version,
      attributes: Struct.omit(attributes, ["service.name", "service.version"])
    }
  })
  const tracing = Layer.mergeAll(
    Layer.effect(
      Tracer.Tracer,
      Effect.map(OtlpTracer.make(options("traces")), (tracer) => guarded(sampler, tracer))
    ),
    Layer.succeed(HttpClient.SpanNameGenerator, ({ method }) => method),
    // the provider takes no part in a trace
    Layer.succeed(HttpClient.TracerPropagationEnabled, false)
  )
  return Layer.mergeAll(
    signals.traces ? tracing : Layer.empty,
    signals.metrics ? OtlpMetrics.layer({ ...options("metrics"), exportInterval: metricsEvery }) : Layer.empty,
    signals.logs ? OtlpLogger.layer(options("logs")) : Layer.empty
  ).pipe(
    Layer.provide([OtlpExporter.layerFlusher, OtlpSerialization.layerJson, NodeHttpClient.layerUndici])
  )
}

/** Names the spans of requests by their routes, if traces are exported. */
export const spanNames = (config: Config | undefined) =>
  config?.signals.traces === true ? HttpApp.spanNames : Layer.empty

/** The log as JSON, with the ids of the trace that a line belongs to. */
export const consoleJson: Logger.Logger<unknown, void> = Logger.withConsoleLog(
  Logger.make((options) => {
    const span = Span.collected(options.fiber.context)
    return Formatter.formatJson({
      ...Logger.formatStructured.log(options),
      ...(span === undefined ? {} : { trace_id: span.traceId.padStart(32, "0"), span_id: span.spanId })
    })
  })
)
