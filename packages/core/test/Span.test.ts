import { assert, describe, it } from "@effect/vitest"
import { Effect, Tracer } from "effect"
import * as Span from "../src/Span.ts"

/** A tracer, and the spans that it made. */
const collecting = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return { spans, traced: Effect.provideService(Tracer.Tracer, tracer) }
}

const contextOf = ({ spanId, traceId }: Tracer.NativeSpan, flags = "01") => `00-${traceId}-${spanId}-${flags}`

describe("a span", () => {
  it.effect("a span is created if spans are collected, with its kind and the attributes that have a value", () => {
    const { spans, traced } = collecting()
    return Effect.gen(function*() {
      const withSpan = yield* Span.ifTraced("often", "client")
      const answer = yield* withSpan(
        Effect.as(Span.annotate(() => ({ end: "good", none: undefined })), 1),
        () => ({ attributes: { id: "msg_1", none: undefined } })
      )
      assert.strictEqual(answer, 1)
      assert.deepStrictEqual(
        spans.map(({ attributes, kind, links, name }) => ({
          name,
          kind,
          links,
          attributes: Object.fromEntries(attributes)
        })),
        [{ name: "often", kind: "client", links: [], attributes: { id: "msg_1", end: "good" } }]
      )
    }).pipe(traced)
  })

  it.effect("links to the span that was stored", () => {
    const { spans, traced } = collecting()
    return Effect.gen(function*() {
      const withSpan = yield* Span.ifTraced("any")
      const stored = yield* withSpan(Span.stored)
      assert.strictEqual(stored, contextOf(spans[0]!))
      yield* withSpan(Effect.void, () => ({ from: stored }))
      const [{ span }] = spans[1]!.links as [Tracer.SpanLink]
      assert.deepInclude(span, { traceId: spans[0]!.traceId, spanId: spans[0]!.spanId, sampled: true })
    }).pipe(traced)
  })

  it.effect("a span that is not sampled is in the headers, and is not stored", () => {
    const { spans, traced } = collecting()
    return Effect.gen(function*() {
      const found = yield* Effect.withSpan(Effect.all([Span.headers, Span.stored]), "any", { sampled: false })
      assert.deepStrictEqual(found, [{ traceparent: contextOf(spans[0]!, "00") }, null])
    }).pipe(traced)
  })
})

describe("without a tracer", () => {
  it.effect("the effect stays unchanged, and no details are built", () =>
    Effect.gen(function*() {
      const withSpan = yield* Span.ifTraced("often")
      const effect = Effect.succeed(1)
      assert.strictEqual(withSpan(effect, () => assert.fail("no details are needed")), effect)
    }))

  it.effect("a span of somebody else's gets no attributes, no header and is not stored", () =>
    Effect.gen(function*() {
      yield* Span.annotate(() => assert.fail("no attributes are needed"))
      assert.deepStrictEqual(yield* Effect.all([Span.headers, Span.stored]), [{}, null])
    }).pipe(Effect.withSpan("native")))
})
