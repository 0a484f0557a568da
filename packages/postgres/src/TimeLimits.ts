/**
 * The time limits that a server, a database or a role may set for its sessions, and how a statement escapes them. The
 * limits are for the statements of applications; a migration takes as long as it takes.
 */
import { PgConnection } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as FatalReason from "./FatalReason.ts"

/** The settings. Servers before PostgreSQL 17 do not have the last one. */
const names = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "transaction_timeout"]

const lift = (isLocal: boolean): string =>
  `select set_config(name, '0', ${isLocal}) from pg_catalog.pg_settings where name in ('${names.join("', '")}')`

/** Ends the limits for the rest of the transaction. */
export const liftLocally = lift(true)

/**
 * Runs a statement that cannot run in a transaction, without time limits. It never changes a session that others use:
 * in a pooler's sessions, the limits of the database's user apply.
 */
export class Unlimited extends Context.Service<Unlimited, {
  readonly run: (text: string) => Effect.Effect<void, SqlError>
  /** Whether it runs in a pooler's session after all, where limits apply. */
  readonly isPooled: boolean
}>()("@wac/postgres/TimeLimits/Unlimited") {}

/** Runs each statement on a connection of its own. */
export const onConnection = (config: PgConnection.Config, isPooled: boolean): Unlimited["Service"] =>
  Unlimited.of({
    isPooled,
    run: (text) =>
      Effect.scoped(Effect.gen(function*() {
        const connection = yield* PgConnection.make(config)
        FatalReason.keep(connection)
        if (!isPooled) yield* connection.query(lift(false), [], false)
        yield* connection.query(text, [], false)
      }))
  })
