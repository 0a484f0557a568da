/**
 * How the process ends.
 */
import { Cause, Exit, type Runtime } from "effect"

/** 0 after a signal that was obeyed; otherwise one line on what was wrong, and 1. */
export const teardown: Runtime.Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return onExit(0)
  const error = Cause.squash(exit.cause)
  process.stderr.write(`wac: ${error instanceof Error ? error.message : "could not start"}\n`)
  onExit(1)
}
