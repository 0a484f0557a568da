/**
 * What takes part in a run.
 */
import { Effect } from "effect"
import { BenchFailed } from "./BenchFailed.ts"
import type { Database } from "./Database.ts"
import type { Load, Round } from "./Load.ts"
import * as ProcessUse from "./ProcessUse.ts"

export interface Contestant {
  readonly name: string
  /** What has to be done before a round of this load, and is not part of it. */
  readonly prepare?: (load: Load) => Effect.Effect<void, BenchFailed>
  readonly round: (load: Load) => Effect.Effect<Round, BenchFailed>
  /** What its process (PostgreSQL not included) has used so far. */
  readonly use: Effect.Effect<Use>
  readonly database: Database | undefined
  /** Seconds of processor time that its storage has used so far, where that is not PostgreSQL alone. */
  readonly storage?: Effect.Effect<number | undefined>
  /** How many sends (or deliveries) its database holds with all that belongs to one; none if it has no database. */
  readonly complete: Effect.Effect<number, BenchFailed> | undefined
}

/** Bytes at most and seconds of processor time, where they can be read. */
export interface Use {
  readonly memory: number | undefined
  readonly processor: number | undefined
}

/** The use of a process that lives as long as the contestant. */
export const useOf = (pid: number): Effect.Effect<Use> =>
  Effect.promise(async () => ({
    memory: await ProcessUse.peakMemory(pid),
    processor: await ProcessUse.processorTime(pid)
  }))

/** What `complete` is for a contestant that counts with this statement. */
export const counting = (database: Database, sql: string): Effect.Effect<number, BenchFailed> =>
  Effect.map(database.query(sql), ([row]) => row!["count"] as number)

/**
 * Fails unless the contestant recorded, since it had recorded `before`, as many sends as it answered (or deliveries as
 * arrived); those that the end of a round cut off may be there or not.
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
