/**
 * A trace that can be followed: from a caller's request to the send, to the event, to the attempts at its delivery and
 * to the receiver, and to the log (contract §8 `OTEL_…`), as a collector gets it over HTTP.
 */
import { assert, describe, it } from "@effect/vitest"
import { RecordingReceiver } from "@wac/testkit"
import { DateTime, Effect } from "effect"
import { vi } from "vitest"
import { until } from "../checks.ts"
import { call, hello, ready, receiver, send, setWebhook } from "../harness.ts"
import { moving } from "../movable.ts"

/** A customer about whom the sandbox reports nothing beyond `sent`, so that a message has one event. */
const sentOnce = "+15005550003"

/** A send to whom has an unknown outcome. */
const outcomeUnknown = "+15005550006"

/** A customer who answers every message, and about whom the sandbox reports everything. */
const replies = "+15005550008"

/** A span as a test looks at it. */
interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly status: { readonly code: number; readonly message?: string }
  readonly events: ReadonlyArray<unknown>
  readonly with: { readonly [name: string]: unknown }
}

const kinds = { internal: 1, server: 2, client: 3 }

type Attributes = ReadonlyArray<{ readonly key: string; readonly value: { readonly [type: string]: unknown } }>

const plain = (attributes: Attributes): { readonly [name: string]: unknown } =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

const textOf = ({ body }: RecordingReceiver.ReceivedRequest): string => new TextDecoder().decode(body)

/** What a collector got of a signal. */
const postsOf = ({ requests }: RecordingReceiver.RecordingReceiver, signal: "traces" | "metrics" | "logs") =>
  Effect.map(requests, (all) => all.filter(({ target }) => target === `/v1/${signal}`))

const spansOf = (collector: RecordingReceiver.RecordingReceiver): Effect.Effect<ReadonlyArray<Span>> =>
  Effect.map(
    postsOf(collector, "traces"),
    (posts) =>
      posts.flatMap((post) =>
        JSON.parse(textOf(post)).resourceSpans[0].scopeSpans[0].spans.map((
          span: Omit<Span, "with"> & { readonly attributes: Attributes }
        ) => ({ ...span, with: plain(span.attributes) }))
      )
  )

/** The trace context of a caller. */
const caller = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" }
const traceparent = `00-${caller.traceId}-${caller.spanId}-01`

/** The lines that a server logs. */
const logged = Effect.acquireRelease(
  Effect.sync(() => {
    const lines: Array<string> = []
    const terminal = vi.spyOn(console, "log").mockImplementation((line) => void lines.push(String(line)))
    return { lines, terminal }
  }),
  ({ terminal }) => Effect.sync(() => terminal.mockRestore())
)

/** A server with a collector and a receiver, and what the collector got once the server has stopped. */
const traced = <A>(
  environment: { readonly [name: string]: string },
  trial: (
    given: {
      readonly server:
        & Effect.Success<ReturnType<typeof ready>>
        & Effect.Success<ReturnType<typeof moving<object, never, never>>>
      readonly customer: Effect.Success<typeof receiver>
      readonly collector: RecordingReceiver.RecordingReceiver
    }
  ) => Effect.Effect<A>
) =>
  Effect.gen(function*() {
    const collector = yield* RecordingReceiver.make
    const customer = yield* receiver
    const { lines } = yield* logged
    const result = yield* Effect.scoped(Effect.gen(function*() {
      const server = yield* moving(ready({
        environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, LOG_LEVEL: "debug", ...environment }
      }))
      yield* setWebhook(server, { url: customer.url })
      return yield* trial({ server, customer, collector })
    }))
    return {
      result,
      spans: yield* spansOf(collector),
      traces: yield* postsOf(collector, "traces"),
      all: yield* collector.requests,
      lines: lines.map((line) => JSON.parse(line))
    }
  })

const contextOf = ({ spanId, traceId }: Pick<Span, "spanId" | "traceId">) => `00-${traceId}-${spanId}-01`

