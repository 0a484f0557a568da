import { Context } from "effect"

/** Within this a statement answers or has failed, waiting for a connection and repetitions included (milliseconds). */
export const Deadline = Context.Reference<number>("@wac/postgres/Deadline", { defaultValue: () => 5000 })

/** Within this the server ends a statement (milliseconds): before its caller is told, so that it is certainly undone. */
export const statementTimeout = (deadline: number): number => Math.round(deadline * 0.9)
