/**
 * Records in passing: whoever has something to record never waits for the storage. What has come is written together
 * about once a second; beyond a bound it is dropped, and counted.
 */
import { Duration, Effect, Latch, type Scope } from "effect"
import * as Metrics from "./Metrics.ts"
import type { StoreError } from "./StoreError.ts"

/** How long the first of a batch waits for company. */
const every = Duration.seconds(1)

/** How many wait at most: some seconds of what a process takes in, and a few megabytes. */
const capacity = 10_000

/** How long a stop of the process waits for the last ones. */
const patience = Duration.seconds(2)

export interface Options<A> {
  /** What they are, for the log and the metric. */
  readonly kind: Metrics.RecordKind
  readonly write: (batch: ReadonlyArray<A>) => Effect.Effect<void, StoreError>
  /** Whether a batch that may have been written can be written again. Otherwise it is dropped. */
  readonly isRepeatable: boolean
  /** How many are written at once. */
  readonly size: number
}

/** Makes what records, as long as its scope is open; the scope's end writes what is left. */
export const make = <A>(
  { isRepeatable, kind, size, write }: Options<A>
): Effect.Effect<(record: A) => void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const drop = yield* Metrics.recordDropper(kind)
    const waiting: Array<A> = []
    const some = Latch.makeUnsafe(false)

    /** Writes a batch; false when that failed. */
    const flush = Effect.suspend(() => {
      const batch = waiting.splice(0, size)
      return write(batch).pipe(
        Effect.as(true),
        Effect.catchCause((cause) => {
          const room = isRepeatable ? capacity - waiting.length : 0
          waiting.unshift(...batch.slice(0, room))
          drop(batch.length - Math.min(batch.length, room))
          return Effect.as(Effect.logDebug(`${kind} could not be recorded`, cause), false)
        })
      )
    }).pipe(Effect.uninterruptible)

    const flushAll = Effect.suspend(() => waiting.length === 0 ? Effect.succeed(false) : flush).pipe(
      Effect.repeat({ while: (isWritten) => isWritten })
    )

    yield* Effect.addFinalizer(() =>
      Effect.andThen(Effect.timeoutOption(flushAll, patience), Effect.sync(() => drop(waiting.length)))
    )
    yield* Latch.await(some).pipe(
      Effect.andThen(Effect.sleep(every)),
      Effect.andThen(Effect.suspend(() => {
        Latch.closeUnsafe(some)
        return flushAll
      })),
      Effect.andThen(Effect.sync(() => {
        if (waiting.length > 0) Latch.openUnsafe(some)
      })),
      Effect.forever,
      Effect.forkScoped
    )

    return (record) => {
      if (waiting.length >= capacity) return drop(1)
      if (waiting.push(record) === 1) Latch.openUnsafe(some)
    }
  })
