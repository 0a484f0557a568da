/**
 * The deadline of a shutdown: the process exits in time even if the database, the provider or receivers do not respond.
 */
import { Effect, Exit } from "effect"
import { type Form, teardown } from "./Teardown.ts"

/** Milliseconds from the signal (contract §8); supervisors kill a process after 10 s. */
const stopsWithin = 9500

const signals = ["SIGTERM", "SIGINT", "SIGQUIT"] as const

/**
 * Runs an effect. {@link stopsWithin} after a signal, or after the effect's end, the process exits even if it has not
 * closed everything. For its work in progress that is like a crash, from which other processes recover everything.
 * `form` is how an error is printed.
 */
export const enforced = <A, E, R>(main: Effect.Effect<A, E, R>, form: Form): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let isRunning = false
    const begin = (exit: Exit.Exit<unknown, unknown>): void => {
      if (isRunning) return
      isRunning = true
      setTimeout(() => teardown(form)(exit, (code) => process.exit(code)), stopsWithin).unref()
    }
    const asked = (): void => begin(Exit.void)
    // does not wait for the end of the effect, which may be uninterruptible
    for (const signal of signals) process.once(signal, asked)
    return Effect.onExit(main, (exit) => Effect.sync(() => begin(exit)))
  })
