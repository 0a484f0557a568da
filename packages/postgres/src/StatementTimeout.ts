/**
 * The time limits of statements, in milliseconds.
 */
import { Context } from "effect"

/** The time limit of a statement in milliseconds, including waiting for a connection and retries. */
export const StatementTimeout = Context.Reference<number>("@wac/postgres/StatementTimeout", {
  defaultValue: () => 5000
})

/**
 * The server's time limit in milliseconds. It is shorter than the statement's, so that a late statement is certainly
 * undone when its caller is notified.
 */
export const serverTimeout = (timeout: number): number => Math.round(timeout * 0.9)
