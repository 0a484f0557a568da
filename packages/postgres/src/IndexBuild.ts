/**
 * Builds the index of a migration before the migration runs, without blocking writers (`create index concurrently`),
 * since the table may be large.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Schedule } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { OpenError } from "./OpenError.ts"
import * as Schema from "./Schema.ts"
import { codeOf, describe, isPassing } from "./SqlFailure.ts"
import * as TimeLimits from "./TimeLimits.ts"

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

/**
 * Whether another process was faster (`duplicate_table`), or the failure may pass, such as a deadlock with another
 * process.
 */
const isOfOthers = (error: SqlError): boolean => codeOf(error) === "42P07" || isPassing(error)

/** Whether the statement was ended as a time limit ends it: `query_canceled`, `lock_not_available`. */
const isLimited = (error: SqlError): boolean => ["57014", "55P03"].includes(codeOf(error) ?? "")

/**
 * Returns once the index is built. Removes an unfinished index that a stopped process left, and builds it again. Any
 * number of processes may call this at once: one builds, the others wait. `alone` runs an effect in a transaction
 * during which no other process migrates. Fails if a time limit ends the build, which can be only where it runs in a
 * session of a pooler.
 */
export const build = <R>(
  { definition, name, table }: Index,
  alone: (effect: Effect.Effect<void, SqlError>) => Effect.Effect<void, SqlError, R>
): Effect.Effect<void, SqlError | OpenError, PgClient.PgClient | Schema.Schema | TimeLimits.Unlimited | R> =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const { named } = yield* Schema.Schema
    const unlimited = yield* TimeLimits.Unlimited
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
    const create = Effect.catchIf(
      unlimited.run(named(`create index concurrently ${name} on wac.${table} ${definition}`)),
      (error) => unlimited.isPooled && isLimited(error),
      (error) =>
        Effect.fail(
          new OpenError({
            message:
              `the index ${name} cannot be built in a pooler's session: ${describe(error)}. Migrate with a URL ` +
              "that leads to PostgreSQL itself, where no time limit applies to this"
          })
        )
    )
    const step = Effect.gen(function*() {
      const found = yield* state
      if (found === "left") yield* alone(remove)
      if (found === "missing") {
        yield* Effect.catchIf(create, (error) => error._tag === "SqlError" && isOfOthers(error), () => Effect.void)
      }
      return found
    })
    yield* Effect.repeat(step, { until: (found) => found === "built", schedule: look })
  })
