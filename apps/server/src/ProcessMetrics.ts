/**
 * Metrics of the process under the names that Prometheus clients use, so that dashboards for Node show them, and the
 * running version.
 */
import { Version } from "@wac/http"
import { Effect, Metric } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"

const cpuSeconds = Metric.counter("process_cpu_seconds_total", {
  description: "Processor time of the process, in user and system mode",
  incremental: true
})

const startSeconds = Metric.gauge("process_start_time_seconds", {
  description: "Start of the process, in seconds since the Unix epoch"
})

const residentBytes = Metric.gauge("process_resident_memory_bytes", { description: "Memory of the process in RAM" })

const heapUsedBytes = Metric.gauge("nodejs_heap_size_used_bytes", { description: "JavaScript heap in use" })

const heapTotalBytes = Metric.gauge("nodejs_heap_size_total_bytes", { description: "JavaScript heap, used and free" })

const loopSeconds = Metric.gauge("nodejs_eventloop_lag_p99_seconds", {
  description: "99th percentile of the event loop's delay since the last reading"
})

const loopMaxSeconds = Metric.gauge("nodejs_eventloop_lag_max_seconds", {
  description: "Greatest delay of the event loop since the last reading"
})

const build = Metric.gauge("wac_build_info", { description: "1, with the versions of wac and of Node as labels" })

/** The interval, in milliseconds, at which the event loop's delay is sampled: long enough to cost nothing. */
const resolution = 20

/** Returns the effect that updates the metrics. Sampling of the event loop stops when the scope closes. */
export const observer = Effect.gen(function*() {
  const loop = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const loop = monitorEventLoopDelay({ resolution })
      loop.enable()
      return loop
    }),
    (loop) => Effect.sync(() => loop.disable())
  )
  yield* Metric.update(
    Metric.withAttributes(build, { version: Version.version, node: process.versions.node }),
    1
  )
  yield* Metric.update(startSeconds, Math.round(performance.timeOrigin) / 1000)
  let counted = 0
  return Effect.suspend(() => {
    const { system, user } = process.cpuUsage()
    const spent = (system + user) / 1e6
    const { heapTotal, heapUsed, rss } = process.memoryUsage()
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolution / 1000)
    // without a sample, the histogram has no usable values
    const [p99, max] = loop.count === 0 ? [0, 0] : [late(loop.percentile(99)), late(loop.max)]
    loop.reset()
    const measured = Effect.all([
      Metric.update(cpuSeconds, spent - counted),
      Metric.update(residentBytes, rss),
      Metric.update(heapUsedBytes, heapUsed),
      Metric.update(heapTotalBytes, heapTotal),
      Metric.update(loopSeconds, p99),
      Metric.update(loopMaxSeconds, max)
    ], { discard: true })
    counted = spent
    return measured
  })
})
