/**
 * The end of the process.
 */
import { Cause, Exit, Predicate, type Runtime } from "effect"

/** The message for the operator. If the storage cannot be opened, the message names its variable. */
const messageOf = (error: unknown): string =>
  !(error instanceof Error)
    ? "could not start"
    : Predicate.isTagged(error, "OpenError")
    ? `DATABASE_URL: ${error.message}`
    : error.message

/** Exits with 0 after a signal; after an error, prints one line, for programs as JSON, and exits with 1. */
export const teardown = (isJson: boolean): Runtime.Teardown => (exit, onExit) => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
  const message = messageOf(Cause.squash(exit.cause))
  process.stderr.write(isJson ? `${JSON.stringify({ error: { message } })}\n` : `wac: ${message}\n`)
  onExit(1)
}
