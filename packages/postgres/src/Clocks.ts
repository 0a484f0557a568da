/**
 * Times: the database's, by which is judged what processes share (`StorageTime`), and how far clocks may differ.
 */
import { Duration } from "effect"

/** The database's time as it is read: later with each reading. Who waits for locks reads it behind them. */
export const now = "floor(extract(epoch from clock_timestamp()) * 1000)::bigint"

/**
 * The asker's time, where a parameter says it, else the database's. A subquery, so that it is read once a statement and
 * an index can be searched by it.
 */
export const at = (parameter: string): string => `(select coalesce(${parameter}::bigint, ${now}))`

/**
 * Processes' clocks agree to within this (milliseconds), as do the order of writing and the times of what was written: what is
 * further apart by its times was written in their order.
 */
export const spread = Duration.toMillis(Duration.hours(1))
