/** A clock that follows another clock and can be moved forward, for a simulator in a process of its own. */
import { type Clock, Duration, Effect } from "effect"

/** A clock, and the function that moves it forward. */
export interface MovableClock {
  readonly clock: Clock.Clock
  /**
   * Moves the clock forward by milliseconds. Waits that thereby end do so immediately, in order of time; waits that
   * begin afterwards start at the new time.
   */
  readonly advance: (millis: number) => void
}

interface Sleeper {
  readonly due: number
  readonly wake: () => void
  timer: ReturnType<typeof setTimeout> | undefined
}

/** The longest wait that `setTimeout` supports. */
const longestTimer = 2 ** 31 - 1
const nanos = 1_000_000n

/** The part of the followed clock that is needed. */
export type Base = Pick<
  Clock.Clock,
  "currentTimeMillisUnsafe" | "currentTimeNanosUnsafe" | "monotonicTimeNanosUnsafe"
>

/** Makes a clock that shows the time of `base`, plus the time by which it was moved forward. */
export const make = (base: Base): MovableClock => {
  let ahead = 0
  const sleepers = new Set<Sleeper>()
  const now = () => base.currentTimeMillisUnsafe() + ahead

  const arm = (sleeper: Sleeper): void => {
    clearTimeout(sleeper.timer)
    const left = sleeper.due - now()
    if (left > 0) {
      sleeper.timer = setTimeout(() => arm(sleeper), Math.min(left, longestTimer))
    } else {
      sleepers.delete(sleeper)
      sleeper.wake()
    }
  }

  const currentTimeNanosUnsafe = () => base.currentTimeNanosUnsafe() + BigInt(ahead) * nanos
  const monotonicTimeNanosUnsafe = () => base.monotonicTimeNanosUnsafe() + BigInt(ahead) * nanos

  return {
    clock: {
      currentTimeMillisUnsafe: now,
      currentTimeMillis: Effect.sync(now),
      currentTimeNanosUnsafe,
      currentTimeNanos: Effect.sync(currentTimeNanosUnsafe),
      monotonicTimeNanosUnsafe,
      monotonicTimeNanos: Effect.sync(monotonicTimeNanosUnsafe),
      sleep: (duration) =>
        Effect.callback<void>((resume) => {
          const sleeper: Sleeper = {
            due: now() + Duration.toMillis(duration),
            wake: () => resume(Effect.void),
            timer: undefined
          }
          sleepers.add(sleeper)
          arm(sleeper)
          return Effect.sync(() => {
            clearTimeout(sleeper.timer)
            sleepers.delete(sleeper)
          })
        })
    },
    advance: (millis) => {
      ahead += Math.max(0, millis)
      for (const sleeper of [...sleepers].sort((one, other) => one.due - other.due)) arm(sleeper)
    }
  }
}
