/**
 * SQL for the database's time, which judges what processes share (`StorageTime`), and the maximum difference between
 * clocks.
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

/** The caller's time (`Asked`) as an input of a statement, named as {@link at} says. */
export const asked: Input<Time.Instant | undefined, string> = {
  size: 1,
  given: (first) => at(parameter(first)),
  encode: (now) => [now ?? null]
}

/**
 * The maximum difference of processes' clocks in milliseconds, and so between the order of writing and the order of
 * times: rows whose times are further apart were written in that order.
 */
export const spread = Duration.toMillis(Duration.hours(1))
