/**
 * Recorders write records in the background, so that no caller waits for the storage. Records are written in batches
 * about once a second. Beyond a bounded backlog, records are dropped and counted.
 */
import { Cause, Context, Duration, Effect, Latch, Option, type Scope } from "effect"
import * as Metrics from "./Metrics.ts"
import type { StoreError } from "./StoreError.ts"

/** How long the first record of a batch waits for more. */
const every = Duration.seconds(1)

/** The largest backlog by default: a few seconds of a busy process's records, or a few megabytes. */
const defaultCapacity = 10_000

/** How long shutdown waits until the remaining records are written. */
const shutdownTimeout = Duration.seconds(2)

/**
 * If set, a list to which each recorder adds an effect that writes its backlog. A host whose process may be stopped
 * between two calls runs these effects after a call. `null` by default.
 */
export const Flushes = Context.Reference<Array<Effect.Effect<void>> | null>("@wac/core/Recorder/Flushes", {
  defaultValue: () => null
})

/** How records are gathered, and where they go. */
export interface Options<A> {
  /** The kind of record, for the log and the metric. */
  readonly kind: Metrics.RecordKind
  readonly write: (batch: ReadonlyArray<A>) => Effect.Effect<void, StoreError>
  /** Whether a failed batch can safely be written again. If not, it is dropped, since it may have been written. */
  readonly isRepeatable: boolean
  /** The maximum number of records in a batch. */
  readonly size: number
  /** The largest backlog, for records that are larger or more frequent than most. */
  readonly capacity?: number
}

/** Whether a record of the batch, and not the storage, made the write fail. Nothing of the batch was written then. */
const isOfBatch = (cause: Cause.Cause<StoreError>): boolean =>
  Cause.hasDies(cause) || Option.exists(Cause.findErrorOption(cause), ({ fault }) => fault === "command")

/**
 * Creates a recorder that runs as long as its scope. When the scope ends, it writes what is left, for at most two
 * seconds.
 */
export const make = <A>(
  { capacity = defaultCapacity, isRepeatable, kind, size, write }: Options<A>
): Effect.Effect<(record: A) => void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const drop = yield* Metrics.recordDropper(kind)
    const waiting: Array<A> = []
    const some = Latch.makeUnsafe(false)

    /** Writes a batch. If one record cannot be written, only that one is dropped. Returns whether the storage works. */
    const writeAll = (batch: ReadonlyArray<A>): Effect.Effect<boolean> =>
      Effect.suspend(() => write(batch)).pipe(
        Effect.as(true),
        Effect.catchCause((cause) => {
          const isOfRecord = isOfBatch(cause)
          if (isOfRecord && batch.length > 1) {
            const half = batch.length >> 1
            return Effect.map(
              Effect.forEach([batch.slice(0, half), batch.slice(half)], writeAll),
              (written) => written.every((isWritten) => isWritten)
            )
          }
          const room = isRepeatable && !isOfRecord ? capacity - waiting.length : 0
          waiting.unshift(...batch.slice(0, room))
          drop(batch.length - Math.min(batch.length, room))
          return Effect.as(Effect.logDebug(`${kind} could not be recorded`, cause), isOfRecord)
        })
      )

    /** Writes the next batch. Returns whether the storage works. */
    const flush = Effect.uninterruptible(Effect.suspend(() => writeAll(waiting.splice(0, size))))

    const flushAll = Effect.suspend(() => waiting.length === 0 ? Effect.succeed(false) : flush).pipe(
      Effect.repeat({ while: (isWritten) => isWritten })
    )

    const flushes = yield* Flushes
    flushes?.push(Effect.asVoid(flushAll))
    yield* Effect.addFinalizer(() =>
      Effect.andThen(Effect.timeoutOption(flushAll, shutdownTimeout), Effect.sync(() => drop(waiting.length)))
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
