/**
 * Elapsed time in milliseconds, by a monotonic clock. Waits inside a process use it: by the wall clock, they would take
 * too long after somebody set it back.
 */
import { Clock, Effect } from "effect"

/** What a clock's monotonic time reads, in milliseconds. Only differences mean anything. */
export const of = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** {@link of} the current clock. */
export const now: Effect.Effect<number> = Effect.map(Clock.Clock, of)
