/**
 * Logs a failure that repeats once a minute with its number, so that an outage of an hour does not fill the log.
 */
import { Clock, Duration, Effect } from "effect"

/** How often the same failure is logged. */
export const every = Duration.minutes(1)

/** How many different failures are remembered; beyond that, the oldest is logged again too early. */
const most = 1000

/**
 * Creates the log of a component's failures. `kind` tells failures apart, such as the operation and the error's code.
 * The first failure of a kind is logged immediately; then one a minute, with the number that came since.
 */
export const make = (): (kind: string, line: string) => Effect.Effect<void> => {
  const kinds = new Map<string, { readonly loggedAt: number; unlogged: number }>()
  return (kind, line) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const before = kinds.get(kind)
      if (before !== undefined && now - before.loggedAt < Duration.toMillis(every)) {
        before.unlogged += 1
        return Effect.void
      }
      kinds.delete(kind)
      if (kinds.size >= most) kinds.delete(kinds.keys().next().value!)
      kinds.set(kind, { loggedAt: now, unlogged: 0 })
      const unlogged = before?.unlogged ?? 0
      return Effect.logWarning(
        unlogged === 0
          ? line
          : `${line} (and ${unlogged} more ${unlogged === 1 ? "time" : "times"} since the last line)`
      )
    })
}
