/**
 * The client of a PostgreSQL server.
 */
import { PgClient, PgConnection, type PgPool } from "@effect/sql-pg"
import { Effect, Layer, Redacted, Schedule, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Deadline, statementTimeout } from "./Deadline.ts"
import { Notifications } from "./Notifications.ts"
import { OpenError } from "./OpenError.ts"
import * as Primary from "./Primary.ts"
import * as ServerUrl from "./ServerUrl.ts"
import { maxIdle, planning, Sessions } from "./Sessions.ts"
import { describe, isPassing } from "./SqlFailure.ts"

export interface Options {
  /**
   * `postgres://user:password@host:port/database?sslmode=…`; of several hosts (`host:port,host:port`) the one is used
   * that can be written to.
   */
  readonly url: Redacted.Redacted
  /** The way to the same database without a pooler, where `url` leads to one: for notifications and migrations. */
  readonly listenUrl?: Redacted.Redacted | undefined
  /** How many connections this process opens at most, beside one for notifications: at least 2; 10 when left out. */
  readonly maxConnections?: number
}

const nobody = new Error("nobody was connected to")

/** Fails when the URL cannot be read, by the client's own reading of it, and connects to nobody. */
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

const common = {
  applicationName: "wac",
  connectTimeout: "3 seconds",
  keepAlive: "30 seconds"
} as const

/** A server that is started together with us may take a while to answer. */
const again = Schedule.upTo(Schedule.spaced("200 millis"), { duration: "10 seconds" })

const waited = <A, R>(effect: Effect.Effect<A, SqlError, R>): Effect.Effect<A, SqlError, R> =>
  Effect.retry(effect, { while: isPassing, schedule: again })

/** Where connections go: to one host, or to whichever of several is the primary. */
const destination = Effect.fnUntraced(function*(
  url: Redacted.Redacted
): Effect.fn.Return<PgConnection.Config, SqlError | OpenError, Scope.Scope> {
  const { hosts } = yield* Effect.mapError(
    Effect.fromResult(ServerUrl.parse(Redacted.value(url))),
    (why) => new OpenError({ message: `cannot use PostgreSQL: ${why}` })
  )
  yield* Effect.forEach(hosts, (host) => read({ ...common, url: Redacted.make(host) }), { discard: true })
  return hosts.length === 1 ? { ...common, url } : yield* waited(Primary.follow(hosts, common))
})

/** What stands at the other end: PostgreSQL, or a pooler who gives each statement to a session of many people's. */
interface Peer {
  readonly isPooled: boolean
  /** Whether a statement that takes too long is ended by the settings of the user or the database. */
  readonly isTimed: boolean
}

/** A pooler cannot know whose session a statement will have: what it says of its own process is not what the session says. */
const peer = (config: PgConnection.Config): Effect.Effect<Peer, SqlError> =>
  waited(Effect.scoped(Effect.gen(function*() {
    const connection = yield* PgConnection.make(config)
    const { rows: [row] } = yield* connection.query(
      "select pg_backend_pid() as pid, current_setting('statement_timeout') <> '0' as timed",
      [],
      false
    )
    return { isPooled: row!["pid"] !== connection.processId, isTimed: row!["timed"] === true }
  })))

/** What a session of our own is set to. */
const settings = (deadline: number): Readonly<Record<string, string>> => ({
  // before our own deadline, so that a slow statement is certainly undone when its caller is told
  statement_timeout: String(statementTimeout(deadline)),
  // compiling a plan takes longer than any of our statements may
  jit: "off"
})

/** What a transaction in steps is set to besides. */
const stepSettings: Readonly<Record<string, string>> = {
  ...planning,
  idle_in_transaction_session_timeout: String(maxIdle)
}

/** The default of `Options.maxConnections`: more would have PostgreSQL's processes wait for one another. */
const defaultConnections = 10

/** What leaves nothing behind in a session that others have next: no setting, and no statement with a name. */
const bare = { prepare: false }

const deaf = "DATABASE_URL leads to a pooler, by which no notification comes: what other processes do is noticed a " +
  "second later or two. DATABASE_LISTEN_URL names a way to PostgreSQL itself"

const untimed = "DATABASE_URL leads to a pooler, and its user has no statement_timeout: what takes too long goes on " +
  "until it is cancelled. See docs/guides/postgresql.md"

const noticed = (options: Options, direct: PgConnection.Config, isPooled: boolean, deadline: number) =>
  isPooled && options.listenUrl === undefined
    ? Layer.merge(Notifications.layerNone, Layer.effectDiscard(Effect.logWarning(deaf)))
    : Notifications.layerConnection(
      isPooled ? direct : Primary.extended(direct, { startupParameters: settings(deadline) })
    )

/**
 * Waits for the server for a while, but refuses at once a URL that is none. Half of the connections are for steps, whose
 * statements are pipelined (`Sessions`); in the other half each statement has a connection to itself, so that it can be
 * cancelled, and waits for no other.
 */
export const layer = (options: Options): Layer.Layer<PgClient.PgClient | Sessions | Notifications, OpenError> =>
  Layer.unwrap(Effect.gen(function*() {
    const deadline = yield* Deadline
    const config = yield* destination(options.url)
    const direct = options.listenUrl === undefined ? config : yield* destination(options.listenUrl)
    const { isPooled, isTimed } = yield* peer(config)
    if (isPooled && !isTimed) yield* Effect.logWarning(untimed)
    const own = settings(deadline)
    const connections = Math.max(2, options.maxConnections ?? defaultConnections)
    const pool = (maxConnections: number, startupParameters: Readonly<Record<string, string>>): PgPool.Config =>
      Primary.extended(config, { maxConnections, minConnections: 1, ...(isPooled ? bare : { startupParameters }) })
    const forSteps = connections >> 1
    return Layer.mergeAll(
      PgClient.layer(pool(connections - forSteps, own)),
      Sessions.layer(pool(forSteps, { ...own, ...stepSettings }), isPooled ? { ...own, ...stepSettings } : {}),
      noticed(options, direct, isPooled, deadline)
    )
  })).pipe(
    Layer.catchTag(
      "SqlError",
      (error) =>
        Layer.effectContext(Effect.fail(new OpenError({ message: `cannot use PostgreSQL: ${describe(error)}` })))
    )
  )
