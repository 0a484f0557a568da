import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Metric, Scope } from "effect"
import * as Recorder from "../src/Recorder.ts"
import { StoreError } from "../src/StoreError.ts"
import { advance } from "./clock.ts"

const failure = new StoreError({ operation: "test" })

/** A recorder, and the batches that it has written. */
const recording = Effect.fnUntraced(function*(
  options: {
    readonly isRepeatable?: boolean
    readonly write?: (n: number, batch: ReadonlyArray<number>) => Effect.Effect<void, StoreError>
  } = {}
) {
  const scope = yield* Scope.make()
  const batches: Array<ReadonlyArray<number>> = []
  const record = yield* Scope.provide(
    Recorder.make<number>({
      kind: "requests",
      size: 3,
      isRepeatable: options.isRepeatable ?? true,
      write: (batch) =>
        Effect.suspend(() => {
          batches.push(batch)
          return options.write?.(batches.length, batch) ?? Effect.void
        })
    }),
    scope
  )
  return { batches, close: Scope.close(scope, Exit.void), record }
})

const dropped = Effect.map(
  Metric.snapshot,
  (metrics) =>
    metrics.flatMap((metric) =>
      metric.id === "wac_records_dropped_total" && metric.type === "Counter" ? [Number(metric.state.count)] : []
    ).reduce((sum, count) => sum + count, 0)
)

const counting = <A, E>(test: Effect.Effect<A, E>) => Effect.provideService(test, Metric.MetricRegistry, new Map())

describe("records in passing", () => {
  it.effect("records are written together, a second after the first one", () =>
    Effect.gen(function*() {
      const { batches, record } = yield* recording()
      yield* advance("1 minute")
      record(1)
      record(2)
      yield* advance("999 millis")
      assert.deepStrictEqual(batches, [])
      yield* advance("1 millis")
      assert.deepStrictEqual(batches, [[1, 2]])
      for (const n of [3, 4, 5, 6]) record(n)
      yield* advance("1 second")
      assert.deepStrictEqual(batches.slice(1), [[3, 4, 5], [6]])
      yield* advance("1 minute")
      assert.strictEqual(batches.length, 3)
    }).pipe(counting))

  for (
    const [name, cause] of Object.entries({
      "is refused because of its content": Effect.fail(new StoreError({ operation: "test", fault: "command" })),
      "makes writing throw": Effect.die(new RangeError("too deep"))
    })
  ) {
    for (const isRepeatable of [true, false]) {
      const kind = isRepeatable ? "a repeatable" : "an unrepeatable"
      it.effect(`if ${kind} record ${name}, only that record is dropped`, () =>
        Effect.gen(function*() {
          const written: Array<number> = []
          const { record } = yield* recording({
            isRepeatable,
            write: (_, batch) => batch.includes(2) ? cause : Effect.sync(() => void written.push(...batch))
          })
          for (const n of [1, 2, 3, 4]) record(n)
          yield* advance("5 seconds")
          assert.deepStrictEqual(written, [1, 3, 4])
          assert.strictEqual(yield* dropped, 1)
        }).pipe(counting))
    }
  }

  it.effect("repeatable records are written again if the storage failed", () =>
    Effect.gen(function*() {
      const { batches, record } = yield* recording({ write: (n) => n === 1 ? Effect.fail(failure) : Effect.void })
      record(1)
      yield* advance("1 second")
      record(2)
      yield* advance("1 second")
      assert.deepStrictEqual(batches, [[1], [1, 2]])
      assert.strictEqual(yield* dropped, 0)
    }).pipe(counting))

  it.effect("unrepeatable records are dropped and counted if they may have been written", () =>
    Effect.gen(function*() {
      const { batches, record } = yield* recording({ isRepeatable: false, write: () => Effect.fail(failure) })
      record(1)
      record(2)
      yield* advance("10 seconds")
      assert.deepStrictEqual(batches, [[1, 2]])
      assert.strictEqual(yield* dropped, 2)
    }).pipe(counting))

  it.effect("records beyond the bound are dropped and counted while the storage does not respond, and callers do not wait", () =>
    Effect.gen(function*() {
      const answered = yield* Deferred.make<void>()
      const { batches, close, record } = yield* recording({ write: () => Deferred.await(answered) })
      record(0)
      yield* advance("1 second")
      for (let n = 1; n <= 10_007; n++) record(n)
      assert.strictEqual(yield* dropped, 7)
      yield* Deferred.succeed(answered, undefined)
      yield* close
      assert.deepStrictEqual(batches.flat().slice(-1), [10_000])
    }).pipe(counting))

  it.effect("records are written at the end of the scope", () =>
    Effect.gen(function*() {
      const { batches, close, record } = yield* recording()
      record(1)
      yield* close
      assert.deepStrictEqual(batches, [[1]])
    }).pipe(counting))
})
