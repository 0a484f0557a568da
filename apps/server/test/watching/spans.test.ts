/**
 * Which spans a collector gets, and what is left out of them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Tracer } from "effect"
import * as Telemetry from "../../src/Telemetry.ts"

const low = `${"f".repeat(16)}${"0".repeat(16)}`
const high = `${"0".repeat(16)}${"f".repeat(16)}`

const remote = (sampled: boolean, traceId = high) =>
  Tracer.externalSpan({ traceId, spanId: "00f067aa0ba902b7", sampled })
const none = Option.none<Tracer.AnySpan>()

describe("a span is collected", () => {
  const [always, never, quarter] = [1, 0, 0.25]
  const cases: ReadonlyArray<
    readonly [
      title: string,
      isParentBased: boolean,
      ratio: number,
      parent: Option.Option<Tracer.AnySpan>,
      expected: boolean
    ]
  > = [
    ["with a new trace, by the ratio 1", true, always, none, true],
    ["with a new trace, by the ratio 0", true, never, none, false],
    ["as the caller's trace is, if parents decide", true, never, Option.some(remote(true)), true],
    ["as the caller's trace is not, if parents decide", true, always, Option.some(remote(false)), false],
    ["whatever the caller says, if parents do not decide", false, always, Option.some(remote(false)), true],
    ["by the caller's trace id, if parents do not decide", false, quarter, Option.some(remote(false, low)), true],
    ["not by a caller's trace id above the ratio", false, quarter, Option.some(remote(true, high)), false]
  ]

  it.each(cases)("%s", (_, isParentBased, ratio, parent, expected) => {
    assert.strictEqual(Telemetry.isSampled({ isParentBased, ratio }, { links: [], parent }), expected)
  })

  it.each([[true, true], [false, false]])(
    "a span of a new trace that links to a collected one is collected: %s",
    (sampled, expected) => {
      const links = [{ span: remote(sampled), attributes: {} }]
      assert.strictEqual(Telemetry.isSampled({ isParentBased: true, ratio: 0 }, { links, parent: none }), expected)
      assert.isFalse(Telemetry.isSampled({ isParentBased: false, ratio: 0 }, { links, parent: none }))
    }
  )
})

describe("a span that failed", () => {
  const made: Array<Tracer.Span> = []
  const inner = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      made.push(span)
      return span
    }
  })
  const tracer = Telemetry.guarded({ isParentBased: true, ratio: 1 }, inner)

  const failures: ReadonlyArray<readonly [what: string, effect: Effect.Effect<never, unknown>, type: string]> = [
    [
      "an expected error",
      Effect.fail({ _tag: "Refused", reason: "opted_out", message: "+14155550123 said STOP" }),
      "opted_out"
    ],
    ["an error without a reason", Effect.fail({ _tag: "Refused", message: "+14155550123" }), "Refused"],
    ["a defect", Effect.die(new TypeError("+14155550123 is not a function")), "TypeError"],
    ["a word", Effect.die("+14155550123"), "string"]
  ]

  it.effect.each(failures)(
    "a failed span has the kind of %s and not its message",
    ([, effect, type]) =>
      Effect.gen(function*() {
        yield* Effect.exit(
          Effect.withSpan(effect, "failing", {
            attributes: { "url.full": "/c/+14155550123", "url.path": "/c", kept: 1 }
          })
            .pipe(Effect.provideService(Tracer.Tracer, tracer))
        )
        const { attributes, status } = made.at(-1)!
        assert.deepStrictEqual(Object.fromEntries(attributes), { kept: 1, "error.type": type })
        if (status._tag === "Started") return assert.fail("the span has not ended")
        const [reason] = status.exit._tag === "Failure" ? status.exit.cause.reasons : []
        const error = reason?._tag === "Fail" ? reason.error : undefined
        assert.instanceOf(error, Error)
        assert.strictEqual(error.message, type)
        assert.notInclude(String(error.stack), "+14155550123")
      })
  )
})
