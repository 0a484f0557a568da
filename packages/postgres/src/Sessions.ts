/**
 * Transactions in two round trips: one locks and loads, then the core decides, and one writes and commits. The
 * statements of a round trip are pipelined over a connection that is exclusive meanwhile. For the order in which steps
 * lock rows see docs/decisions/0023-steps.md.
 */
import { type PgConnection, PgPool } from "@effect/sql-pg"
import { Cause, Context, Data, Effect, Layer, Record } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as PoolUse from "./PoolUse.ts"
import * as Primary from "./Primary.ts"
import { isLostConnection, isOfClient, isOfServer } from "./SqlFailure.ts"
import { combined, type Rows, type Statement, statement, value } from "./Statement.ts"

/** The connection was lost before the commit was sent, so the transaction certainly left nothing behind. */
export class LostBeforeCommit extends Data.TaggedError("LostBeforeCommit")<{ readonly error: SqlError }> {}

/**
 * The client threw while it encoded a parameter or decoded a row, because of one command's content. The transaction
 * certainly left nothing behind.
 */
export class ThrownBeforeCommit extends Data.TaggedError("ThrownBeforeCommit")<{ readonly error: SqlError }> {}

/** A transaction's next step after loading: these writes, and its result once they are committed. */
interface Written<A> {
  readonly writes: ReadonlyArray<Statement>
  readonly result: A
}

/** A transaction's next step after loading: it loads more rows in another round trip, and continues with them. */
interface Loading<A> {
  readonly load: ReadonlyArray<Statement>
  readonly next: (rows: ReadonlyArray<Rows>) => Next<A>
}

/** How a transaction fails. */
type Failure = SqlError | LostBeforeCommit | ThrownBeforeCommit

/** How a transaction continues after loading. */
export type Next<A> = Written<A> | Loading<A>

/** Carries out transactions of several statements. */
export class Sessions extends Context.Service<Sessions, {
  /**
   * Carries out a transaction: `load`, then what `next` returns for the rows of each statement. On failure nothing is
   * written, unless the connection is lost after the commit was sent. `next` is pure.
   */
  readonly transaction: <A>(
    load: ReadonlyArray<Statement>,
    next: (rows: ReadonlyArray<Rows>) => Next<A>
  ) => Effect.Effect<A, SqlError | LostBeforeCommit | ThrownBeforeCommit>
  /**
   * Carries out a transaction in one round trip, with statements that do not depend on one another's results. Each sees
   * what was committed before it began. Returns the rows of each.
   */
  readonly pipelined: (
    statements: ReadonlyArray<Statement>
  ) => Effect.Effect<ReadonlyArray<Rows>, SqlError | ThrownBeforeCommit>
  /** The use of the connections. */
  readonly pool: PoolUse.PoolUse
}>()("@wac/postgres/Sessions") {
  /** Sessions over a pool of their own. Each transaction applies the settings `local` for itself. */
  static readonly layer = (
    config: PgPool.Config,
    local: Readonly<Record<string, string>> = {}
  ): Layer.Layer<Sessions, SqlError> => Layer.effect(Sessions, make(config, local))
}

/**
 * How long a transaction may stay idle, if its process hangs, before PostgreSQL ends it (milliseconds). Others that
 * need the same rows wait that long.
 */
export const maxIdle = 1000

/**
 * After this long since statements were sent (milliseconds), PostgreSQL may have ended the transaction without our
 * knowledge: the process may have been suspended before it read the response. So the commit is only sent with, or after,
 * statements that follow a quick round trip. If PostgreSQL itself took that long, as for a lock, this costs a round trip.
 */
const doubtAfter = maxIdle / 2

/**
 * How often a transaction is probed before its commit is sent despite the doubt. A process in which every round trip
 * takes that long would probe without end, and keep its locks meanwhile. If PostgreSQL has ended the transaction, the
 * commit fails.
 */
const maxProbes = 3

/**
 * Planner settings that make plans use indexes, even if a table was empty when its statement was planned, and read them
 * in their order, so that a limit ends the reading even if the planner has no statistics of a table. A lookup for each of
 * many rows is written as a subquery that cannot be pulled up (`offset 0`), by all columns of one index.
 */
export const planning: Readonly<Record<string, string>> = {
  plan_cache_mode: "force_generic_plan",
  join_collapse_limit: "1",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_bitmapscan: "off"
}

/** A statement that changes settings until the transaction ends. */
export const setLocally = (settings: Readonly<Record<string, string>>): Statement => {
  const setting = combined({ name: value<string>(), value: value<string>() })
  const set = statement(
    Record.map(settings, () => setting),
    (given) =>
      `select ${Object.values(given).map(({ name, value }) => `set_config(${name}, ${value}, true)`).join(", ")}`
  )
  return set(Record.map(settings, (value, name) => ({ name, value })))
}

/**
 * Each statement must see what was committed before it began: after waiting for a lock, it must see what the holder
 * wrote. A database or a role may have a different default isolation level.
 */
const begin: Statement = { text: "begin isolation level read committed" }
const commit: Statement = { text: "commit" }
const rollback: Statement = { text: "rollback" }

