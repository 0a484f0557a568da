/**
 * What an operator watches, and who may look.
 */
import { assert, describe, it } from "@effect/vitest"
import { Version } from "@wac/http"
import { RecordingReceiver } from "@wac/testkit"
import { Effect } from "effect"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assertError, until } from "../checks.ts"
import { type Answer, call, hello, ready, receiver, send, setWebhook } from "../harness.ts"
import { still } from "../movable.ts"

const root = fileURLToPath(new URL("../../../..", import.meta.url))

const metrics = ({ url }: { readonly url: string }, headers: { readonly [name: string]: string } = {}) =>
  call(`${url}/metrics`, { headers })

/** The value of a series, by its name and labels as they are written. */
const valueOf = ({ text }: Answer, series: string): number | undefined => {
  const line = text.split("\n").find((line) => line.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

describe.concurrent("metrics", () => {
  it.live("metrics report attempts by outcome, the backlog and webhooks in trouble, without naming workspaces", () =>
    Effect.gen(function*() {
      const server = yield* still(ready())
      const customer = yield* receiver
      yield* setWebhook(server, { url: customer.url })
      const attempted = (outcome: string, count: number) =>
        until(
          metrics(server),
          (answer) => valueOf(answer, `wac_webhook_attempts_total{outcome="${outcome}"}`) === count
        )
      yield* send(server, hello("+15005550003"))
      yield* attempted("delivered", 1)
      yield* customer.script([RecordingReceiver.reply(500)])
      yield* send(server, hello("+15005550003"))
      yield* attempted("status", 1)
      yield* server.pass("1100 millis")
      const answer = yield* attempted("delivered", 2)
      assert.strictEqual(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
      assert.strictEqual(valueOf(answer, "wac_webhook_first_attempt_delay_seconds_count"), 1)
      assert.strictEqual(valueOf(answer, "wac_webhook_attempt_duration_seconds_count"), 3)
      assert.strictEqual(valueOf(answer, "wac_webhook_deliveries_pending"), 0)
      assert.strictEqual(valueOf(answer, "wac_webhook_oldest_due_age_seconds"), 0)
      assert.strictEqual(valueOf(answer, "wac_webhooks{state=\"paused\"}"), 0)
      assert.strictEqual(valueOf(answer, "wac_webhooks_with_backlog{deliveries=\"1\"}"), 0)
      assert.notMatch(answer.text, /ws_|whk_|dlv_/)

      yield* call(`${server.url}/internal/webhook/pause`, { method: "POST", headers: server.session })
      yield* send(server, hello("+15005550003"))
      const later = yield* metrics(server)
      assert.strictEqual(valueOf(later, "wac_webhooks{state=\"paused\"}"), 1)
      assert.strictEqual(valueOf(later, "wac_webhook_deliveries_pending"), 1)
    }))

  it.live("metrics count requests by route and status, and sends by outcome, with a fixed set of labels", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      for (const to of ["+15551234567", "+15005550001", "+15005550004", "+15005550006"]) yield* send(server, hello(to))
      yield* send(server, { to: "+15551234567", type: "text", text: { body: "hi" } })
      const headers = { "idempotency-key": "twice" }
      for (const _ of [1, 2]) yield* send(server, hello(), headers)
      for (const id of ["key_1", "key_2"]) {
        yield* call(`${server.url}/internal/api-keys/${id}`, { headers: server.session })
      }
      for (const path of ["/a", "/b", "/v1/messages/x/y/z"]) {
        yield* call(`${server.url}${path}`, { method: "PROPFIND" })
      }
      const answer = yield* metrics(server)
      const value = (series: string) => valueOf(answer, series)
      const sends = (labels: string) => value(`wac_sends_total{${labels}}`)
      assert.strictEqual(sends("outcome=\"sent\""), 2)
      assert.strictEqual(sends("outcome=\"replayed\""), 1)
      assert.strictEqual(sends("outcome=\"failed\",reason=\"undeliverable\""), 1)
      assert.strictEqual(sends("outcome=\"not_sent\",reason=\"provider\""), 1)
      assert.strictEqual(sends("outcome=\"unknown\",reason=\"outcome_unknown\""), 1)
      assert.strictEqual(sends("outcome=\"refused\",reason=\"outside_service_window\""), 1)
      const route = (method: string, path: string) => `method="${method}",route="${path}"`
      const requests = (method: string, path: string, status: number, reason?: string) =>
        value(
          `wac_http_requests_total{${route(method, path)},status="${status}"${
            reason === undefined ? "" : `,reason="${reason}"`
          }}`
        )
      assert.strictEqual(requests("POST", "/v1/messages", 200), 3)
      assert.strictEqual(requests("POST", "/v1/messages", 504, "outcome_unknown"), 1)
      assert.strictEqual(requests("GET", "/internal/api-keys/:id", 404), 2)
      assert.strictEqual(requests("other", "unknown", 404), 3)
      assert.strictEqual(value(`wac_http_request_duration_seconds_count{${route("POST", "/v1/messages")}}`), 7)
      assert.notMatch(answer.text, /ws_|key_|msg_|PROPFIND/)
    }))

  it.live("two servers in one process have separate metrics", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* ready(), yield* ready()]
      const customer = yield* receiver
      yield* setWebhook(one, { url: customer.url })
      yield* call(`${one.url}/internal/webhook/test`, { method: "POST", headers: one.session })
      const series = "wac_webhook_attempts_total{outcome=\"delivered\"}"
      assert.strictEqual(valueOf(yield* metrics(one), series), 1)
      assert.strictEqual(valueOf(yield* metrics(other), series), 0)
    }))

  it.live("every counter is exported before its first event", () =>
    Effect.gen(function*() {
      const answer = yield* metrics(yield* ready())
      const sources = ["packages", "apps"].flatMap((directory) =>
        globSync(`${directory}/*/src/**/*.ts`, { cwd: root }).map((path) => readFileSync(join(root, path), "utf8"))
      )
      const counters = sources.flatMap((text) =>
        [...text.matchAll(/Metric\.counter\(\s*"(\w+)"/g)].map(([, name]) => name!)
      )
      assert.isAtLeast(counters.length, 10)
      for (const name of counters) assert.match(answer.text, new RegExp(`^${name}[{ ]`, "m"))
      for (
        const series of [
          "wac_inbound_posts_total{outcome=\"refused\"}",
          "wac_inbound_post_problems_total{problem=\"storage\"}",
          "wac_records_dropped_total{kind=\"usage\"}",
          "wac_records_dropped_total{kind=\"requests\"}",
          "wac_sends_total{outcome=\"unknown\",reason=\"outcome_unknown\"}",
          "wac_webhook_attempts_total{outcome=\"timeout\"}",
          "wac_log_lines_dropped_total",
          "wac_inbound_items_total{kind=\"customer_moved\"}",
          ...[
            "attempts",
            "events",
            "messages",
            "requests",
            "audit",
            "alerts",
            "sessions",
            "portal_links",
            "kept_answers",
            "usage",
            "media",
            "inbound"
          ].flatMap(
            (kind) => [`wac_retention_removed_total{kind="${kind}"}`, `wac_retention_failures_total{kind="${kind}"}`]
          )
        ]
      ) assert.strictEqual(valueOf(answer, series), 0, series)
    }))

  it.live("metrics show the process under the usual names, and the running version", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const before = yield* metrics(server)
      const value = (answer: Answer, series: string) => valueOf(answer, series) ?? Number.NaN
      assert.closeTo(value(before, "process_start_time_seconds"), performance.timeOrigin / 1000, 0.001)
      for (
        const series of [
          "process_resident_memory_bytes",
          "nodejs_heap_size_used_bytes",
          "nodejs_heap_size_total_bytes",
          "process_cpu_seconds_total"
        ]
      ) assert.isAbove(value(before, series), 0, series)
      const versions = `version="${Version.version}",node="${process.versions.node}"`
      assert.strictEqual(value(before, `wac_build_info{${versions}}`), 1)
      const { system, user } = process.cpuUsage()
      // the event loop is held for 300 ms before each reading: a delay before Node's first sample does not count
      const held = Effect.sync(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300))
      const after = yield* until(
        Effect.andThen(held, metrics(server)),
        (answer) => value(answer, "nodejs_eventloop_lag_max_seconds") >= 0.2
      )
      assert.isAtLeast(value(after, "process_cpu_seconds_total"), (system + user) / 1e6)
      assert.isAtLeast(
        (process.cpuUsage().system + process.cpuUsage().user) / 1e6,
        value(after, "process_cpu_seconds_total")
      )
    }))

  it.live("without METRICS_TOKEN, /metrics answers local programs and is 404 for requests that a proxy forwarded", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      assert.strictEqual((yield* metrics(server)).status, 200)
      for (const header of ["forwarded", "x-forwarded-for", "x-real-ip", "via"]) {
        assertError(yield* metrics(server, { [header]: "203.0.113.9" }), 404, { code: "not_found" })
      }
      const trusting = yield* ready({ environment: { TRUST_PROXY: "127.0.0.0/8" } })
      for (const client of ["203.0.113.9", "127.0.0.1"]) {
        assertError(yield* metrics(trusting, { "x-forwarded-for": client }), 404, { code: "not_found" })
      }
    }))

  it.live("with METRICS_TOKEN, /metrics requires the token", () =>
    Effect.gen(function*() {
      const server = yield* ready({ environment: { METRICS_TOKEN: "watch-4711" } })
      const bearer = (token: string) => ({ authorization: `Bearer ${token}`, "x-forwarded-for": "203.0.113.9" })
      assert.strictEqual((yield* metrics(server, bearer("watch-4711"))).status, 200)
      assertError(yield* metrics(server), 401, { code: "unauthorized", reason: "missing_key" })
      for (const wrong of ["watch-4712", "watch-471", server.key.apiKey]) {
        assertError(yield* metrics(server, bearer(wrong)), 401, { code: "unauthorized", reason: "invalid_key" })
      }
      assertError(yield* call(`${server.url}/metrics`, { method: "POST", body: {} }), 405, { code: "not_found" })
    }))
})
