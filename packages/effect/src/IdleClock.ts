/**
 * The machine's clock with timers that do not keep the process alive, for an instance with `background: false`: between
 * calls, it must not keep the process alive.
 */
import { Clock, Duration, Effect } from "effect"

/** The longest time that a timer accepts, in milliseconds. */
const longest = 2 ** 31 - 1

const sleep = (duration: Duration.Duration): Effect.Effect<void> => {
  const millis = Duration.toMillis(duration)
  if (millis <= 0) return Effect.yieldNow
  if (millis > longest) return Effect.never
  return Effect.callback((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    timer.unref()
    return Effect.sync(() => clearTimeout(timer))
  })
}

export const make = Effect.map(
  Clock.Clock,
  (machine): Clock.Clock => Object.create(machine, { sleep: { value: sleep } }) as Clock.Clock
)
