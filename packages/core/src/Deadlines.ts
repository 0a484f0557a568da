/**
 * Deadlines for many short operations. One timer and one fiber per operation would cost a noticeable part of a send or
 * an attempt, so operations with the same timeout share a fiber.
 */
import { Clock, Duration, Effect, FiberSet, type Scope } from "effect"

interface Deadline {
  readonly at: number
  readonly miss: () => void
}

export interface Deadlines {
  /** Calls `miss` once `timeout` has passed, never earlier. Returns a function that cancels the deadline. */
  readonly set: (timeout: Duration.Duration, miss: () => void) => () => void
}

/**
 * Runs one fiber for each distinct timeout while it has deadlines. When the scope ends, so do the fibers, and open
 * deadlines are never missed.
 */
export const make: Effect.Effect<Deadlines, never, Scope.Scope> = Effect.gen(function*() {
  const clock = yield* Clock.Clock
  const fork = yield* FiberSet.makeRuntime<never>()
  /** By timeout in milliseconds. Insertion order is also the order in which deadlines pass. */
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
