/**
 * Histograms of durations, with exemplars: if traces are collected, each bucket remembers the latest trace that fell
 * into it, which leads an operator from a slow bucket to what happened. Exemplars are kept beside the metric registry.
 */
import { Context, Metric, type Tracer } from "effect"
import type { Instant } from "./Time.ts"

/** A trace that fell into a bucket. */
export interface Exemplar {
  readonly traceId: string
  readonly spanId: string
  readonly seconds: number
  readonly at: Instant
}

/** The exemplars of one series, by the upper bound of their bucket. The bound of the last bucket is infinity. */
export type Exemplars = ReadonlyMap<number, Exemplar>

type Labels = Readonly<Record<string, string>>

/** A histogram with its labels. */
export interface LatencyHistogram {
  /** The same histogram with these labels. */
  readonly withLabels: (labels: Labels) => LatencyHistogram
  /** Records a duration that began at `at`, with the span of the context if it is traced. */
  readonly record: (
    duration: { readonly seconds: number; readonly at: Instant; readonly span?: Tracer.AnySpan | undefined },
    context: Context.Context<never>
  ) => void
}

const kept = new WeakMap<object, Map<string, Map<number, Exemplar>>>()

const registryOf = (context: Context.Context<never>): object => Context.get(context, Metric.MetricRegistry)

/** Creates a histogram. `boundaries` are the upper bounds of its buckets, in ascending order. */
export const make = (
  name: string,
  options: { readonly description: string; readonly boundaries: ReadonlyArray<number> }
): LatencyHistogram => labelled(name, options.boundaries, Metric.histogram(name, options), {})

const labelled = (
  name: string,
  boundaries: ReadonlyArray<number>,
  metric: Metric.Histogram<number>,
  labels: Labels
): LatencyHistogram => {
  const series = seriesOf(name, labels)
  const measured = Metric.withAttributes(metric, labels)
  return {
    withLabels: (labels) => labelled(name, boundaries, metric, labels),
    record: ({ at, seconds, span }, context) => {
      measured.updateUnsafe(seconds, context)
      if (span === undefined) return
      const registry = registryOf(context)
      let all = kept.get(registry)
      if (all === undefined) kept.set(registry, all = new Map())
      let buckets = all.get(series)
      if (buckets === undefined) all.set(series, buckets = new Map())
      buckets.set(boundaries.find((bound) => seconds <= bound) ?? Infinity, {
        traceId: span.traceId,
        spanId: span.spanId,
        seconds,
        at
      })
    }
  }
}

/** The name of a series with its labels, in Prometheus's notation. */
const seriesOf = (name: string, labels: Labels): string => {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return pairs.length === 0 ? name : `${name}{${pairs.join(",")}}`
}

/** The exemplars in the context's registry, by series, such as `name{label="value"}`. */
export const exemplars = (context: Context.Context<never>): ReadonlyMap<string, Exemplars> =>
  kept.get(registryOf(context)) ?? new Map()
