/**
 * Maintenance that a PostgreSQL server does in background processes and PGlite does not: checkpoints, without which the
 * log grows without bound, and vacuuming, without which dead rows stay and statistics are never collected.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schedule, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Schema } from "./Schema.ts"
import { describe } from "./SqlFailure.ts"

const every = "1 minute"

/** A checkpoint is due after this many bytes of log, since a restart must read them again. */
const logged = 32 * 1024 * 1024

/** Starts the maintenance, until the scope closes. */
export const run = (client: PgClient.PgClient, schema: Schema["Service"]): Effect.Effect<void, never, Scope.Scope> =>
  once(client, schema).pipe(
    Effect.catch((error) => Effect.logWarning(`upkeep of the embedded database failed: ${describe(error)}`)),
    Effect.schedule(Schedule.spaced(every)),
    Effect.forkScoped,
    Effect.asVoid
  )

/** Does the maintenance that is due. */
export const once = Effect.fnUntraced(
  function*(client: PgClient.PgClient, schema: Schema["Service"]): Effect.fn.Return<void, SqlError> {
    // autovacuum's usual rule: a fixed number and a fraction of the table
    const due = yield* client<{ name: string }>`
      select relname as name from pg_catalog.pg_stat_user_tables
      where schemaname = ${schema.name}
        and (n_dead_tup > 1000 + 0.1 * n_live_tup or n_mod_since_analyze > 1000 + 0.1 * n_live_tup)`
    for (const { name } of due) yield* client.unsafe(`vacuum (analyze) ${schema.quoted}.${name}`)
    const [log] = yield* client<{ due: boolean }>`
      select pg_current_wal_insert_lsn() - redo_lsn > ${logged} as due from pg_control_checkpoint()`
    if (log?.due === true) yield* client`checkpoint`
  }
)
