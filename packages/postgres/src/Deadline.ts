/**
 * The time limits of statements, in milliseconds.
 */
import { Context } from "effect"

/** The time limit of a statement in milliseconds, including waiting for a connection and retries. */
export const Deadline = Context.Reference<number>("@wac/postgres/Deadline", { defaultValue: () => 5000 })

/**
 * The server's time limit in milliseconds. It is shorter than the deadline, so that a late statement is certainly
 * undone when its caller is notified.
 */
export const statementTimeout = (deadline: number): number => Math.round(deadline * 0.9)
