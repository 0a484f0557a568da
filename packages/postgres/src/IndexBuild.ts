/**
 * Builds the index of a migration before the migration runs, without blocking writers (`create index concurrently`),
 * since the table may be large.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Schedule } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Schema from "./Schema.ts"
import { codeOf, isPassing } from "./SqlFailure.ts"

/** An index that a migration creates on a table of an earlier migration. */
export interface Index {
  readonly name: string
  readonly table: string
  /** The text after the table's name in `create index`. */
  readonly definition: string
}

/**
 * The statement that the migration itself contains. It creates the index only if the table was created in the same run;
 * otherwise {@link build} has already built it.
 */
export const ifMissing = ({ definition, name, table }: Index): string =>
  `create index if not exists ${name} on ${table} ${definition}`

/** How often to check whether another process has built the index. */
const look = Schedule.spaced("500 millis")

/** The time limits that apply to a statement outside of transactions. */
const timeLimits = ["statement_timeout", "lock_timeout"]

/**
 * Whether another process was faster (`duplicate_table`), or the failure may pass, such as a deadlock with another
 * process.
 */
const isOfOthers = (error: SqlError): boolean => codeOf(error) === "42P07" || isPassing(error)

/**
 * Returns once the index is built. Removes an unfinished index that a stopped process left, and builds it again. Any
 * number of processes may call this at once: one builds, the others wait. `alone` runs an effect in a transaction
 * during which no other process migrates.
 */
export const build = <R>(
  { definition, name, table }: Index,
  alone: (effect: Effect.Effect<void, SqlError>) => Effect.Effect<void, SqlError, R>
): Effect.Effect<void, SqlError, PgClient.PgClient | Schema.Schema | R> =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const { named } = yield* Schema.Schema
    const state = Effect.map(
      client.unsafe<{ state: "missing" | "building" | "left" | "built" }>(named(
        `select case
          when i.indexrelid is null then 'missing'
          when i.indisvalid then 'built'
          -- of a process of another role, only that it builds some index is known
          when exists (select from pg_catalog.pg_stat_progress_create_index p where coalesce(p.relid, t.oid) = t.oid)
            then 'building'
          else 'left'
        end as state
        from (select 'wac.${table}'::regclass::oid as oid) t
          left join pg_catalog.pg_index i on i.indexrelid = to_regclass('wac.${name}')`
      )),
      ([row]) => row!.state
    )
    const remove = Effect.flatMap(
      state,
      (state) => state === "left" ? Effect.asVoid(client.unsafe(named(`drop index wac.${name}`))) : Effect.void
    )
    const create = Effect.scoped(Effect.gen(function*() {
      const session = yield* client.reserve
      // the build may take longer than the database's limits allow; it cannot run in a transaction, so the session's
      // limits are changed
      for (const limit of timeLimits) {
        yield* Effect.acquireRelease(
          session.executeRaw(`set ${limit} = 0`, []),
          () => Effect.ignore(session.executeRaw(`reset ${limit}`, []))
        )
      }
      yield* session.executeRaw(named(`create index concurrently ${name} on wac.${table} ${definition}`), [])
    }))
    const step = Effect.gen(function*() {
      const found = yield* state
      if (found === "left") yield* alone(remove)
      if (found === "missing") {
        yield* Effect.catchIf(create, isOfOthers, () => Effect.void)
      }
      return found
    })
    yield* Effect.repeat(step, { until: (found) => found === "built", schedule: look })
  })
