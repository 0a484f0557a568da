/**
 * The caller's time as a parameter of statements (`StorageTime`). It is omitted, so that the database's time applies,
 * except in tests that control time.
 */
import { StorageTime, type Time } from "@wac/core"
import { Effect } from "effect"

/** The parameter for a command's `now`: `undefined` for the database's time. */
export type CallerClock = (now: Time.Instant) => Time.Instant | undefined

/** Makes the clock: the caller's own time if tests control time (`StorageTime.JudgedBy`), otherwise none. */
export const callerClock: Effect.Effect<CallerClock> = Effect.map(
  StorageTime.JudgedBy,
  (judge): CallerClock => judge === "asker" ? (now) => now : () => undefined
)
