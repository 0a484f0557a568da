/**
 * The last resort of a stop: whatever the database, the provider and receivers do, the process ends in its time.
 */
import { Effect, Exit } from "effect"
import { teardown } from "./Teardown.ts"

/** Contract §8; what supervises processes kills after 10 s. Milliseconds from the signal on. */
const stopsWithin = 9500

const signals = ["SIGTERM", "SIGINT"] as const

/**
 * From a signal on, or from the end of the effect, the process has its time to close what it has open; then it ends
 * without. To whoever looks at what it had in hand that is a crash, after which everything is found again.
 */
export const enforced = <A, E, R>(main: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let isRunning = false
    const begin = (exit: Exit.Exit<unknown, unknown>): void => {
      if (isRunning) return
      isRunning = true
      setTimeout(() => teardown(exit, (code) => process.exit(code)), stopsWithin).unref()
    }
    const asked = (): void => begin(Exit.void)
    // not left to the end of the effect, which may be where nothing can interrupt it
    for (const signal of signals) process.once(signal, asked)
    return Effect.onExit(main, (exit) => Effect.sync(() => begin(exit)))
  })
