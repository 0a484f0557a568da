/**
 * Keeps the memory of the process closer to what is in use than V8's defaults, so that a flood of requests and large
 * files cost little memory, and the start none that is not needed after it.
 */
import { Duration, Effect } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/**
 * By how many percent the heap may grow after a collection before the next one. V8's default lets it grow to four times
 * the size: with 300 connections the process grew by 150 MB; with this setting by 85 MB, at the same throughput.
 */
const growth = 50

/** Limits the growth of this process's heap from now on. */
export const bounded = (): void => setFlagsFromString(`--heap-growing-percent=${growth}`)

/** How V8's collector can be called. */
interface Collect {
  (collection: {
    readonly type: "major"
    /** Not within a call of ours, whose stack V8 would have to search for references. */
    readonly execution: "async"
    /** Gives memory back to the system too. */
    readonly flavor: "last-resort"
  }): Promise<void>
  /** Collects what is young, within the call. */
  (collection: { readonly type: "minor" }): void
}

/** V8's collector, which it only names where the flag is set. */
const collector = (): Collect => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc")
}

/** The start is over, and so is what it left for a moment later (`documentationAfter` in `StartCommand.ts`). */
const settledAfter = Duration.seconds(3)

/**
 * Gives back once what only the start needed, about 35 MB: V8 by itself keeps it until the process has a load. It takes
 * about 50 ms, in which nothing else runs.
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

/** The buffers are counted each time that so many bytes of files have passed; counting takes some microseconds. */
const countedEach = 1024 * 1024

/** For `MediaLibrary.PassageObserver`: frees the buffers of files soon after the files have passed. */
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
    // V8 frees the memory beside the program, so what is left is known only at the next count
    least = Infinity
  }
}
