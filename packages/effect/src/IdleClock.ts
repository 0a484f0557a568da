/**
 * The machine's clock, whose timers do not keep the process alive: what an instance waits for without a call under way
 * must not.
 */
import { Clock, Duration, Effect } from "effect"

/** The longest timer of the runtime, in milliseconds. */
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
