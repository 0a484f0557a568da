/**
 * How the process ends.
 */
import { Cause, Exit, Predicate, type Runtime } from "effect"

/** What to tell an operator. That the storage cannot be opened is said of the variable that names it. */
const lineOf = (error: unknown): string =>
  !(error instanceof Error)
    ? "could not start"
    : Predicate.isTagged(error, "OpenError")
    ? `DATABASE_URL: ${error.message}`
    : error.message

/** 0 after a signal that was obeyed; otherwise one line on what was wrong, and 1. */
export const teardown: Runtime.Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
  process.stderr.write(`wac: ${lineOf(Cause.squash(exit.cause))}\n`)
  onExit(1)
}
