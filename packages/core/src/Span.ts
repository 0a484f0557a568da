/**
 * Tracing spans for hot paths, which must cost nothing if no spans are collected, and the trace context that events and
 * receivers get (W3C Trace Context).
 *
 * A span names what was done and to which ids. It never holds a payload, a phone number or a secret.
 */
import { Context, Effect, Tracer } from "effect"

/** Values of a span, by name. `undefined` is left out. */
export interface Attributes {
  readonly [name: string]: string | number | boolean | undefined
}

/** The attributes of a span besides its name. */
export interface Details {
  readonly attributes?: Attributes
  /** The trace context of the cause, as {@link stored} returned it. The span links to it. */
  readonly from?: string | null
}

/** Wraps an effect in a span, whose details are built only if there is a span. */
export type Around = <A, E>(effect: Effect.Effect<A, E>, details?: () => Details) => Effect.Effect<A, E>

const isTraced = (context: Context.Context<never>): boolean =>
  Context.getOrUndefined(context, Tracer.Tracer) !== undefined

const spanOf = (context: Context.Context<never>): Tracer.AnySpan | undefined =>
  isTraced(context) ? Context.getOrUndefined(context, Tracer.ParentSpan) : undefined

/** The context's span if it is sampled, so that a collector gets it; else `undefined`. */
export const collected = (context: Context.Context<never>): Tracer.AnySpan | undefined => {
  const span = spanOf(context)
  return span?.sampled === true ? span : undefined
}

const given = (attributes: Attributes): Record<string, unknown> =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))

const write = ({ sampled, spanId, traceId }: Tracer.AnySpan): string =>
  `00-${traceId.padStart(32, "0")}-${spanId}-${sampled ? "01" : "00"}`

const read = (text: string): Tracer.ExternalSpan => {
  const [, traceId = "", spanId = "", flags] = text.split("-")
  return Tracer.externalSpan({ traceId, spanId, sampled: flags === "01" })
}

/** Wraps effects in a span of this name if a tracer is present. Checks for the tracer now, not at each use. */
export const ifTraced = (name: string, kind: Tracer.SpanKind = "internal"): Effect.Effect<Around> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.succeed<Around>(
      isTraced(context)
        ? (effect, details) =>
          Effect.suspend(() => {
            const { attributes = {}, from = null } = details?.() ?? {}
            const links = from === null ? [] : [{ span: read(from), attributes: {} }]
            return effect.pipe(
              // a stack trace for each call would cost more than it is worth
              Effect.withSpan(name, { kind, attributes: given(attributes), links }, { captureStackTrace: false })
            )
          })
        : (effect) => effect
    )
  )

/** Adds attributes to the current span. They are built only if a collector gets the span. */
export const annotate = (attributes: () => Attributes): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const span = collected(context)
    if (span?._tag === "Span") {
      for (const [name, value] of Object.entries(given(attributes()))) span.attribute(name, value)
    }
    return Effect.void
  })

/** The header `traceparent` with the current span, even if the span is not sampled. Empty without a tracer. */
export const headers: Effect.Effect<{ readonly traceparent?: string }> = Effect.contextWith(
  (context: Context.Context<never>) => {
    const span = spanOf(context)
    return Effect.succeed(span === undefined ? {} : { traceparent: write(span) })
  }
)

/** The trace context to store with an event: the current span as a `traceparent`, or `null` if no collector gets it. */
export const stored: Effect.Effect<string | null> = Effect.contextWith((context: Context.Context<never>) => {
  const span = collected(context)
  return Effect.succeed(span === undefined ? null : write(span))
})
