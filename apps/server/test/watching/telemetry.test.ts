/**
 * What a collector of OpenTelemetry is told (contract §8 `OTEL_EXPORTER_OTLP_ENDPOINT`), and what it is not.
 */
import { assert, it } from "@effect/vitest"
import { SandboxProvider } from "@wac/sandbox"
import { RecordingReceiver, StubProviderWebhook } from "@wac/testkit"
import { Effect, Layer } from "effect"
import { vi } from "vitest"
import { until } from "../checks.ts"
import { call, environment, hello, ready, receiver, send, setWebhook } from "../harness.ts"
import { moving } from "../movable.ts"

/** Whom the sandbox tells nothing of beyond `sent`, so that a message has one event. */
const sentOnce = "+15005550003"

/** The points of a metric as they were told last. */
const pointsOf = (posts: ReadonlyArray<string>, name: string): ReadonlyArray<{ readonly asDouble: number }> => {
  const { resourceMetrics: [{ scopeMetrics: [{ metrics }] }] } = JSON.parse(posts.at(-1)!)
  const found = metrics.find((metric: { readonly name: string }) => metric.name === name)
  return (found?.gauge ?? found?.sum)?.dataPoints ?? []
}

it.live("a collector gets requests, the backlog and the log, without secrets or message contents", () =>
  Effect.gen(function*() {
    const collector = yield* RecordingReceiver.make
    const told = (signal: "traces" | "metrics" | "logs") =>
      Effect.map(
        collector.requests,
        (requests) =>
          requests.filter(({ target }) => target === `/v1/${signal}`).map(({ body }) => new TextDecoder().decode(body))
      )
    const secrets = yield* Effect.scoped(Effect.gen(function*() {
      const terminal = vi.spyOn(console, "log").mockImplementation(() => {})
      const server = yield* moving(ready({
        environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, LOG_LEVEL: "warn" },
        adapters: { provider: Layer.merge(SandboxProvider.layer, StubProviderWebhook.layer()) }
      })).pipe(Effect.ensuring(Effect.sync(() => terminal.mockRestore())))
      const asked = (path: string, method = "GET") => call(server.url + path, { method, headers: server.session })
      const customer = yield* receiver
      const { signingSecret } = yield* setWebhook(server, { url: `${customer.url}&canary-url` })
      yield* send(server, { ...hello(sentOnce), client_reference: "canary-reference" })
      yield* customer.take(1)
      yield* asked(`/internal/messages?to=${encodeURIComponent(sentOnce)}`)
      yield* asked("/internal/webhook/pause", "POST")
      yield* send(server, hello(sentOnce))
      const token = encodeURIComponent(StubProviderWebhook.handshakeToken)
      const handshake = yield* call(`${server.url}/providers/stub/webhook?token=${token}&challenge=1`)
      assert.strictEqual(handshake.text, "1")

      yield* until(
        Effect.andThen(server.pass("10 seconds"), told("metrics")),
        (posts) => posts.length > 0 && pointsOf(posts, "wac_webhook_deliveries_pending")[0]?.asDouble === 1
      )
      const { key, session } = server
      return [
        key.apiKey.slice("wac_live_".length + 4),
        key.signingSecret.slice("whsec_".length),
        signingSecret.slice("whsec_".length),
        session.cookie.split("=")[1]!,
        environment.WAC_OWNER_PASSWORD,
        StubProviderWebhook.handshakeToken,
        token,
        sentOnce.slice(1),
        "canary"
      ]
    }))

    // what was not told yet is told when the server stops
    const [traces, metrics, logs] = yield* Effect.all([told("traces"), told("metrics"), told("logs")])
    for (const name of ["POST /v1/messages", "GET /internal/messages", "Messages.send", "POST webhook"]) {
      assert.include(traces.join(), `"name":"${name}"`)
    }
    // other outcomes are exported from zero
    const attempts = pointsOf(metrics, "wac_webhook_attempts_total").map(({ asDouble }) => asDouble)
    assert.deepStrictEqual(attempts.filter((count) => count !== 0), [1])
    assert.include(logs.join(), "storage is memory: nothing survives a restart")
    for (const posts of [traces, metrics, logs]) {
      for (const post of posts) {
        assert.include(post, "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"wac\"}}")
        for (const secret of secrets) {
          assert.isAbove(secret.length, 5)
          assert.notInclude(post, secret)
        }
      }
    }
  }).pipe(Effect.scoped))