describe("a trace", () => {
  it.live("a trace leads from a caller's request to the send, its event, each attempt and the receiver", () =>
    Effect.gen(function*() {
      const { lines, result: { answer, got }, spans, traces } = yield* traced(
        {},
        Effect.fnUntraced(function*({ customer, server }) {
          yield* customer.script([RecordingReceiver.reply(500)])
          const answer = yield* send(server, hello(sentOnce), { traceparent })
          const recorded = (attempts: number) =>
            until(
              call(`${server.url}/internal/webhook/deliveries`, { headers: server.session }),
              ({ body }) => body.data[0]?.attemptCount === attempts
            )
          yield* recorded(1)
          yield* server.pass("10 seconds")
          yield* recorded(2)
          return { answer, got: yield* customer.requests }
        })
      )
      const messageId = answer.body.message_id
      const requestId = answer.headers.get("request-id")
      const [request] = spans.filter(({ name }) => name === "POST /v1/messages")
      assert.deepInclude(request, { traceId: caller.traceId, parentSpanId: caller.spanId, kind: kinds.server })
      assert.deepInclude(request!.with, {
        "http.request.method": "POST",
        "http.route": "/v1/messages",
        "http.response.status_code": 200,
        "wac.request.id": requestId
      })
      const [sending] = spans.filter(({ name }) => name === "Messages.send")
      assert.deepInclude(sending, {
        traceId: caller.traceId,
        parentSpanId: request!.spanId,
        kind: kinds.internal
      })
      assert.deepInclude(sending!.with, {
        "wac.message.id": messageId,
        "wac.request.id": requestId,
        "wac.send.outcome": "sent"
      })
      const [provider] = spans.filter(({ name }) => name === "send sandbox")
      assert.deepInclude(provider, { traceId: caller.traceId, parentSpanId: sending!.spanId, kind: kinds.client })
      assert.deepInclude(provider!.with, {
        "messaging.system": "sandbox",
        "messaging.operation.type": "send",
        "wac.message.id": messageId
      })

      // each attempt is a trace of its own, since the last one may come a day later
      const attempts = spans.filter(({ name }) => name === "POST webhook")
      assert.strictEqual(attempts.length, 2)
      assert.strictEqual(new Set([caller.traceId, ...attempts.map(({ traceId }) => traceId)]).size, 3)
      for (const [i, attempt] of attempts.entries()) {
        assert.isUndefined(attempt.parentSpanId)
        assert.strictEqual(attempt.kind, kinds.client)
        assert.deepStrictEqual(attempt.links.map(contextOf), [contextOf(sending!)])
        assert.deepInclude(attempt.with, {
          "http.request.method": "POST",
          "server.address": "127.0.0.1",
          "url.scheme": "http",
          "wac.event.type": "message.sent",
          "wac.event.id": got[i]!.headers["webhook-id"],
          "wac.message.id": messageId
        })
        assert.strictEqual(got[i]!.headers["traceparent"], contextOf(attempt))
      }
      assert.deepInclude(attempts[0]!.with, {
        "http.response.status_code": 500,
        "error.type": "500",
        "wac.attempt.outcome": "status"
      })
      assert.deepInclude(attempts[1]!.with, {
        "http.response.status_code": 200,
        "http.request.resend_count": 1,
        "wac.attempt.outcome": "delivered"
      })

      const [line] = lines.filter(({ message }) => message[1]?.requestId === requestId)
      assert.deepInclude(line, { trace_id: caller.traceId, span_id: request!.spanId })
      for (const { body } of traces) assert.notInclude(new TextDecoder().decode(body), sentOnce.slice(1))
      for (const span of spans) {
        for (const name of ["url.full", "url.path", "url.query"]) assert.notProperty(span.with, name)
      }
    }).pipe(Effect.scoped))

  it.live("an attempt links to the span that recorded its event: a report, a reply, the sending of a queued message", () =>
    Effect.gen(function*() {
      const { spans } = yield* traced(
        {},
        Effect.fnUntraced(function*({ customer, server }) {
          const answers = [
            yield* send(server, hello(replies)),
            yield* send(server, {
              ...hello(sentOnce),
              send_at: DateTime.formatIso(DateTime.add(yield* DateTime.now, { minutes: 1 }))
            })
          ]
          assert.deepStrictEqual(answers.map(({ status }) => status), [200, 202])
          yield* customer.take(1)
          yield* server.pass("2 minutes")
          // an event may come twice, since its attempt's lease ends meanwhile
          yield* until(customer.requests, (all) => new Set(all.map(({ headers }) => headers["webhook-id"])).size === 5)
        })
      )
      const recorders = spans.filter(({ name }) => name === "POST webhook").map(({ links, with: { ...of } }) => {
        const recorder = spans.find(({ spanId }) => spanId === links[0]?.spanId)
        return `${of["wac.event.type"]} by ${recorder?.name}`
      })
      assert.sameMembers([...new Set(recorders)], [
        "message.sent by Messages.send",
        "message.sent by QueuedMessages.send",
        "message.delivered by Inbound.apply",
        "message.read by Inbound.apply",
        "message.received by Inbound.apply"
      ])
    }).pipe(Effect.scoped))

  it.live("a trace shows why a send failed, in one word and without the message of its error", () =>
    Effect.gen(function*() {
      const { result: answer, spans } = yield* traced(
        {},
        ({ server }) => send(server, hello(outcomeUnknown), { traceparent })
      )
      assert.strictEqual(answer.status, 504)
      const { message } = answer.body.error
      const failed = spans.filter(({ traceId }) => traceId === caller.traceId)
      assert.sameMembers(failed.map(({ name }) => name), ["POST /v1/messages", "Messages.send", "send sandbox"])
      for (const { events, status, with: attributes } of failed) {
        assert.strictEqual(attributes["error.type"], "http.route" in attributes ? "504" : "outcome_unknown")
        assert.notInclude(JSON.stringify([events, status]), message)
      }
    }).pipe(Effect.scoped))
})