/** Fails if the transaction has ended. */
const probe: Statement = { text: "select" }

/** A text that the server refuses as a statement, which makes the transaction fail. */
const spoil = "this takes the place of a statement that could not be encoded"

const make = Effect.fnUntraced(function*(config: PgPool.Config, local: Readonly<Record<string, string>>) {
  // a connection is used exclusively but pipelined; a reserved one would not be pipelined
  const pool = yield* PgPool.make(Primary.extended(config, { multiplex: true, multiplexConcurrency: 1 }))

  const use = PoolUse.make(config.maxConnections)

  const hasSettings = Object.keys(local).length > 0
  const opening = hasSettings ? [begin, setLocally(local)] : [begin]

  /**
   * Sends a statement. If the client cannot encode it, sends {@link spoil} in its place, which makes the transaction
   * fail: otherwise a commit behind it would commit the other statements.
   */
  const sendOne = (
    connection: PgConnection.PgConnection,
    { params, text }: Statement
  ): Effect.Effect<Rows, SqlError | ThrownBeforeCommit> =>
    Effect.catch(
      Effect.map(connection.query(text, params), ({ rows }) => rows),
      (error): Effect.Effect<never, SqlError | ThrownBeforeCommit> =>
        isOfClient(error)
          ? Effect.matchEffect(connection.query(spoil, [], false), {
            // after a row that could not be decoded, the client has closed the connection
            onFailure: (response) => Effect.fail(isOfServer(response) ? new ThrownBeforeCommit({ error }) : error),
            onSuccess: () => Effect.fail(error)
          })
          : Effect.fail(error)
    )

  /** Sends statements together. Returns the rows of each, or the first failure once all have ended. */
  const send = (
    connection: PgConnection.PgConnection,
    statements: ReadonlyArray<Statement>
  ): Effect.Effect<ReadonlyArray<Rows>, SqlError | ThrownBeforeCommit> =>
    Effect.flatMap(
      Effect.forEach(statements, (statement) => Effect.exit(sendOne(connection, statement)), {
        concurrency: "unbounded"
      }),
      (ends) => Effect.forEach(ends, (end) => end)
    )

  /** Sends statements before the commit. On failure, rolls the transaction back. */
  const uncommitted = (
    connection: PgConnection.PgConnection,
    statements: ReadonlyArray<Statement>
  ): Effect.Effect<ReadonlyArray<Rows>, Failure> =>
    Effect.catch(send(connection, statements), (error): Effect.Effect<never, Failure> => {
      // if the connection is lost now, the transaction is rolled back too, but that tells nothing about the statement
      const undone = Effect.andThen(Effect.exit(send(connection, [rollback])), Effect.fail(error))
      if (error instanceof ThrownBeforeCommit) return undone
      if (isOfClient(error)) return Effect.fail(new ThrownBeforeCommit({ error }))
      return isLostConnection(error) ? Effect.fail(new LostBeforeCommit({ error })) : undone
    })

  // one generator function for all transactions (docs/decisions/0028-wac.md)
  const carryOut = Effect.fnUntraced(function*<A>(
    connection: PgConnection.PgConnection,
    load: ReadonlyArray<Statement>,
    next: (rows: ReadonlyArray<Rows>) => Next<A>
  ): Effect.fn.Return<A, Failure> {
    let sentAt = performance.now()
    const isInDoubt = () => performance.now() - sentAt > doubtAfter
    const rows = yield* uncommitted(connection, [...opening, ...load])
    let decided = next(rows.slice(opening.length))
    while ("load" in decided) {
      sentAt = performance.now()
      const more: ReadonlyArray<Rows> = yield* uncommitted(connection, decided.load)
      decided = decided.next(more)
    }
    const { result, writes } = decided
    if (writes.length === 0) {
      yield* uncommitted(connection, [rollback])
    } else if (isInDoubt()) {
      sentAt = performance.now()
      yield* uncommitted(connection, writes)
      for (let probes = 0; probes < maxProbes && isInDoubt(); probes++) {
        sentAt = performance.now()
        yield* uncommitted(connection, [probe])
      }
      yield* send(connection, [commit])
    } else {
      // a commit also ends a transaction that has failed
      yield* send(connection, [...writes, commit])
    }
    return result
  })

  const using = <A, E>(step: (connection: PgConnection.PgConnection) => Effect.Effect<A, E>) =>
    use.counting(pool.use((connection) =>
      Effect.onError(
        step(connection),
        // after an interruption, nobody reads the responses that are still to come on this connection
        ({ reasons }) => reasons.every(Cause.isFailReason) ? Effect.void : pool.invalidate(connection)
      )
    ))

  return Sessions.of({
    pool: use,
    transaction: (load, next) => using((connection) => carryOut(connection, load, next)),
    pipelined: (statements) =>
      using((connection) =>
        // a statement alone is a transaction by itself
        statements.length === 1 && !hasSettings ? send(connection, statements) : Effect.map(
          // a commit also ends a transaction that has failed
          send(connection, [...opening, ...statements, commit]),
          (rows) => rows.slice(opening.length, -1)
        )
      )
  })
})
