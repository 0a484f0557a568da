/**
 * Keeps the memory of the process closer to what is in use than V8's defaults would: while many requests arrive, while
 * large files pass, and after the start.
 */
import { Duration, Effect } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/**
 * By how many percent the heap may grow after a collection before the next one. V8's default lets it grow to four times
 * its size: with 300 connections the process grew by 150 MB; with this setting by 85 MB, at the same throughput.
 */
const growth = 50

/** Limits the growth of this process's heap from now on. */
export const bounded = (): void => setFlagsFromString(`--heap-growing-percent=${growth}`)

/** V8's garbage collector, as a function. */
interface Collect {
  (collection: {
    readonly type: "major"
    /** Collects after our call: within it, V8 would have to search the stack for references. */
    readonly execution: "async"
    /** Also returns memory to the system. */
    readonly flavor: "last-resort"
  }): Promise<void>
  /** Collects young objects, within the call. */
  (collection: { readonly type: "minor" }): void
}

/** Returns V8's collector, which exists only in contexts that are made after the flag is set. */
const collector = (): Collect => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc")
}

/** By then the start is over, and so is the work that it delays (`documentationAfter` in `StartCommand.ts`). */
const settledAfter = Duration.seconds(3)

/**
 * Collects once what only the start needed, about 35 MB, which V8 alone would keep until the process has a load. The
 * collection takes about 50 ms, in which nothing else runs.
 */
export const settled: Effect.Effect<void> = Effect.promise(() =>
  collector()({ type: "major", execution: "async", flavor: "last-resort" })
).pipe(Effect.delay(settledAfter))

/**
 * How many bytes of buffers may be added before the unused ones are freed. V8 alone begins at 64 MiB and adds about as
 * much while it collects: eight uploads of 100 MB at once made a process grow by 117 MB, in 6.7 s; with this setting by
 * 36 MB, in 4.3 s. A collection takes 3 to 4 ms.
 */
const mostBuffers = 8 * 1024 * 1024

/** The bytes of files that pass between two counts of the buffers; a count takes some microseconds. */
const countedEach = 1024 * 1024

/**
 * Returns the function for `MediaLibrary.PassageObserver`, which is called with the number of bytes that passed, and
 * frees the buffers of files soon after.
 */
export const filePassage = (): (bytes: number) => void => {
  const collect = collector()
  let untilCount = countedEach
  let least = Infinity
  return (bytes) => {
    untilCount -= bytes
    if (untilCount > 0) return
    untilCount = countedEach
    const { arrayBuffers } = process.memoryUsage()
    least = Math.min(least, arrayBuffers)
    if (arrayBuffers - least < mostBuffers) return
    collect({ type: "minor" })
    // V8 frees the memory on another thread, so only the next count shows what is left
    least = Infinity
  }
}
