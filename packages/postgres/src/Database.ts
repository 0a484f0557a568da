/**
 * The database as the stores see it: statements with a deadline that fail with `StoreError`, steps that batch many
 * callers' commands, and notifications from other processes.
 */
import { PgClient } from "@effect/sql-pg"
import { RepeatedFailure, type Step, type Storage, StorageTime, StoreError, type Time } from "@wac/core"
import { Context, Data, Effect, Exit, FiberSet, Layer, type Queue, Result, Schedule, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Batch from "./Batch.ts"
import * as Clocks from "./Clocks.ts"
import { Notifications } from "./Notifications.ts"
import * as PoolUse from "./PoolUse.ts"
import { Schema } from "./Schema.ts"
import { LostBeforeCommit, type Next, Sessions, ThrownBeforeCommit } from "./Sessions.ts"
import * as SqlFailure from "./SqlFailure.ts"
import type { Row, Rows, Statement } from "./Statement.ts"
import { StatementTimeout } from "./StatementTimeout.ts"
import * as Timeout from "./Timeout.ts"

/**
 * How long a statement that certainly left nothing behind is retried, in milliseconds: about as long as a restart of
 * PostgreSQL.
 */
const patience = 2000

/**
 * The minimum number of retries, even if they take longer than {@link patience}. If the process hangs, PostgreSQL may
 * end its transaction each time (`maxIdle`), so two or three retries may use up that time.
 */
const leastRetries = 5

/** The pause before the first retry. It doubles with each further one. */
const firstPause = "20 millis"

/**
 * The maximum number of commands in a statement of one operation. If a response takes 20 ms, 64 is still more than a
 * process sends. With 64 to 256 callers, half the size cost PostgreSQL a sixth more, and a larger one gained nothing.
 */
const size = 64

/** How PostgreSQL carries out a step (`Step`): loads, decides, and writes, all in one transaction. */
export interface StepOptions<Command, Loaded extends Step.Known, Answer, Writes, Need = never> {
  /** The maximum number of commands in a transaction, if {@link size} does not fit. */
  readonly size?: number
  /**
   * The statements that lock and load. Each sees what was committed before it began, so rows that a lock guards must be
   * read by a later statement than the one that waits for the lock.
   */
  readonly load: (commands: ReadonlyArray<Command>) => ReadonlyArray<Statement>
  /** Builds `Loaded` from the rows of each statement. */
  readonly read: (rows: ReadonlyArray<Rows>, now: Step.Known["now"], commands: ReadonlyArray<Command>) => Loaded
  readonly decide: Step.Decide<Command, Loaded, Answer, Writes, Need>
  /** Loads, in one more round trip, what the decision reports that it still needs. */
  readonly more?: {
    readonly load: (needs: ReadonlyArray<Need>) => ReadonlyArray<Statement>
    /** Adds the additional rows to what was loaded. */
    readonly read: (loaded: Loaded, needs: ReadonlyArray<Need>, rows: ReadonlyArray<Rows>) => Loaded
  }
  /** The statements that write; empty if there is nothing to write. */
  readonly write: (writes: Writes, loaded: Loaded) => ReadonlyArray<Statement>
}

/** How PostgreSQL carries out commands that need no loading: by conditional writes, in one round trip. */
export interface DirectOptions<Command, Answer> {
  /** The maximum number of commands in a transaction, if {@link size} does not fit. */
  readonly size?: number
  /**
   * The statements. Each sees what was committed before it began and what the previous ones wrote. `now` estimates the
   * database's time: the last step's plus what has passed since; `undefined` before the first step.
   */
  readonly write: (
    commands: ReadonlyArray<Command>,
    now: (asked: Time.Instant) => Time.Instant | undefined
  ) => ReadonlyArray<Statement>
  /** Whether the statements only read, so that they can be repeated if a row cannot be decoded. */
  readonly isReading?: boolean
  /**
   * Prepares reading from the rows of each statement. The returned function reads the answer to the command at a place;
   * what throws for one command's rows belongs in it, since the statements are committed and cannot be divided.
   */
  readonly read: (
    rows: ReadonlyArray<Rows>,
    commands: ReadonlyArray<Command>
  ) => (command: Command, place: number) => Answer
}

/** A database with wac's schema. All stores of this package use it. */
export class Database extends Context.Service<Database, {
  /** Runs one statement as its own transaction. `operation` is `Port.method`, for errors and the log. */
  readonly query: (
    operation: string,
    statement: Statement
  ) => Effect.Effect<ReadonlyArray<Row>, StoreError.StoreError>
  /**
   * Runs statements in one transaction and one round trip, with the planner settings of steps. Returns the rows of
   * each. Each sees what was committed before it began and what the previous ones wrote. Otherwise like {@link query}.
   */
  readonly planned: (
    operation: string,
    statements: ReadonlyArray<Statement>
  ) => Effect.Effect<ReadonlyArray<Rows>, StoreError.StoreError>
  /**
   * Creates an operation that carries out the commands of many callers in one step. Callers that arrive while a batch
   * is in flight go into the next one; a lone caller starts immediately. If PostgreSQL refuses a row, or anything
   * throws while commands are loaded, encoded, decoded, decided or written, only the command at fault fails: the batch
   * is split until that command is alone.
   */
  readonly stepped: <Command, Loaded extends Step.Known, Answer, Writes, Need = never>(
    operation: string,
    options: StepOptions<Command, Loaded, Answer, Writes, Need>
  ) => Effect.Effect<(command: Command) => Effect.Effect<Answer, StoreError.StoreError>, never, Scope.Scope>
  /**
   * Creates an operation that carries out the commands of many callers in one round trip. Otherwise like {@link
   * stepped}.
   */
  readonly direct: <Command, Answer>(
    operation: string,
    options: DirectOptions<Command, Answer>
  ) => Effect.Effect<(command: Command) => Effect.Effect<Answer, StoreError.StoreError>, never, Scope.Scope>
  /**
   * The payloads of a channel's notifications, across reconnections. An empty payload means that some may have been
   * missed; it also comes first. If a reader falls far behind, the oldest are dropped: they are hints, not a log.
   */
  readonly listen: (channel: string) => Effect.Effect<Queue.Dequeue<string>, never, Scope.Scope>
  /**
   * The problem of the last operation that failed with one. `Storage` clears it once the database can be written again.
   */
  readonly lastProblem: { current: StoreError.Problem | undefined }
  /** The use of this process's connections: those for steps, and those for single statements. */
  readonly pools: { readonly [pool in Storage.Pool]: PoolUse.PoolUse }
}>()("@wac/postgres/Database") {
  static readonly layer: Layer.Layer<Database, never, PgClient.PgClient | Sessions | Notifications | Schema> = Layer
    .effect(
      Database,
      Effect.suspend(() => make)
    )
}

/** A function of wac threw because of one command's content, such as an invalid date. Nothing was written. */
class Thrown extends Data.TaggedError("Thrown")<{ readonly defect: unknown }> {}

/** Why commands that were carried out together failed. */
type Failure = SqlError | Thrown | ThrownBeforeCommit

/** The result of a function, or its exception as a failure. */
const attempt = <A>(build: () => A): Result.Result<A, Thrown> =>
  Result.try({ try: build, catch: (defect) => new Thrown({ defect }) })

/** Whether another command of the batch may be at fault. The failure left nothing behind. */
const isOfCommand = (error: Failure): boolean =>
  error instanceof Thrown || error instanceof ThrownBeforeCommit || SqlFailure.isOfContent(error)

/** The fault to report for a command that failed alone. */
const faultOf = (error: Failure | "late"): StoreError.StoreError["fault"] => {
  if (error === "late") return "storage"
  if (error instanceof Thrown || error instanceof ThrownBeforeCommit) return "command"
  return SqlFailure.isLasting(error) || SqlFailure.isOfClient(error) ? "command" : "storage"
}

/** An exception's message may quote a command, so only its name is logged. */
const nameOf = (defect: unknown): string => defect instanceof Error ? defect.name : typeof defect

/** Describes the cause of a failure for the log. */
const cause = (error: Failure): string =>
  error instanceof Thrown
    ? `the command could not be carried out: ${nameOf(error.defect)}`
    : error instanceof ThrownBeforeCommit
    ? `${SqlFailure.describe(error.error)}: ${nameOf(error.error.reason.cause)}`
    : SqlFailure.describe(error)

/** Why the database cannot be written, if that is what the failure shows. */
const problemOf = (error: Failure | "late"): StoreError.Problem | undefined =>
  error === "late" || error instanceof Thrown || error instanceof ThrownBeforeCommit
    ? undefined
    : SqlFailure.problemOf(error)

/**
 * Whether the failure certainly left nothing behind: there was no connection, or the server refused the statement. An
 * error of its files may come after the commit.
 */
const leftNothing = (error: Failure | "late"): boolean => {
  if (error === "late" || error instanceof Thrown || error instanceof ThrownBeforeCommit) return false
  const problem = SqlFailure.problemOf(error)
  return SqlFailure.isPassing(error) || problem !== undefined && problem !== "io_error"
}

/** The kind of a failure. The log treats failures of one operation and kind as repetitions. */
const kindOf = (error: Failure | "late"): string =>
  error === "late"
    ? error
    : error instanceof Thrown || error instanceof ThrownBeforeCommit
    ? error._tag
    : SqlFailure.codeOf(error) ?? error.reason._tag

/** Whether the failure certainly left nothing behind and a retry may succeed. */
const isUndone = (error: SqlError | LostBeforeCommit | ThrownBeforeCommit): boolean =>
  error instanceof LostBeforeCommit || !(error instanceof ThrownBeforeCommit) && SqlFailure.isPassing(error)

/** Reads the time at which a step is judged. It is loaded last, after everything that the step waited for. */
const clock: Statement = { text: `select ${Clocks.now}::double precision as now` }

const make = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  const { pipelined, pool: steps, transaction } = yield* Sessions
  // a client over a pool has the pool's configuration
  const { maxConnections }: PgClient.PgPoolConfig = client.config
  const statements = PoolUse.make(maxConnections)
  const { listen } = yield* Notifications
  const { named } = yield* Schema
  const fork = yield* FiberSet.makeRuntime<never>()
  const deadline = yield* StatementTimeout
  const judge = yield* StorageTime.JudgedBy

  const again = Schedule.exponential(firstPause).pipe(
    Schedule.jittered,
    Schedule.while(({ attempt, elapsed }) => attempt < leastRetries || elapsed <= patience)
  )

  /** Retries an attempt until it succeeds or fails for good. */
  const settled = <A, E extends SqlError | ThrownBeforeCommit>(
    attempt: Effect.Effect<A, E | LostBeforeCommit>
  ): Effect.Effect<A, E | SqlError> =>
    attempt.pipe(
      // a successful attempt must not pay for building the retry schedule
      Effect.catchIf(
        isUndone,
        () => Effect.retry(Effect.delay(attempt, firstPause), { while: isUndone, schedule: again })
      ),
      Effect.mapError((error): E | SqlError => error instanceof LostBeforeCommit ? error.error : error)
    )

  /** Replaces the schema's name in statements of the stores. */
  const inSchema = (statements: ReadonlyArray<Statement>): ReadonlyArray<Statement> =>
    statements.map((statement) => ({ ...statement, text: named(statement.text) }))

  const run = ({ params = [], text }: Statement): Effect.Effect<ReadonlyArray<Row>, SqlError> =>
    settled(statements.counting(client.unsafe<Row>(named(text), params)))

  const timely = <A, E>(statement: Effect.Effect<A, E>): Effect.Effect<A, E | "late"> =>
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.callback((resume) => {
        const fiber = fork(Effect.provideContext(statement, context))
        const leave = Timeout.watch(fiber, deadline, (end) => resume(end === "late" ? Effect.fail(end) : end))
        return Effect.sync(() => {
          leave()
          fiber.interruptUnsafe()
        })
      })
    )

  const lastProblem: Database["Service"]["lastProblem"] = { current: undefined }
  const log = RepeatedFailure.make()

  const failed = (operation: string) => (error: Failure | "late"): Effect.Effect<never, StoreError.StoreError> =>
    Effect.suspend(() => {
      const problem = problemOf(error)
      if (problem !== undefined) lastProblem.current = problem
      return Effect.andThen(
        log(
          `${operation} ${kindOf(error)}`,
          `${operation} failed: ${error === "late" ? `no response within ${deadline} ms` : cause(error)}`
        ),
        Effect.fail(
          new StoreError.StoreError({
            operation,
            fault: faultOf(error),
            ...problem === undefined ? {} : { problem },
            ...leftNothing(error) ? { isUndone: true } : {}
          })
        )
      )
    })

  /**
   * Carries out commands together. If one command's content makes that fail, retries in halves until that command is
   * alone.
   */
  const divided = <Command, Answer>(
    operation: string,
    together: (commands: ReadonlyArray<Command>) => Effect.Effect<ReadonlyArray<Result.Result<Answer, Thrown>>, Failure>
  ) => {
    const all = (
      commands: ReadonlyArray<Command>
    ): Effect.Effect<ReadonlyArray<Exit.Exit<Answer, StoreError.StoreError>>, StoreError.StoreError> =>
      Effect.matchEffect(together(commands), {
        onSuccess: (answers) =>
          Effect.forEach(
            answers,
            (answer): Effect.Effect<Exit.Exit<Answer, StoreError.StoreError>> =>
              Result.isSuccess(answer)
                ? Effect.succeed(Exit.succeed(answer.success))
                : Effect.exit(failed(operation)(answer.failure))
          ),
        onFailure: (error) => {
          if (commands.length === 1 || !isOfCommand(error)) return failed(operation)(error)
          const half = commands.length >> 1
          return Effect.map(
            Effect.forEach(
              [commands.slice(0, half), commands.slice(half)],
              (part) => Effect.catch(all(part), (error) => Effect.succeed(part.map(() => Exit.fail(error))))
            ),
            (parts) => parts.flat()
          )
        }
      })
    return all
  }

  /** {@link divided}, in batches of many callers' commands. */
  const batches = <Command, Answer>(
    operation: string,
    together: (
      commands: ReadonlyArray<Command>
    ) => Effect.Effect<ReadonlyArray<Result.Result<Answer, Thrown>>, Failure>,
    maxSize = size
  ) =>
    Batch.make({
      run: divided(operation, together),
      maxSize,
      deadline,
      late: failed(operation)("late"),
      unavailable: (isUndone) => new StoreError.StoreError({ operation, ...isUndone ? { isUndone } : {} })
    })

  /** How far the database's clock is ahead of this process's monotonic clock, measured by the last step. */
  let ahead: number | undefined
  const known = (asked: Time.Instant): Time.Instant | undefined =>
    judge === "asker" ? asked : ahead === undefined ? undefined : Math.floor(performance.now() + ahead)

  const stepping = <Command, Loaded extends Step.Known, Answer, Writes, Need>(
    { decide, load, more, read, write }: StepOptions<Command, Loaded, Answer, Writes, Need>
  ) =>
  (commands: ReadonlyArray<Command>): Effect.Effect<ReadonlyArray<Result.Result<Answer, Thrown>>, Failure> => {
    type Decided = Result.Result<ReadonlyArray<Answer>, Thrown>
    const next = (load: () => Loaded): Next<Decided> =>
      Result.getOrElse(
        attempt((): Next<Decided> => {
          const loaded = load()
          const step: Step.Decided<Answer, Writes> | Step.Needs<Need> = decide(loaded, commands)
          if (!("needs" in step)) {
            return { result: Result.succeed(step.answers), writes: inSchema(write(step.writes, loaded)) }
          }
          if (more === undefined) {
            throw new Error("the step needs more than is ever loaded")
          }
          const { needs } = step
          return { load: inSchema(more.load(needs)), next: (rows) => next(() => more.read(loaded, needs, rows)) }
        }),
        (thrown): Next<Decided> => ({ result: Result.fail(thrown), writes: [] })
      )
    const transacted = (statements: ReadonlyArray<Statement>) =>
      transaction(inSchema([...statements, clock]), (rows) => {
        const at = rows.at(-1)![0]!["now"] as Time.Instant
        ahead = at - performance.now()
        return next(() => read(rows.slice(0, -1), (asked) => judge === "asker" ? asked : at, commands))
      })
    return Effect.fromResult(attempt(() => load(commands))).pipe(
      Effect.flatMap((statements) => settled(transacted(statements))),
      Effect.flatMap(Effect.fromResult),
      Effect.map((answers) => answers.map((answer) => Result.succeed(answer)))
    )
  }

  const directly =
    <Command, Answer>({ isReading = false, read, write }: DirectOptions<Command, Answer>) =>
    (commands: ReadonlyArray<Command>): Effect.Effect<ReadonlyArray<Result.Result<Answer, Thrown>>, Failure> =>
      Effect.fromResult(attempt(() => write(commands, known))).pipe(
        Effect.flatMap((statements) =>
          statements.length === 0 ? Effect.succeed([]) : settled(pipelined(inSchema(statements)))
        ),
        Effect.mapError((error): Failure =>
          isReading && error._tag === "SqlError" && SqlFailure.isOfClient(error)
            ? new ThrownBeforeCommit({ error })
            : error
        ),
        Effect.map((rows) => {
          const reader = attempt(() => read(rows, commands))
          return commands.map((command, place) =>
            Result.flatMap(reader, (answer) => attempt(() => answer(command, place)))
          )
        })
      )

  return Database.of({
    query: (operation, statement) => Effect.catch(timely(run(statement)), failed(operation)),
    planned: (operation, statements) =>
      Effect.catch(timely(settled(pipelined(inSchema(statements)))), failed(operation)),
    direct: (operation, options) => batches(operation, directly(options), options.size),
    stepped: (operation, options) => batches(operation, stepping(options), options.size),
    listen: (channel) => listen(named(channel)),
    lastProblem,
    pools: { steps, statements }
  })
})
