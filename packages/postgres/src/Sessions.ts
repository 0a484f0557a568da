/**
 * Transactions in two round trips: one locks and loads, one writes and commits, and in between the core decides. The
 * statements of a round trip are sent together (pipelined), over a connection that nobody else has meanwhile. The order in
 * which steps lock rows is told in docs/decisions/0023-steps.md.
 */
import { type PgConnection, PgPool } from "@effect/sql-pg"
import { Cause, Context, Data, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Primary from "./Primary.ts"
import { isLostConnection } from "./SqlFailure.ts"
import type { Rows, Statement } from "./Statement.ts"

/** The connection was lost before the transaction was told to commit: it certainly left nothing behind. */
export class LostBeforeCommit extends Data.TaggedError("LostBeforeCommit")<{ readonly error: SqlError }> {}

/** What a transaction writes after it has loaded, and what its caller gets once that is committed. */
interface Written<A> {
  readonly writes: ReadonlyArray<Statement>
  readonly result: A
}

/** What a transaction loads besides, in a round trip of its own, and what comes of the rows of each statement. */
interface Loading<A> {
  readonly load: ReadonlyArray<Statement>
  readonly next: (rows: ReadonlyArray<Rows>) => Next<A>
}

/** What follows once a transaction has loaded. */
export type Next<A> = Written<A> | Loading<A>

export class Sessions extends Context.Service<Sessions, {
  /**
   * Carries out a transaction: `load`, then what `next` makes of the rows of each statement. Nothing is written where it
   * fails, but for a connection that is lost after it was told to commit. `next` is pure.
   */
  readonly transaction: <A>(
    load: ReadonlyArray<Statement>,
    next: (rows: ReadonlyArray<Rows>) => Next<A>
  ) => Effect.Effect<A, SqlError | LostBeforeCommit>
  /**
   * Carries out a transaction in one round trip: statements that need not know what those before them answered. Each sees
   * what was committed before it began. Answers with the rows of each.
   */
  readonly pipelined: (statements: ReadonlyArray<Statement>) => Effect.Effect<ReadonlyArray<Rows>, SqlError>
}>()("@wac/postgres/Sessions") {
  /** Over connections of their own. `local` are settings that each transaction makes for itself. */
  static readonly layer = (
    config: PgPool.Config,
    local: Readonly<Record<string, string>> = {}
  ): Layer.Layer<Sessions, SqlError> => Layer.effect(Sessions, make(config, local))
}

/**
 * How long a transaction may stand still, while its process hangs, before PostgreSQL ends it (milliseconds): so long
 * those wait who want the same rows.
 */
export const maxIdle = 1000

/**
 * After this much between load and write (milliseconds) PostgreSQL may have ended the transaction without our having
 * heard: then whether it still stands is asked before it is told to commit.
 */
const doubtAfter = maxIdle / 2

/**
 * Plans are made for indexes, whatever the tables held when they were made: a table may be empty then. What is looked up
 * for each of many is a subquery that cannot be pulled up (`offset 0`), by all columns of one index.
 */
export const planning: Readonly<Record<string, string>> = {
  plan_cache_mode: "force_generic_plan",
  join_collapse_limit: "1",
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off"
}

/** Settings for the statements after it, until the transaction ends. */
export const setLocally = (settings: Readonly<Record<string, string>>): Statement => ({
  text: `select ${Object.keys(settings).map((_, i) => `set_config($${2 * i + 1}, $${2 * i + 2}, true)`).join(", ")}`,
  params: Object.entries(settings).flat()
})

const begin: Statement = { text: "begin" }
const commit: Statement = { text: "commit" }
const rollback: Statement = { text: "rollback" }

const make = Effect.fnUntraced(function*(config: PgPool.Config, local: Readonly<Record<string, string>>) {
  // whoever has a connection has it alone, and what they send is pipelined: over one that is reserved it would not be
  const pool = yield* PgPool.make(Primary.extended(config, { multiplex: true, multiplexConcurrency: 1 }))

  const opening = Object.keys(local).length === 0 ? [begin] : [begin, setLocally(local)]

  /** The rows of each statement; the first failure, once all have ended. */
  const send = (
    connection: PgConnection.PgConnection,
    statements: ReadonlyArray<Statement>
  ): Effect.Effect<ReadonlyArray<Rows>, SqlError> =>
    Effect.flatMap(
      Effect.forEach(statements, ({ params, text }) => Effect.exit(connection.query(text, params)), {
        concurrency: "unbounded"
      }),
      (ends) => Effect.forEach(ends, (end) => Effect.map(end, ({ rows }) => rows))
    )

  /** What is sent before the transaction is told to commit; when it fails, the connection is left as it was lent. */
  const uncommitted = (
    connection: PgConnection.PgConnection,
    statements: ReadonlyArray<Statement>
  ): Effect.Effect<ReadonlyArray<Rows>, SqlError | LostBeforeCommit> =>
    Effect.catch(
      send(connection, statements),
      (error): Effect.Effect<never, SqlError | LostBeforeCommit> =>
        isLostConnection(error)
          ? Effect.fail(new LostBeforeCommit({ error }))
          : Effect.andThen(send(connection, [rollback]), Effect.fail(error))
    )

  const carryOut = <A>(
    connection: PgConnection.PgConnection,
    load: ReadonlyArray<Statement>,
    next: (rows: ReadonlyArray<Rows>) => Next<A>
  ) =>
    Effect.gen(function*(): Effect.fn.Return<A, SqlError | LostBeforeCommit> {
      const rows = yield* uncommitted(connection, [...opening, ...load])
      let loadedAt = performance.now()
      let decided = next(rows.slice(opening.length))
      while ("load" in decided) {
        const more: ReadonlyArray<Rows> = yield* uncommitted(connection, decided.load)
        loadedAt = performance.now()
        decided = decided.next(more)
      }
      const { result, writes } = decided
      if (writes.length === 0) {
        yield* send(connection, [rollback])
      } else if (performance.now() - loadedAt > doubtAfter) {
        yield* uncommitted(connection, writes)
        yield* send(connection, [commit])
      } else {
        // for a transaction that has failed, too, that is the end
        yield* send(connection, [...writes, commit])
      }
      return result
    })

  const using = <A, E>(step: (connection: PgConnection.PgConnection) => Effect.Effect<A, E>) =>
    pool.use((connection) =>
      Effect.onError(
        step(connection),
        // left in the middle: what is on the way over it is nobody's any more
        ({ reasons }) => reasons.every(Cause.isFailReason) ? Effect.void : pool.invalidate(connection)
      )
    )

  return Sessions.of({
    transaction: (load, next) => using((connection) => carryOut(connection, load, next)),
    pipelined: (statements) =>
      using((connection) =>
        Effect.map(
          // for a transaction that has failed, too, the commit is the end
          send(connection, [...opening, ...statements, commit]),
          (rows) => rows.slice(opening.length, -1)
        )
      )
  })
})
