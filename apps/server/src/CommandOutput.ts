/**
 * The standard output of a command, whose result must not be lost unnoticed.
 */
import { Console, Effect } from "effect"
import { Console as NodeConsole } from "node:console"
import { CannotDo } from "./OperatorCommand.ts"

/** Without a stack or a path: `ENOSPC` on a full disk, `EPIPE` if the reader is gone. */
const lost = (error: Error): CannotDo =>
  new CannotDo({ message: `the result could not be written: ${"code" in error ? String(error.code) : error.name}` })

/**
 * Runs a command, which prints to this process's standard output. If that cannot be written, interrupts the command, and
 * fails. An error of standard error is ignored, because there is nowhere to report it.
 */
export const written = <A, E, R>(command: Effect.Effect<A, E, R>): Effect.Effect<A, E | CannotDo, R> =>
  Effect.suspend(() => {
    const { stderr, stdout } = process
    stderr.on("error", () => {})
    const broken = Effect.callback<never, CannotDo>((resume) => {
      stdout.on("error", (error) => resume(Effect.fail(lost(error))))
    })
    // the error of the last line is known only once everything before this is written
    const flushed = Effect.callback<void, CannotDo>((resume) => {
      stdout.write("", (error) => resume(error ? Effect.fail(lost(error)) : Effect.void))
    })
    return Effect.raceFirst(broken, Effect.tap(command, flushed)).pipe(
      Effect.provideService(Console.Console, new NodeConsole({ stdout, stderr, ignoreErrors: false }))
    )
  })
