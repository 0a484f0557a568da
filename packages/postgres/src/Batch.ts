/**
 * Carries out the commands of many callers in one step. One batch is in flight at a time, and callers that arrive
 * meanwhile go into the next one. No caller waits for others: a lone command leaves at the end of its turn of the event
 * loop, and the next batch at the end of the turn in which the previous one returned. When batches left earlier, they
 * were a fifth smaller and a send cost PostgreSQL a tenth more. With two concurrent batches, both were smaller, and
 * each waited for the other's locks on the same workspaces.
 */
import { Elapsed } from "@wac/core"
import { Cause, Clock, Effect, Exit, FiberSet, type Scope } from "effect"
import * as Timeout from "./Timeout.ts"

/** The options of {@link make}. */
export interface Options<Command, Answer, E> {
  /** Carries out commands and returns their answers in order. A failure is returned to every caller of the batch. */
  readonly run: (commands: ReadonlyArray<Command>) => Effect.Effect<ReadonlyArray<Exit.Exit<Answer, E>>, E>
  /** The maximum number of commands in a batch. */
  readonly maxSize: number
  /** In milliseconds. A caller that waits longer for a batch is turned away, and a batch that takes longer is late. */
  readonly deadline: number
  /** The result for every caller of a late batch. */
  readonly late: Effect.Effect<never, E>
  /**
   * The error for callers that get no answer: `isUndone` if they are turned away or are still waiting when the scope
   * closes, so that their commands certainly have no effect.
   */
  readonly unavailable: (isUndone: boolean) => E
}

interface Caller<Command, Answer, E> {
  readonly command: Command
  /** By `Elapsed`. */
  readonly since: number
  readonly answer: (exit: Exit.Exit<Answer, E>) => void
  isWithdrawn: boolean
}

/**
 * Creates the operation. If a waiting caller is interrupted, its command is withdrawn. Once its batch is in flight, an
 * interruption only ends the wait, and the batch continues.
 */
export const make = <Command, Answer, E>(
  options: Options<Command, Answer, E>
): Effect.Effect<(command: Command) => Effect.Effect<Answer, E>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const fork = yield* FiberSet.makeRuntime<never>()
    // no set: its tables would keep callers until a major collection (docs/decisions/0028-wac.md)
    let waiting: Array<Caller<Command, Answer, E>> = []
    /** Whether a batch is in flight or scheduled to leave. */
    let isAway = false
    let closed = false

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        closed = true
        for (const caller of waiting) caller.answer(Exit.fail(options.unavailable(true)))
        waiting = []
      })
    )

    const board = (): ReadonlyArray<Caller<Command, Answer, E>> => {
      const oldest = Elapsed.of(clock) - options.deadline
      const batch: Array<Caller<Command, Answer, E>> = []
      const next: typeof waiting = []
      for (const caller of waiting) {
        if (caller.isWithdrawn) continue
        if (batch.length === options.maxSize) next.push(caller)
        else if (caller.since < oldest) caller.answer(Exit.fail(options.unavailable(true)))
        else batch.push(caller)
      }
      waiting = next
      return batch
    }

    const land = (
      batch: ReadonlyArray<Caller<Command, Answer, E>>,
      exit: Exit.Exit<ReadonlyArray<Exit.Exit<Answer, E>>, E>
    ): void =>
      batch.forEach(({ answer }, i) => {
        if (Exit.isSuccess(exit)) answer(exit.value[i] ?? Exit.fail(options.unavailable(false)))
        else {answer(
            Cause.hasInterrupts(exit.cause) ? Exit.fail(options.unavailable(false)) : Exit.failCause(exit.cause)
          )}
      })

    const launch = (): void => {
      if (isAway || closed || waiting.length === 0) return
      isAway = true
      // callers of the same turn of the event loop join this batch
      setImmediate(() => fly(board()))
    }

    const fly = (batch: ReadonlyArray<Caller<Command, Answer, E>>): void => {
      const end = (exit: Exit.Exit<ReadonlyArray<Exit.Exit<Answer, E>>, E>): void => {
        isAway = false
        land(batch, exit)
        launch()
      }
      if (batch.length === 0) return end(Exit.succeed([]))
      const flight = fork(Effect.suspend(() => options.run(batch.map(({ command }) => command))))
      Timeout.watch(flight, options.deadline, (exit) => {
        if (exit === "late") fork(options.late).addObserver(end)
        else end(exit)
      })
    }

    return (command) =>
      Effect.callback<Answer, E>((resume) => {
        if (closed) return resume(Effect.fail(options.unavailable(true)))
        const caller: Caller<Command, Answer, E> = {
          command,
          since: Elapsed.of(clock),
          answer: resume,
          isWithdrawn: false
        }
        waiting.push(caller)
        launch()
        return Effect.sync(() => {
          caller.isWithdrawn = true
        })
      })
  })