describe("the variables of OpenTelemetry", () => {
  it.live("name the service and what it belongs to, and authorize the export", () =>
    Effect.gen(function*() {
      const { all } = yield* traced({
        OTEL_SERVICE_NAME: "messages",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.version=7,team=a%20b",
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20letmein,x-scope=one"
      }, ({ server }) => send(server, hello(sentOnce)))
      assert.isNotEmpty(all)
      for (const post of all) {
        assert.include(post.headers, { authorization: "Bearer letmein", "x-scope": "one" })
        const [{ resource }] = Object.values(JSON.parse(textOf(post)))[0] as [{ resource: { attributes: Attributes } }]
        assert.deepInclude(plain(resource.attributes), {
          "service.name": "messages",
          "service.version": "7",
          "deployment.environment.name": "test",
          team: "a b"
        })
        assert.notInclude(textOf(post), "letmein")
      }
    }).pipe(Effect.scoped))

  it.live("OTEL_TRACES_SAMPLER: a trace that is not sampled is not exported, and receivers learn that it is not", () =>
    Effect.gen(function*() {
      const { result, traces, lines } = yield* traced(
        { OTEL_TRACES_SAMPLER: "always_off" },
        ({ customer, server }) => Effect.andThen(send(server, hello(sentOnce), { traceparent }), customer.take(1))
      )
      assert.deepStrictEqual(traces, [])
      assert.match(result[0]!.headers["traceparent"]!, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
      assert.deepStrictEqual(lines.filter((line) => "trace_id" in line), [])
    }).pipe(Effect.scoped))

  it.live.each(["1", "0"])(
    "a caller's trace decides whether its send and deliveries are collected: flag %s",
    (flag) =>
      Effect.gen(function*() {
        const { spans } = yield* traced(
          { OTEL_TRACES_SAMPLER: "parentbased_always_off" },
          ({ customer, server }) =>
            Effect.andThen(
              send(server, hello(sentOnce), { traceparent: traceparent.replace(/.$/, flag) }),
              customer.take(1)
            )
        )
        assert.deepStrictEqual(
          [...new Set(spans.map(({ name }) => name))].sort(),
          flag === "1" ? ["Messages.send", "POST /v1/messages", "POST webhook", "send sandbox"] : []
        )
      }).pipe(Effect.scoped)
  )

  it.live("OTEL_TRACES_EXPORTER=none exports the other signals, and receivers get no traceparent", () =>
    Effect.gen(function*() {
      const { all, result, traces } = yield* traced(
        { OTEL_TRACES_EXPORTER: "none" },
        ({ customer, server }) => Effect.andThen(send(server, hello(sentOnce)), customer.take(1))
      )
      assert.deepStrictEqual(traces, [])
      assert.sameMembers([...new Set(all.map(({ target }) => target))], ["/v1/metrics", "/v1/logs"])
      assert.notProperty(result[0]!.headers, "traceparent")
    }).pipe(Effect.scoped))

  it.live("OTEL_SDK_DISABLED exports nothing, and receivers get no traceparent", () =>
    Effect.gen(function*() {
      const { all, result } = yield* traced({ OTEL_SDK_DISABLED: "true" }, ({ customer, server }) =>
        Effect.andThen(send(server, hello(sentOnce)), customer.take(1)))
      assert.deepStrictEqual(all, [])
      assert.notProperty(result[0]!.headers, "traceparent")
    }).pipe(Effect.scoped))
})
