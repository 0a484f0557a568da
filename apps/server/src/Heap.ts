/**
 * Keeps the memory of this process closer to what is in use than V8's defaults, so that a flood of requests and large
 * files cost little memory.
 */
import { Duration } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/**
 * By how many percent the heap may grow after a collection before the next one. V8's default lets it grow to four times
 * the size: with 300 connections the process grew by 150 MB; with this setting by 85 MB, at the same throughput.
 */
const growth = 50

/**
 * How many bytes of buffers may be added before a collection. V8 alone lets 64 MiB of buffers that nobody uses pile up
 * beside the heap, and more while it collects: eight large uploads at once made the process grow by 85 MB.
 */
const mostBuffers = 16 * 1024 * 1024

/** How often the buffers are counted, which takes a few microseconds. */
const every = Duration.toMillis(Duration.millis(50))

type Collect = (options: { readonly type: "minor" | "major" }) => void

/** V8's collector, which it only names where the flag is set. */
const collector = (): Collect => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc")
}

/** Collects buffers as they are added: first the young ones, which takes about a millisecond, and all if that is not enough. */
const collectBuffers = (collect: Collect): void => {
  let least = Infinity
  let isYoungCollected = false
  setInterval(() => {
    const { arrayBuffers } = process.memoryUsage()
    least = Math.min(least, arrayBuffers)
    if (arrayBuffers - least < mostBuffers) {
      isYoungCollected = false
      return
    }
    collect({ type: isYoungCollected ? "major" : "minor" })
    // what a full collection leaves is in use
    if (isYoungCollected) least = process.memoryUsage().arrayBuffers
    isYoungCollected = !isYoungCollected
  }, every).unref()
}

/** Limits the growth of this process's memory from now on. */
export const bounded = (): void => {
  setFlagsFromString(`--heap-growing-percent=${growth}`)
  collectBuffers(collector())
}
