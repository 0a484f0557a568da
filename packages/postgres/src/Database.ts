/**
 * The database, as the stores see it: statements that answer or fail with `StoreError` within a deadline, steps
 * that take many callers' commands at once, and hints from other processes.
 */
import { PgClient } from "@effect/sql-pg"
import { type Step, StorageTime, StoreError, type Time } from "@wac/core"
import { Context, Data, Effect, Exit, FiberSet, Layer, type Queue, Result, Schedule, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Batch from "./Batch.ts"
import * as Clocks from "./Clocks.ts"
import { Deadline } from "./Deadline.ts"
import { Notifications } from "./Notifications.ts"
import { LostBeforeCommit, type Next, Sessions } from "./Sessions.ts"
import { describe, isOfContent, isPassing } from "./SqlFailure.ts"
import type { Row, Rows, Statement } from "./Statement.ts"
import * as Timely from "./Timely.ts"

/** For how long what certainly left nothing behind is tried again; a restart of PostgreSQL takes about that. */
const patience = "2 seconds"

/** Before the first repetition; each further one takes twice as long. */
const firstPause = "20 millis"

/**
 * Commands in one statement, per operation. Of an answer that takes 20 ms, one of 64 is still more than a process
 * sends. With 64 to 256 callers, half the size cost PostgreSQL a sixth more; a larger one gained nothing.
 */
const size = 64

/** How PostgreSQL carries out a step (`Step`): loads, has it decided, and writes, all in one transaction. */
export interface StepOptions<Command, Loaded extends Step.Known, Answer, Writes, Need = never> {
  /** The most commands in one transaction, where {@link size} is not what serves it. */
  readonly size?: number
  /**
   * Statements that lock and load. Each sees what was committed before it began, so what a lock guards is read by a
   * statement after the one that waits for it.
   */
  readonly load: (commands: ReadonlyArray<Command>) => ReadonlyArray<Statement>
  /** What is loaded, from the rows of each statement. */
  readonly read: (rows: ReadonlyArray<Rows>, now: Step.Known["now"], commands: ReadonlyArray<Command>) => Loaded
  readonly decide: Step.Decide<Command, Loaded, Answer, Writes, Need>
  /** Loads what a decision needs besides, where it may: in one more round trip. */
  readonly more?: {
    readonly load: (needs: ReadonlyArray<Need>) => ReadonlyArray<Statement>
    /** All that is loaded then. */
    readonly read: (loaded: Loaded, needs: ReadonlyArray<Need>, rows: ReadonlyArray<Rows>) => Loaded
  }
  /** Statements that write; none where nothing is to be written. What is loaded says where. */
  readonly write: (writes: Writes, loaded: Loaded) => ReadonlyArray<Statement>
}

/** How PostgreSQL carries out what is decided from the commands alone, in one round trip: conditional writes. */
export interface DirectOptions<Command, Answer> {
  /** The most commands in one transaction, where {@link size} is not what serves it. */
  readonly size?: number
  /**
   * Each statement sees what was committed before it began, and what those before it have written. `now` is the
   * database's time as far as this process knows it: the last step's, and what has passed since; `undefined` before the
   * first.
   */
  readonly write: (
    commands: ReadonlyArray<Command>,
    now: (asked: Time.Instant) => Time.Instant | undefined
  ) => ReadonlyArray<Statement>
  /** The answers in the order of the commands, from the rows of each statement. */
  readonly read: (rows: ReadonlyArray<Rows>, commands: ReadonlyArray<Command>) => ReadonlyArray<Answer>
}

export class Database extends Context.Service<Database, {
  /** Runs one statement, which is a transaction of its own. `operation` is `Port.method`, for errors and the log. */
  readonly query: (
    operation: string,
    text: string,
    params: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<Row>, StoreError.StoreError>
  /**
   * Runs statements in one transaction and one round trip, with the settings of steps; answers with the rows of
   * each.
   * Each sees what was committed before it began, and what those before it have written. Else as {@link query}.
   */
  readonly planned: (
    operation: string,
    statements: ReadonlyArray<Statement>
  ) => Effect.Effect<ReadonlyArray<Rows>, StoreError.StoreError>
  /**
   * Makes an operation that carries out the commands of many callers in one step: callers that arrive while a batch is
   * under way go into the next one; a lone caller leaves at once. PostgreSQL's refusal of a row fails the command that it
   * is of and no other, and so does what a decision dies of: the batch is divided until that command is alone.
   */
  readonly stepped: <Command, Loaded extends Step.Known, Answer, Writes, Need = never>(
    operation: string,
    options: StepOptions<Command, Loaded, Answer, Writes, Need>
  ) => Effect.Effect<(command: Command) => Effect.Effect<Answer, StoreError.StoreError>, never, Scope.Scope>
  /** Makes an operation that carries out the commands of many callers in one round trip. Else as {@link stepped}. */
  readonly direct: <Command, Answer>(
    operation: string,
    options: DirectOptions<Command, Answer>
  ) => Effect.Effect<(command: Command) => Effect.Effect<Answer, StoreError.StoreError>, never, Scope.Scope>
  /**
   * The payloads that are notified on a channel, across reconnections; an empty one says that anything may have been
   * missed, and comes first. Of a reader who is far behind the oldest are dropped: a hint, not a log.
   */
  readonly listen: (channel: string) => Effect.Effect<Queue.Dequeue<string>, never, Scope.Scope>
}>()("@wac/postgres/Database") {
  static readonly layer: Layer.Layer<Database, never, PgClient.PgClient | Sessions | Notifications> = Layer.effect(
    Database,
    Effect.suspend(() => make)
  )
}

/** A decision died of what is in one of the commands, such as a date that is none. Nothing was written. */
class Undecided extends Data.TaggedError("Undecided")<{ readonly defect: unknown }> {}

/** What comes of a decision, or what it died of. */
const decided = <A>(decide: () => Next<Result.Result<A, Undecided>>): Next<Result.Result<A, Undecided>> => {
  try {
    return decide()
  } catch (defect) {
    return { result: Result.fail(new Undecided({ defect })), writes: [] }
  }
}

/** Whether another command of the same batch may be at fault; it left nothing behind. */
const isOfCommand = (error: SqlError | Undecided): boolean => error instanceof Undecided || isOfContent(error)

/** What happened, for a log. What a decision died of may quote a command: only its kind is told. */
const cause = (error: SqlError | Undecided): string =>
  error instanceof Undecided
    ? `the step could not be decided: ${error.defect instanceof Error ? error.defect.name : typeof error.defect}`
    : describe(error)

/** Whether it certainly left nothing behind, and may succeed when it is tried again. */
const isUndone = (error: SqlError | LostBeforeCommit): boolean => error instanceof LostBeforeCommit || isPassing(error)

/** The time at which a step is judged; the last that it loads, behind all that it waited for. */
const clock: Statement = { text: `select ${Clocks.now}::double precision as now` }

const make = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  const { pipelined, transaction } = yield* Sessions
  const { listen } = yield* Notifications
  const fork = yield* FiberSet.makeRuntime<never>()
  const deadline = yield* Deadline
  const judge = yield* StorageTime.JudgedBy

  const again = Schedule.exponential(firstPause).pipe(
    Schedule.jittered,
    Schedule.upTo({ duration: patience })
  )

  /** Until it has answered or failed for good. */
  const settled = <A>(attempt: Effect.Effect<A, SqlError | LostBeforeCommit>): Effect.Effect<A, SqlError> =>
    attempt.pipe(
      // those that succeed need not pay for the schedule of those that fail
      Effect.catchIf(
        isUndone,
        () => Effect.retry(Effect.delay(attempt, firstPause), { while: isUndone, schedule: again })
      ),
      Effect.mapError((error): SqlError => error instanceof LostBeforeCommit ? error.error : error)
    )

  const run = (text: string, params: ReadonlyArray<unknown>): Effect.Effect<ReadonlyArray<Row>, SqlError> =>
    settled(client.unsafe<Row>(text, params))

  const timely = <A>(statement: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError | "late"> =>
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.callback((resume) => {
        const fiber = fork(Effect.provideContext(statement, context))
        const leave = Timely.watch(fiber, deadline, (end) => resume(end === "late" ? Effect.fail(end) : end))
        return Effect.sync(() => {
          leave()
          fiber.interruptUnsafe()
        })
      })
    )

  const failed =
    (operation: string) => (error: SqlError | Undecided | "late"): Effect.Effect<never, StoreError.StoreError> =>
      Effect.andThen(
        Effect.logWarning(
          `${operation} failed: ${error === "late" ? `no answer within ${deadline} ms` : cause(error)}`
        ),
        Effect.fail(new StoreError.StoreError({ operation }))
      )

  /** Carries out commands together; where that fails for what is in one of them, in halves, until that one is alone. */
  const divided = <Command, Answer>(
    operation: string,
    together: (commands: ReadonlyArray<Command>) => Effect.Effect<ReadonlyArray<Answer>, SqlError | Undecided>
  ) => {
    const all = (
      commands: ReadonlyArray<Command>
    ): Effect.Effect<ReadonlyArray<Exit.Exit<Answer, StoreError.StoreError>>, StoreError.StoreError> =>
      Effect.matchEffect(together(commands), {
        onSuccess: (answers) => Effect.succeed(answers.map((answer) => Exit.succeed(answer))),
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

  /** {@link divided} commands of many callers. */
  const batches = <Command, Answer>(
    operation: string,
    together: (commands: ReadonlyArray<Command>) => Effect.Effect<ReadonlyArray<Answer>, SqlError | Undecided>,
    maxSize = size
  ) =>
    Batch.make({
      run: divided(operation, together),
      maxSize,
      deadline,
      late: failed(operation)("late"),
      unavailable: () => new StoreError.StoreError({ operation })
    })

  /** By how much the database's clock is ahead of this process's monotonic one, by the last step. */
  let ahead: number | undefined
  const known = (asked: Time.Instant): Time.Instant | undefined =>
    judge === "asker" ? asked : ahead === undefined ? undefined : Math.floor(performance.now() + ahead)

  const stepping = <Command, Loaded extends Step.Known, Answer, Writes, Need>(
    { decide, load, more, read, write }: StepOptions<Command, Loaded, Answer, Writes, Need>
  ) =>
  (commands: ReadonlyArray<Command>): Effect.Effect<ReadonlyArray<Answer>, SqlError | Undecided> => {
    const next = (load: () => Loaded): Next<Result.Result<ReadonlyArray<Answer>, Undecided>> =>
      decided(() => {
        const loaded = load()
        const step: Step.Decided<Answer, Writes> | Step.Needs<Need> = decide(loaded, commands)
        if (!("needs" in step)) return { result: Result.succeed(step.answers), writes: write(step.writes, loaded) }
        if (more === undefined) throw new Error("the step needs more than is ever loaded")
        const { needs } = step
        return { load: more.load(needs), next: (rows) => next(() => more.read(loaded, needs, rows)) }
      })
    const transacted = transaction([...load(commands), clock], (rows) => {
      const at = rows.at(-1)![0]!["now"] as Time.Instant
      ahead = at - performance.now()
      return next(() => read(rows.slice(0, -1), (asked) => judge === "asker" ? asked : at, commands))
    })
    return Effect.flatMap(settled(transacted), Effect.fromResult)
  }

  return Database.of({
    query: (operation, text, params) => Effect.catch(timely(run(text, params)), failed(operation)),
    planned: (operation, statements) => Effect.catch(timely(settled(pipelined(statements))), failed(operation)),
    direct: (operation, { read, size, write }) =>
      batches(
        operation,
        (commands) =>
          Effect.flatMap(
            Effect.try({ try: () => write(commands, known), catch: (defect) => new Undecided({ defect }) }),
            (statements) =>
              statements.length === 0
                ? Effect.succeed(read([], commands))
                : Effect.map(settled(pipelined(statements)), (rows) => read(rows, commands))
          ),
        size
      ),
    stepped: (operation, options) => batches(operation, stepping(options), options.size),
    listen
  })
})
