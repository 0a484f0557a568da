import { assert, describe, it } from "@effect/vitest"
import { Effect, Tracer } from "effect"
import * as Span from "../src/Span.ts"

describe("a span without an exporter", () => {
  it.effect("a span is created if spans are collected", () =>
    Effect.gen(function*() {
      const made: Array<string> = []
      const collecting = Tracer.make({
        span: (options) => {
          made.push(options.name)
          return new Tracer.NativeSpan(options)
        }
      })
      const withSpan = yield* Effect.provideService(Span.ifTraced("often"), Tracer.Tracer, collecting)
      const answer = yield* Effect.provideService(withSpan(Effect.succeed(1)), Tracer.Tracer, collecting)
      assert.strictEqual(answer, 1)
      assert.deepStrictEqual(made, ["often"])
    }))

  it.effect("without a tracer the effect stays unchanged", () =>
    Effect.gen(function*() {
      const withSpan = yield* Span.ifTraced("often")
      const effect = Effect.succeed(1)
      assert.strictEqual(withSpan(effect), effect)
    }))
})
