/**
 * The types of steps: pure functions that decide a storage's transitions. A storage loads what a batch of commands
 * needs, calls the step, and writes the result, all in one atomic transaction. So each rule exists once, and every
 * storage applies it.
 *
 * Rows in `Loaded` stay locked until the writes are done, unless their type says that they may be a moment old. Locked
 * rows are written as values; unlocked rows (counters) are written as differences.
 */
import type { Instant } from "./Time.ts"

/** The records that every step loads. */
export interface Known {
  /**
   * The time at which a command is judged, given the caller's time `asked`. It is the storage's own time, read after
   * its locks were acquired (`StorageTime`). If `StorageTime.JudgedBy` is `asker`, it is `asked` itself.
   */
  readonly now: (asked: Instant) => Instant
}

/** A step's result: an answer to each command, in their order, and what the storage must write. */
export interface Decided<Answer, Writes> {
  readonly answers: ReadonlyArray<Answer>
  readonly writes: Writes
}

/** More rows that a rare case needs. The storage loads them and calls the step again. */
export interface Needs<Need> {
  readonly needs: ReadonlyArray<Need>
}

/**
 * Decides a batch of commands. Each command is decided as if the previous ones had already been written. Pure: the same
 * commands over the same rows always have the same result. A step with a `Need` may ask for more rows instead of
 * deciding.
 */
export type Decide<Command, Loaded extends Known, Answer, Writes, Need = never> = (
  loaded: Loaded,
  commands: ReadonlyArray<Command>
) => Decided<Answer, Writes> | ([Need] extends [never] ? never : Needs<Need>)
