/**
 * Logs a repeated failure at most once a minute, with the number of its repetitions, so that an outage of an hour does
 * not fill the log.
 */
import { Cause, Duration, Effect, Exit, type LogLevel } from "effect"
import * as Elapsed from "./Elapsed.ts"

/** How often the same failure is logged. */
export const every = Duration.minutes(1)

/** How many different failures are remembered; beyond that, the oldest is logged again too early. */
const most = 1000

/** Logs a failure of a component. If there is a cause, it is logged with the line. */
export type Log = (kind: string, line: string, cause?: Cause.Cause<unknown>) => Effect.Effect<void>

interface Logged {
  readonly loggedAt: number
  unlogged: number
}

/** The line to log now, or `undefined` if the kind was logged within a minute. */
const due = (kinds: Map<string, Logged>, kind: string, line: string, now: number): string | undefined => {
  const before = kinds.get(kind)
  if (before !== undefined && now - before.loggedAt < Duration.toMillis(every)) {
    before.unlogged += 1
    return
  }
  kinds.delete(kind)
  if (kinds.size >= most) kinds.delete(kinds.keys().next().value!)
  kinds.set(kind, { loggedAt: now, unlogged: 0 })
  const unlogged = before?.unlogged ?? 0
  return unlogged === 0
    ? line
    : `${line} (and ${unlogged} more ${unlogged === 1 ? "time" : "times"} since the last line)`
}

/**
 * Creates the log of a component's failures. `kind` tells failures apart, such as the operation and the error's code.
 * The first failure of a kind is logged immediately, later ones once a minute with their number since.
 */
export const make = (level: LogLevel.Severity = "Warn"): Log => {
  const kinds = new Map<string, Logged>()
  return (kind, line, cause) =>
    Effect.flatMap(Elapsed.now, (now) => {
      const told = due(kinds, kind, line, now)
      if (told === undefined) return Effect.void
      return cause === undefined ? Effect.logWithLevel(level)(told) : Effect.logWithLevel(level)(told, cause)
    })
}

/** Wraps each run of work that is repeated. */
export type Watch = <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Creates the watch over work that is tried again if it fails, such as a runner's loop. `work` names it as the subject
 * of a sentence. A failure is logged as {@link make} does, with its cause, and so is the first success after a logged
 * failure, with the number of failures. Failures stay failures. An interruption does not count as one.
 */
export const watch = (work: string): Watch => {
  const log = new Map<string, Logged>()
  /** Since the first failure that was not followed by a success. */
  let streak: { readonly since: number; failures: number; isTold: boolean } | undefined

  const failed = (cause: Cause.Cause<unknown>) =>
    Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.flatMap(Elapsed.now, (now) => {
      streak ??= { since: now, failures: 0, isTold: false }
      streak.failures++
      const told = due(log, work, `${work} failed; it is tried again`, now)
      if (told === undefined) return Effect.void
      streak.isTold = true
      return Effect.logWarning(told, cause)
    })

  const succeeded = Effect.suspend(() => {
    if (streak === undefined) return Effect.void
    const { failures, isTold, since } = streak
    streak = undefined
    if (!isTold) return Effect.void
    return Effect.flatMap(Elapsed.now, (now) =>
      Effect.logInfo(
        `${work} succeeds again after ${failures} ${failures === 1 ? "failure" : "failures"} in ` +
          Duration.format(Duration.seconds(Math.round((now - since) / 1000)))
      ))
  })

  return (run) => Effect.tapCause(Effect.tap(run, succeeded), failed)
}

/**
 * Runs `work` for each item, even if it fails for some of them, and then fails with the first failure. Use it for a
 * round of work whose items are independent.
 */
export const each = <Item, E, R>(
  items: Iterable<Item>,
  work: (item: Item) => Effect.Effect<void, E, R>,
  options?: { readonly concurrency: number | "unbounded" }
): Effect.Effect<void, E, R> =>
  Effect.flatMap(
    Effect.forEach(items, (item) => Effect.exit(work(item)), options ?? {}),
    (exits) => exits.find(Exit.isFailure) ?? Effect.void
  )
