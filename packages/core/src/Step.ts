/**
 * Steps: what a storage's transitions decide, as pure functions of what was loaded. A storage loads what a batch of
 * commands needs, has it decided here, and writes what comes of it, all in one atomic step. So a rule is told once, and
 * every storage keeps it.
 *
 * What is `Loaded` is locked until the writes are there, unless its type says that it may be a moment old. What is
 * locked is written as a value; what is not (counters) as a difference.
 */
import type { Instant } from "./Time.ts"

/** What every step knows. */
export interface Known {
  /**
   * The time at which a command is judged that was asked at another: the storage's own, read behind its locks
   * (`StorageTime`). A storage whose `StorageTime.JudgedBy` is `asker` answers with the asker's.
   */
  readonly now: (asked: Instant) => Instant
}

/** What a step decides: an answer to each command, in their order, and what is to be written. */
export interface Decided<Answer, Writes> {
  readonly answers: ReadonlyArray<Answer>
  readonly writes: Writes
}

/** What a rare case must load besides. Then the batch is decided again, with that. */
export interface Needs<Need> {
  readonly needs: ReadonlyArray<Need>
}

/**
 * Decides a batch of commands. Each is decided as if those before it had been written already. Pure: the same commands
 * over the same rows decide the same. Where a step has a `Need`, it may ask for more instead of deciding.
 */
export type Decide<Command, Loaded extends Known, Answer, Writes, Need = never> = (
  loaded: Loaded,
  commands: ReadonlyArray<Command>
) => Decided<Answer, Writes> | ([Need] extends [never] ? never : Needs<Need>)
