/**
 * The client of a PostgreSQL server: its connections, settings and notifications. Detects poolers, and follows the
 * primary of several hosts.
 */
import { PgClient, PgConnection, type PgPool } from "@effect/sql-pg"
import { Effect, Layer, Redacted, Result, Schedule, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Encryption from "./Encryption.ts"
import * as FatalReason from "./FatalReason.ts"
import { Notifications } from "./Notifications.ts"
import { OpenError } from "./OpenError.ts"
import * as Primary from "./Primary.ts"
import * as Schema from "./Schema.ts"
import * as ServerUrl from "./ServerUrl.ts"
import { maxIdle, planning, Sessions } from "./Sessions.ts"
import { describe, isPassing, problemOf } from "./SqlFailure.ts"
import { serverTimeout, StatementTimeout } from "./StatementTimeout.ts"
import * as Target from "./Target.ts"

export interface Options {
  /**
   * `postgres://user:password@host:port/database?sslmode=…`. Of several hosts (`host:port,host:port`), the one that
   * accepts writes is used.
   */
  readonly url: Redacted.Redacted
  /** A URL to the same database without a pooler, if `url` leads to one. Used for notifications and migrations. */
  readonly listenUrl?: Redacted.Redacted | undefined
  /**
   * The maximum number of this process's connections, in addition to one for notifications: at least 2, by default 10.
   */
  readonly maxConnections?: number
  /**
   * The schema of everything of wac's, made when it is missing. By default `wac`, or `public` if an earlier version
   * made the tables there.
   */
  readonly schema?: string | undefined
}

const nobody = new Error("nobody was connected to")

/** Fails if the client cannot use the configuration. Connects to nothing. */
const read = (config: PgConnection.Config) =>
  PgConnection.make({
    ...config,
    stream: () => {
      throw nobody
    }
  }).pipe(
    Effect.scoped,
    Effect.catchIf(({ reason }) => reason.cause === nobody, () => Effect.void)
  )

/** A server that starts at the same time as this process may take a while to respond. */
const again = Schedule.upTo(Schedule.spaced("200 millis"), { duration: "10 seconds" })

const waited = <A, R>(effect: Effect.Effect<A, SqlError, R>): Effect.Effect<A, SqlError, R> =>
  Effect.retry(effect, {
    while: (error) => isPassing(error) && !Encryption.isRefusal(error.reason.cause),
    schedule: again
  })

/** The target of connections: one host, or whichever of several is the primary. */
const destination = Effect.fnUntraced(function*(
  url: Redacted.Redacted
): Effect.fn.Return<PgConnection.Config, SqlError | OpenError, Scope.Scope> {
  const targets = yield* Effect.mapError(
    Effect.fromResult(Result.flatMap(ServerUrl.parse(Redacted.value(url)), Target.all)),
    (why) => new OpenError({ message: `cannot use PostgreSQL: ${why}` })
  )
  const { hosts: [first], isWritable } = targets
  yield* read(first.config)
  return isWritable ? yield* waited(Primary.follow(targets.hosts)) : first.config
})

/** The other end: PostgreSQL, or a pooler that runs each statement in some shared session. */
interface Peer {
  readonly isPooled: boolean
  /** Whether the settings of the user or the database limit the time of statements. */
  readonly isTimed: boolean
  /** Whether the server has a limit for the time of transactions, as PostgreSQL 17 and later do. */
  readonly limitsTransactions: boolean
}

/**
 * Detects a pooler: the process id in its greeting differs from the id that the session itself reports, since it cannot
 * know which session a statement will get.
 */
const peer = (config: PgConnection.Config): Effect.Effect<Peer, SqlError> =>
  waited(Effect.scoped(Effect.gen(function*() {
    const connection = yield* PgConnection.make(config)
    FatalReason.keep(connection)
    const { rows: [row] } = yield* connection.query(
      `select pg_backend_pid() as pid, current_setting('statement_timeout') <> '0' as timed,
        current_setting('transaction_timeout', true) is not null as limits_transactions`,
      [],
      false
    )
    return {
      isPooled: row!["pid"] !== connection.processId,
      isTimed: row!["timed"] === true,
      limitsTransactions: row!["limits_transactions"] === true
    }
  })))

/** The settings of our own sessions. */
const settings = (
  deadline: number,
  { limitsTransactions }: Pick<Peer, "limitsTransactions">
): Readonly<Record<string, string>> => ({
  // shorter than our own deadline, so that a slow statement is certainly undone when its caller is notified
  statement_timeout: String(serverTimeout(deadline)),
  // a step reads rows as JSON, in which a double has as many digits as this says; 1 is every digit
  extra_float_digits: "1",
  // rows are decoded as the client expects, and texts are not interpreted
  bytea_output: "hex",
  standard_conforming_strings: "on",
  array_nulls: "on",
  // limits that would end our sessions, or statements before their own deadline
  lock_timeout: "0",
  idle_session_timeout: "0",
  ...limitsTransactions ? { transaction_timeout: "0" } : {},
  // compiling a plan takes longer than any of our statements may
  jit: "off"
})

/** Additional settings of a step's transaction. */
const stepSettings: Readonly<Record<string, string>> = {
  ...planning,
  idle_in_transaction_session_timeout: String(maxIdle)
}

/** The default of `Options.maxConnections`. With more, PostgreSQL's processes would wait for one another. */
const defaultConnections = 10

/** Leaves nothing behind in a session that others use next: no setting and no named statement. */
const bare = { prepare: false }

const deaf = "DATABASE_URL leads to a pooler, by which no notification comes: what other processes do is noticed a " +
  "second later or two. DATABASE_LISTEN_URL names a way to PostgreSQL itself"

const untimed = "DATABASE_URL leads to a pooler, and its user has no statement_timeout: what takes too long goes on " +
  "until it is cancelled. See docs/guides/postgresql.md"

const noticed = (
  options: Options,
  direct: PgConnection.Config,
  isPooled: boolean,
  own: Readonly<Record<string, string>>
) =>
  isPooled && options.listenUrl === undefined
    ? Layer.merge(Notifications.layerNone, Layer.effectDiscard(Effect.logWarning(deaf)))
    : Notifications.layerConnection(
      isPooled ? direct : Primary.extended(direct, { startupParameters: own })
    )

/**
 * Waits a while for the server, but fails immediately if the URL is invalid. Half of the connections are for steps,
 * whose statements are pipelined (`Sessions`). In the other half each statement has a connection to itself, so that it
 * can be cancelled and waits for no other.
 */
export const layer = (
  options: Options
): Layer.Layer<PgClient.PgClient | Sessions | Notifications | Schema.Schema, OpenError> =>
  Layer.unwrap(Effect.gen(function*() {
    const deadline = yield* StatementTimeout
    const config = yield* destination(options.url)
    const direct = options.listenUrl === undefined ? config : yield* destination(options.listenUrl)
    const { isPooled, isTimed, limitsTransactions } = yield* peer(config)
    if (isPooled && !isTimed) yield* Effect.logWarning(untimed)
    const own = settings(deadline, { limitsTransactions })
    const connections = Math.max(2, options.maxConnections ?? defaultConnections)
    const pool = (maxConnections: number, startupParameters: Readonly<Record<string, string>>): PgPool.Config =>
      Primary.extended(config, { maxConnections, minConnections: 1, ...(isPooled ? bare : { startupParameters }) })
    const forSteps = connections >> 1
    return Layer.mergeAll(
      Layer.provideMerge(Schema.layer(options.schema), PgClient.layer(pool(connections - forSteps, own))),
      Sessions.layer(pool(forSteps, { ...own, ...stepSettings }), isPooled ? { ...own, ...stepSettings } : {}),
      noticed(options, direct, isPooled, own)
    )
  })).pipe(
    Layer.catchTag(
      "SqlError",
      (error) =>
        Layer.effectContext(
          Effect.fail(
            new OpenError({ message: `cannot use PostgreSQL: ${describe(error)}`, problem: problemOf(error) })
          )
        )
    )
  )
