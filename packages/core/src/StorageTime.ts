/**
 * Which clock judges instants that several processes compare (contract §7): leases, due times, expiries, windows and
 * rate-limit buckets. It is the storage's clock, read once the transition holds its locks, not the calling process's
 * clock. So processes whose clocks differ agree, and a process that waited for a lock or was suspended is judged by the
 * time at which its turn comes.
 *
 * A port's command carries the caller's time as `now`, and instants derived from it (`leaseUntil`, `retryAt`,
 * `idleUntil`, …). The storage keeps the durations: an instant 30 seconds after the caller's `now` becomes 30 seconds
 * after the storage's own time. Answers carry the storage's times.
 */
import { Clock, Context, Effect } from "effect"
import type { Instant } from "./Time.ts"

/** Whose clock judges a transition: the storage's, or that of the process that asked for it. */
export type Judge = "storage" | "asker"

/**
 * `storage`, except in tests that control time: there each command's `now` is the storage's time. Read when a storage
 * is built. The conformance suites set it to `asker`, and every storage must obey it.
 */
export const JudgedBy = Context.Reference<Judge>("@wac/core/StorageTime/JudgedBy", {
  defaultValue: () => "storage"
})

/** Sets the instant in `from`; each instant in `fields` keeps its distance from it. */
const moved = <Moved extends object>(
  before: Moved,
  from: keyof Moved,
  to: Instant,
  fields: ReadonlyArray<keyof Moved>
): Moved => {
  const after: Record<PropertyKey, unknown> = { ...before, [from]: to }
  for (const field of fields) {
    const at = before[field]
    if (typeof at === "number") after[field] = at - (before[from] as Instant) + to
  }
  return after as Moved
}

/** Translates a command to the storage's time `now`: each instant in `fields` keeps its distance from `now`. Pure. */
export const judgedAt = <Command extends { readonly now: Instant }, Field extends keyof Command = never>(
  command: Command,
  now: Instant,
  ...fields: ReadonlyArray<Field>
): Command => moved(command, "now", now, fields)

/** Creates a row at the storage's time: each instant in `fields` keeps its distance from `createdAt`. Pure. */
export const createdAt = <Row extends { readonly createdAt: Instant }, Field extends keyof Row>(
  row: Row,
  now: Instant,
  ...fields: ReadonlyArray<Field>
): Row => moved(row, "createdAt", now, fields)

/** The clock of a storage that lives in the calling process, as `Known.now`. Obeys {@link JudgedBy}. */
export const ofProcess: Effect.Effect<(asked: Instant) => Instant> = Effect.gen(function*() {
  const clock = yield* Clock.Clock
  return (yield* JudgedBy) === "asker" ? (asked: Instant) => asked : (_: Instant) => clock.currentTimeMillisUnsafe()
})

/** A time (`at`) that the storage returned, and when the process asked for it and got it, by the process's clock. */
export interface Answered {
  readonly asked: Instant
  readonly at: Instant
  readonly answered: Instant
}

/**
 * Updates the estimate of how far the process's clock is ahead of the storage's, in milliseconds. The storage read its
 * clock between the request and the response, so a quick response is exact and a slow one only sets wide bounds. The
 * estimate changes by the least amount that fits these bounds. So it also follows a clock that was set. Pure.
 */
export const aheadAfter = (estimated: number | undefined, { answered, asked, at }: Answered): number =>
  estimated === undefined
    ? (asked + answered) / 2 - at
    : Math.min(Math.max(estimated, asked - at), answered - at)
