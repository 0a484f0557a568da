/**
 * The shutdown of the process (contract §8 *SIGTERM*). Once it has begun, waits are cut short, and work in flight ends
 * within the time that is left.
 */
import { Context, Deferred, Duration, Effect } from "effect"
import * as Elapsed from "./Elapsed.ts"

/**
 * How long work in flight may take after shutdown begins. An orchestrator that kills after 10 s must find nothing left.
 */
export const timeout = Duration.millis(9500)

/** The shutdown state of a process. */
export interface Stopping {
  readonly isBegun: () => boolean
  /** Suspends until shutdown begins. */
  readonly begun: Effect.Effect<void>
  /** Begins shutdown. Further calls have no effect. */
  readonly begin: Effect.Effect<void>
  /** The time left of {@link timeout}, or all of it before shutdown begins. */
  readonly left: Effect.Effect<Duration.Duration>
}

/** Creates the shutdown state of a process that is not stopping yet. */
export const make = (): Stopping => {
  const begun = Deferred.makeUnsafe<void>()
  let endsAt: number | undefined
  return {
    isBegun: () => endsAt !== undefined,
    begun: Deferred.await(begun),
    begin: Effect.map(Elapsed.now, (now) => {
      endsAt ??= now + Duration.toMillis(timeout)
      Deferred.doneUnsafe(begun, Effect.void)
    }),
    left: Effect.map(Elapsed.now, (now) => endsAt === undefined ? timeout : Duration.millis(Math.max(0, endsAt - now)))
  }
}

/** The shutdown state of this process. It never begins unless the host calls `begin`. */
export const Stopping = Context.Reference<Stopping>("@wac/core/Stopping", { defaultValue: make })
