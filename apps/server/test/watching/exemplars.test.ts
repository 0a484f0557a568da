/**
 * Exemplars: from a slow bucket of a histogram to the trace of a request in it.
 */
import { assert, describe, it } from "@effect/vitest"
import * as FreePort from "@wac/testbed/FreePort"
import * as Program from "@wac/testbed/Program"
import { RecordingReceiver } from "@wac/testkit"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { until } from "../checks.ts"
import { call, hello, ready, receiver, send, setWebhook } from "../harness.ts"

const openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

/** As Prometheus asks. */
const accept = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75," +
  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"

const scraped = ({ url }: { readonly url: string }) => call(`${url}/metrics`, { headers: { accept } })

/** The ids of the traces that the buckets of a histogram lead to. */
const tracesIn = (text: string, name: string): ReadonlyArray<string> =>
  text.split("\n").filter((line) => line.startsWith(`${name}_bucket`))
    .flatMap((line) =>
      /# \{trace_id="([0-9a-f]{32})",span_id="[0-9a-f]{16}"\} [\d.e-]+ \d+(?:\.\d+)?$/.exec(line)?.[1] ?? []
    )

/** A server that sends its traces to a collector, and has sent messages and delivered their events. */
const traced = Effect.gen(function*() {
  const collector = yield* RecordingReceiver.make
  const server = yield* ready({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
  const customer = yield* receiver
  yield* setWebhook(server, { url: customer.url })
  // the first event of a process may have waited for its start, which is no delay of a first attempt
  for (const _ of [1, 2]) {
    yield* send(server, hello("+15005550003"))
    yield* customer.take(1)
  }
  return { ...server, collector }
})

const histograms = [
  "wac_http_request_duration_seconds",
  "wac_webhook_attempt_duration_seconds",
  "wac_webhook_first_attempt_delay_seconds"
]

const needed = Program.needed({
  programs: ["prometheus"],
  untested: "exemplars as Prometheus reads them",
  install: "apt-get install prometheus"
})

/** Prometheus, which scrapes the service once a second; gives its address. */
const prometheus = Effect.fnUntraced(function*(target: string) {
  const port = yield* Effect.promise(FreePort.find)
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "wac-prometheus-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
  const config = {
    global: { scrape_interval: "1s" },
    scrape_configs: [{ job_name: "wac", static_configs: [{ targets: [new URL(target).host] }] }]
  }
  yield* Effect.promise(() => writeFile(join(folder, "prometheus.yml"), JSON.stringify(config)))
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn("prometheus", [
        `--config.file=${folder}/prometheus.yml`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${port}`,
        "--enable-feature=exemplar-storage"
      ], { stdio: "ignore" })
      return { child, closed: new Promise((resolve) => child.once("close", resolve)) }
    }),
    ({ child, closed }) =>
      Effect.promise(() => {
        child.kill("SIGKILL")
        return closed
      })
  )
  return `http://127.0.0.1:${port}`
})

describe("exemplars", () => {
  it.live("a scraper of OpenMetrics gets traces that the collector got, for each histogram", () =>
    Effect.gen(function*() {
      const server = yield* traced
      const answer = yield* until(
        scraped(server),
        ({ text }) => histograms.every((name) => tracesIn(text, name).length > 0)
      )
      assert.strictEqual(answer.headers.get("content-type"), openMetrics)
      assert.isTrue(answer.text.endsWith("\n# EOF\n"))
      assert.notInclude(answer.text, "\n\n")
      // a counter's suffix is in its samples only
      assert.match(answer.text, /^# TYPE wac_sends counter$/m)
      assert.match(answer.text, /^wac_sends_total\{outcome="sent"\} 2$/m)
      assert.match(answer.text, /^wac_http_request_duration_seconds_bucket\{[^}]*le="1\.0"\} /m)
      const collected = yield* until(
        Effect.map(
          server.collector.requests,
          (requests) =>
            requests.filter(({ target }) => target === "/v1/traces").map(({ body }) => new TextDecoder().decode(body))
              .join()
        ),
        (traces) => histograms.every((name) => tracesIn(answer.text, name).every((id) => traces.includes(id)))
      )
      assert.include(collected, "POST webhook")
    }))

  it.live("without a collector there are no exemplars, and other scrapers get Prometheus' own format", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      yield* send(server, hello())
      const { headers, text } = yield* scraped(server)
      assert.strictEqual(headers.get("content-type"), openMetrics)
      assert.notInclude(text, "trace_id")
      for (const accept of ["*/*", "text/plain"]) {
        const plain = yield* call(`${server.url}/metrics`, { headers: { accept } })
        assert.strictEqual(plain.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
        assert.notInclude(plain.text, "# EOF")
      }
    }))

  it.live(
    "Prometheus reads the metrics, and shows a request's trace",
    () =>
      Effect.gen(function*() {
        const server = yield* traced
        const url = yield* prometheus(server.url)
        const query = "query=wac_http_request_duration_seconds_bucket&start=0&end=9999999999"
        const ask = Effect.promise(async () => {
          const response = await fetch(`${url}/api/v1/query_exemplars?${query}`).catch(() => undefined)
          return response?.ok !== true ? [] : (await response.json()).data ?? []
        })
        const found = yield* until(ask, ({ length }) => length > 0)
        assert.match(found[0].exemplars[0].labels.trace_id, /^[0-9a-f]{32}$/)
        const targets = yield* call(`${url}/api/v1/targets`)
        assert.deepInclude(targets.body.data.activeTargets[0], { health: "up", lastError: "" })
      }),
    needed
  )
})
