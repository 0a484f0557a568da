/**
 * Time that passes, in milliseconds, by a clock that nobody sets: for waits inside a process, which a wall clock that
 * is set back would make as long as the way that it was set.
 */
import { Clock, Effect } from "effect"

/** The time by a clock. Only differences mean anything. */
export const of = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** The time by the present clock. */
export const now: Effect.Effect<number> = Effect.map(Clock.Clock, of)
