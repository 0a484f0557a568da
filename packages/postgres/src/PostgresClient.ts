/**
 * The client of a PostgreSQL server: its connections, settings and notifications. Detects poolers, and follows the
 * primary of several hosts.
 */
import { PgClient, PgConnection, type PgPool } from "@effect/sql-pg"
import { Effect, Layer, Redacted, Result, Schedule, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Encryption from "./Encryption.ts"
import * as FatalReason from "./FatalReason.ts"
import * as HostPool from "./HostPool.ts"
import { Notifications } from "./Notifications.ts"
import { OpenError } from "./OpenError.ts"
import * as Primary from "./Primary.ts"
import type { Schema } from "./Schema.ts"
import * as SchemaSearch from "./SchemaSearch.ts"
import * as ServerUrl from "./ServerUrl.ts"
import { maxIdle, planning, Sessions } from "./Sessions.ts"
import { describe, isPassing, problemOf } from "./SqlFailure.ts"
import { serverTimeout, StatementTimeout } from "./StatementTimeout.ts"
import * as Target from "./Target.ts"
import * as TimeLimits from "./TimeLimits.ts"

/** The options of {@link layer}. */
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
   * The schema that holds all objects of wac, created if it is missing. Defaults to `wac`, or `public` if an earlier
   * version made the tables there.
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

/** Whether the same options may reach the server later. */
const isAbsent = (error: SqlError): boolean => {
  const { cause } = error.reason
  return isPassing(error) && !Encryption.isRefusal(cause) && !(cause instanceof HostPool.NotOfPg)
}

const waited = <A, R>(effect: Effect.Effect<A, SqlError, R>): Effect.Effect<A, SqlError, R> =>
  Effect.retry(effect, { while: isAbsent, schedule: again })

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

/**
 * What is at the other end of a connection: PostgreSQL, or a pooler that runs each statement in some shared session.
 */
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

/** The settings of sessions that only wac uses. */
const settings = (
  deadline: number,
  { limitsTransactions }: Pick<Peer, "limitsTransactions">
): Readonly<Record<string, string>> => ({
  // shorter than wac's own deadline, so that a slow statement is certainly undone when its caller is notified
  statement_timeout: String(serverTimeout(deadline)),
  // a step reads rows as JSON, in which this setting determines a double's digits; 1 means all digits
  extra_float_digits: "1",
  // rows are decoded as the client expects, and texts are not interpreted
  bytea_output: "hex",
  standard_conforming_strings: "on",
  array_nulls: "on",
  // no limits that would end these sessions, or end statements before their deadline
  lock_timeout: "0",
  idle_session_timeout: "0",
  ...limitsTransactions ? { transaction_timeout: "0" } : {},
  // compiling a plan takes longer than any statement of wac may take
  jit: "off"
})

/** Additional settings of a step's transaction. */
const stepSettings: Readonly<Record<string, string>> = {
  ...planning,
  idle_in_transaction_session_timeout: String(maxIdle)
}

/** The default of `Options.maxConnections`. With more, PostgreSQL's processes would wait for one another. */
const defaultConnections = 10

/** The client's options for shared sessions: no named statement stays behind in a session that others use next. */
const bare = { prepare: false }

const deaf = "DATABASE_URL leads to a pooler, by which no notification comes: what other processes do is noticed a " +
  "second later or two. DATABASE_LISTEN_URL names a way to PostgreSQL itself"

const untimed = "DATABASE_URL leads to a pooler, and its user has no statement_timeout: what takes too long goes on " +
  "until it is cancelled. See docs/guides/postgresql.md"

/** How connections are opened, and their maximum number. */
interface Way {
  readonly config: PgConnection.Config
  readonly connections: number
  /** Whether sessions are shared with others: nothing may be left behind in them. */
  readonly isShared: boolean
  readonly pool: Omit<PgPool.Config, keyof PgConnection.Config>
}

/**
 * Half of the connections are for steps, whose statements are pipelined (`Sessions`). In the other half each statement
 * has a connection to itself, so that it can be cancelled and waits for no other.
 */
const clients = (
  { config, connections, isShared, pool }: Way,
  own: Readonly<Record<string, string>>,
  schema: string | undefined
) => {
  const poolOf = (maxConnections: number, startupParameters: Readonly<Record<string, string>>): PgPool.Config =>
    Primary.extended(config, { ...pool, maxConnections, ...(isShared ? bare : { startupParameters }) })
  const forSteps = connections >> 1
  return Layer.merge(
    Layer.provideMerge(SchemaSearch.layer(schema), PgClient.layer(poolOf(connections - forSteps, own))),
    Sessions.layer(poolOf(forSteps, { ...own, ...stepSettings }), isShared ? { ...own, ...stepSettings } : {})
  )
}

const opening = <A, R>(layer: Layer.Layer<A, SqlError | OpenError, R>): Layer.Layer<A, OpenError, R> =>
  Layer.catchTag(
    layer,
    "SqlError",
    (error) =>
      Layer.effectContext(
        Effect.fail(
          new OpenError({ message: `cannot use PostgreSQL: ${describe(error)}`, problem: problemOf(error) })
        )
      )
  ) as Layer.Layer<A, OpenError, R>

/** The client of a server. Opening waits a while for the server, but fails immediately if the URL is invalid. */
export const layer = (
  options: Options
): Layer.Layer<PgClient.PgClient | Sessions | Notifications | Schema | TimeLimits.Unlimited, OpenError> =>
  opening(Layer.unwrap(Effect.gen(function*() {
    const deadline = yield* StatementTimeout
    const config = yield* destination(options.url)
    const direct = options.listenUrl === undefined ? config : yield* destination(options.listenUrl)
    const { isPooled, isTimed, limitsTransactions } = yield* peer(config)
    if (isPooled && !isTimed) yield* Effect.logWarning(untimed)
    const own = settings(deadline, { limitsTransactions })
    const connections = Math.max(2, options.maxConnections ?? defaultConnections)
    return Layer.mergeAll(
      clients({ config, connections, isShared: isPooled, pool: { minConnections: 1 } }, own, options.schema),
      isPooled && options.listenUrl === undefined
        ? Layer.merge(Notifications.layerNone, Layer.effectDiscard(Effect.logWarning(deaf)))
        : Notifications.layerConnection(isPooled ? direct : Primary.extended(direct, { startupParameters: own })),
      Layer.succeed(TimeLimits.Unlimited, TimeLimits.onConnection(direct, isPooled && options.listenUrl === undefined))
    )
  })))

/** The options of {@link layerPool}. */
export interface PoolOptions {
  /** The host's `pg.Pool`, which stays open. */
  readonly pool: HostPool.HostPool
  /**
   * Whether one connection, made from the pool's options, listens for notifications (the default). If false, changes by
   * other processes are noticed by polling.
   */
  readonly listen?: boolean | undefined
  readonly schema?: string | undefined
}

/** The maximum time to wait for a connection of the host's pool. */
const poolPatience = "3 seconds"

/** After this long without use, a connection goes back to the host's pool. */
const borrowedFor = "100 millis"

const deafPool = "the host's pool leads to a pooler, by which no notification comes: what other processes do is " +
  "noticed a second later or two"

/**
 * The client over a host's pool. At least one connection of the pool is always left to the host. Each connection is
 * returned as it was found: settings last for one transaction, and no statement is named. The host closes the pool.
 */
export const layerPool = (
  options: PoolOptions
): Layer.Layer<PgClient.PgClient | Sessions | Notifications | Schema | TimeLimits.Unlimited, OpenError> =>
  opening(Layer.unwrap(Effect.gen(function*() {
    const wrong = HostPool.wrongPool(options.pool)
    if (wrong !== undefined) return yield* new OpenError({ message: `the pool ${wrong}` })
    const deadline = yield* StatementTimeout
    const { own, pooled } = HostPool.streams(options.pool)
    // the host's pool signs in; wac's own pool only needs some name
    const common: PgConnection.Config = { username: "host", ssl: false, connectTimeout: poolPatience }
    const config = { ...common, stream: pooled }
    const { isPooled, limitsTransactions } = yield* peer(config)
    const connections = Math.min(HostPool.sizeOf(options.pool) - 1, defaultConnections)
    const listens = options.listen !== false
    if (listens && isPooled) yield* Effect.logWarning(deafPool)
    return Layer.mergeAll(
      clients(
        { config, connections, isShared: true, pool: { minConnections: 0, idleTimeout: borrowedFor } },
        settings(deadline, { limitsTransactions }),
        options.schema
      ),
      listens && !isPooled
        ? Notifications.layerConnection({ ...common, stream: own })
        : Notifications.layerNone,
      Layer.succeed(TimeLimits.Unlimited, TimeLimits.onConnection({ ...common, stream: own }, isPooled))
    )
  })))
