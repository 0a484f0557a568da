/**
 * Deadlines of many short undertakings: a timer, and a fiber, for each would cost a good part of a send or an attempt.
 */
import { Clock, Duration, Effect, FiberSet, type Scope } from "effect"

interface Deadline {
  readonly at: number
  readonly miss: () => void
}

export interface Deadlines {
  /** `miss` is called once `timeout` is over, never before, unless what this answers was called until then. */
  readonly set: (timeout: Duration.Duration, miss: () => void) => () => void
}

/** One fiber for all deadlines of the same length, as long as there are any; it ends with the scope, and they with it. */
export const make: Effect.Effect<Deadlines, never, Scope.Scope> = Effect.gen(function*() {
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime<never>()
  /** By length in milliseconds; those set first, which are over first, at the beginning. */
  const lengths = new Map<number, Set<Deadline>>()

  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

  const watch = (milliseconds: number, deadlines: Set<Deadline>): Effect.Effect<void> =>
    Effect.suspend(() => {
      for (const deadline of deadlines) {
        const left = deadline.at - now()
        if (left > 0) return Effect.andThen(Effect.sleep(Math.ceil(left)), watch(milliseconds, deadlines))
        deadlines.delete(deadline)
        deadline.miss()
      }
      lengths.delete(milliseconds)
      return Effect.void
    })

  return {
    set: (timeout, miss) => {
      const milliseconds = Duration.toMillis(timeout)
      const deadline = { at: now() + milliseconds, miss }
      const deadlines = lengths.get(milliseconds)
      if (deadlines !== undefined) deadlines.add(deadline)
      else {
        const begun = new Set([deadline])
        lengths.set(milliseconds, begun)
        fork(watch(milliseconds, begun))
      }
      return () => lengths.get(milliseconds)?.delete(deadline)
    }
  }
})
