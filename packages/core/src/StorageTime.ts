/**
 * Which clock rules an instant that several processes compare (contract §7): leases, due times, expiries, windows, the
 * buckets of rate limits. It is the storage's, read when the transition is judged, behind whatever it waits for; not
 * the clock of the process that asks. So processes whose clocks differ agree, and whoever had to wait for a lock, or
 * stood still, is judged by the time at which it is their turn.
 *
 * A command of a port names its asker's time as `now`, and instants that follow from that (`leaseUntil`, `retryAt`,
 * `idleUntil`, …). Of these a storage keeps the length: what a command says is in 30 seconds ends 30 seconds after the
 * storage's own time, and answers tell the storage's times.
 */
import { Clock, Context, Effect } from "effect"
import type { Instant } from "./Time.ts"

/** Whose time a transition is judged at. */
export type Judge = "storage" | "asker"

/**
 * `storage`, but for tests: where time passes as a test says, a storage takes each command's `now` for its own time.
 * Read when a storage is built. The conformance suites set it to `asker`, and a storage must do as it says.
 */
export const JudgedBy = Context.Reference<Judge>("@wac/core/StorageTime/JudgedBy", {
  defaultValue: () => "storage"
})

/**
 * The command as its storage judges it at `now`: what it names at `fields` is as far ahead of that as it was of the
 * asker's time. Pure.
 */
export const judgedAt = <Command extends { readonly now: Instant }, Field extends keyof Command = never>(
  command: Command,
  now: Instant,
  ...fields: ReadonlyArray<Field>
): Command => {
  const judged: Record<PropertyKey, unknown> = { ...command, now }
  for (const field of fields) {
    const at = command[field]
    if (typeof at === "number") judged[field] = at - command.now + now
  }
  return judged as Command
}

/** A storage's own clock, for one that lives in the process that reads it: what it says to somebody who asks at a time. */
export const ofProcess: Effect.Effect<(asked: Instant) => Instant> = Effect.gen(function*() {
  const clock = yield* Clock.Clock
  return (yield* JudgedBy) === "asker" ? (asked: Instant) => asked : (_: Instant) => clock.currentTimeMillisUnsafe()
})
