/**
 * That the process is being stopped (contract §8 *SIGTERM*): what waits for others gives up, and what is in flight ends
 * in the time that is left.
 */
import { Clock, Context, Deferred, Duration, Effect } from "effect"

/** From the beginning to the end of what is in flight; an orchestrator that kills after 10 s must find nothing left. */
export const timeout = Duration.millis(9500)

export interface Stopping {
  readonly isBegun: () => boolean
  /** Suspends until it begins. */
  readonly begun: Effect.Effect<void>
  /** Begins it; once. */
  readonly begin: Effect.Effect<void>
  /** What is left of {@link timeout}; all of it before it begins. */
  readonly left: Effect.Effect<Duration.Duration>
}

/** A process that goes on until it is told otherwise. */
export const make = (): Stopping => {
  const begun = Deferred.makeUnsafe<void>()
  let endsAt: number | undefined
  const now = Effect.map(Clock.Clock, (clock) => Number(clock.monotonicTimeNanosUnsafe()) / 1e6)
  return {
    isBegun: () => endsAt !== undefined,
    begun: Deferred.await(begun),
    begin: Effect.map(now, (now) => {
      endsAt ??= now + Duration.toMillis(timeout)
      Deferred.doneUnsafe(begun, Effect.void)
    }),
    left: Effect.map(now, (now) => endsAt === undefined ? timeout : Duration.millis(Math.max(0, endsAt - now)))
  }
}

/** The stopping of the present process; where nobody stops it by this, it never begins. */
export const Stopping = Context.Reference<Stopping>("@wac/core/Stopping", { defaultValue: make })
