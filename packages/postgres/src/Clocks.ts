/**
 * SQL for the database's time, by which everything that processes share is judged (`StorageTime`), and the maximum
 * difference between processes' clocks.
 */
import type { Time } from "@wac/core"
import { Duration } from "effect"
import { type Input, parameter } from "./Statement.ts"

/** The database's current time, later with each reading. Read it after waiting for locks. */
export const now = "floor(extract(epoch from clock_timestamp()) * 1000)::bigint"

/**
 * The caller's time if the parameter is set, else the database's. It is a subquery, so that it is read once per
 * statement and an index can be searched by it.
 */
export const at = (parameter: string): string => `(select coalesce(${parameter}::bigint, ${now}))`

/** The caller's time as an input of a statement, whose text names it by {@link at}. */
export const asked: Input<Time.Instant | undefined, string> = {
  size: 1,
  given: (first) => at(parameter(first)),
  encode: (now) => [now ?? null]
}

/**
 * The maximum difference between processes' clocks, in milliseconds. Rows whose times differ by more were written in
 * the order of their times.
 */
export const spread = Duration.toMillis(Duration.hours(1))
