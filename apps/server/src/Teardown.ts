/**
 * The end of the process.
 */
import { Cause, Exit, Predicate, type Runtime } from "effect"

/** The message for the operator. If the storage cannot be opened, the message names its variable. */
const lineOf = (error: unknown): string =>
  !(error instanceof Error)
    ? "could not start"
    : Predicate.isTagged(error, "OpenError")
    ? `DATABASE_URL: ${error.message}`
    : error.message

/** Exits with 0 after a signal; after an error, prints one line and exits with 1. */
export const teardown: Runtime.Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
  process.stderr.write(`wac: ${lineOf(Cause.squash(exit.cause))}\n`)
  onExit(1)
}
