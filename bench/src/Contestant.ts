/**
 * The interface of a contestant: how to load it, and how to measure what it used and recorded.
 */
import { Effect } from "effect"
import { BenchFailed } from "./BenchFailed.ts"
import type { Database } from "./Database.ts"
import type { Load, Round } from "./Load.ts"
import * as ProcessUse from "./ProcessUse.ts"

export interface Contestant {
  readonly name: string
  /** Prepares a round of this load. The preparation is not measured. */
  readonly prepare?: (load: Load) => Effect.Effect<void, BenchFailed>
  readonly round: (load: Load) => Effect.Effect<Round, BenchFailed>
  /** The resources that the contestant's process has used so far, without PostgreSQL. */
  readonly use: Effect.Effect<Use>
  readonly database: Database | undefined
  /** The processor time in seconds that its storage has used so far, if it uses storage other than PostgreSQL. */
  readonly storage?: Effect.Effect<number | undefined>
  /** The number of completely recorded sends (or deliveries) in its database; undefined if it has no database. */
  readonly complete: Effect.Effect<number, BenchFailed> | undefined
}

/** Peak memory in bytes and processor time in seconds; undefined where the platform does not report them. */
export interface Use {
  readonly memory: number | undefined
  readonly processor: number | undefined
}

/** The resources used by a process that lives as long as the contestant. */
export const useOf = (pid: number): Effect.Effect<Use> =>
  Effect.promise(async () => ({
    memory: await ProcessUse.peakMemory(pid),
    processor: await ProcessUse.processorTime(pid)
  }))

/** Builds `complete` from a statement that returns one row with a `count`. */
export const counting = (database: Database, sql: string): Effect.Effect<number, BenchFailed> =>
  Effect.map(database.query(sql), ([row]) => row!["count"] as number)

/**
 * Fails unless the contestant has recorded, since the count was `before`, as many sends as it answered (or as many
 * deliveries as arrived). Sends that were cut off at the end of a round may be recorded or not.
 */
export const verify = (
  { complete, name }: Contestant,
  before: number,
  { answered, cutOff }: { readonly answered: number; readonly cutOff: number }
): Effect.Effect<void, BenchFailed> =>
  complete === undefined ? Effect.void : Effect.flatMap(complete, (all) => {
    const recorded = all - before
    return recorded < answered || recorded > answered + cutOff
      ? Effect.fail(
        new BenchFailed({
          message: `${name} carried out ${answered}, at most ${cutOff} more, and recorded ${recorded}`
        })
      )
      : Effect.void
  })
