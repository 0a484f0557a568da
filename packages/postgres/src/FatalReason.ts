/**
 * Keeps why the server ended a connection in the middle of a statement: its FATAL message with a SQLSTATE. The client
 * reads it, but then reports only that the connection was closed.
 */
import type { PgConnection } from "@effect/sql-pg"
import { Predicate } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"

/** The part of the client's connection that this depends on, which is not public: an update may change it. */
interface Internals {
  readonly consumer: unknown
  readonly pipelineInFlight: ReadonlyArray<{ readonly machine: unknown }>
  readonly pipelineHead: number
  fatal: (error: SqlError, destroySocket?: boolean) => void
}

const isFatal = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "severityUnlocalized") &&
  (cause.severityUnlocalized === "FATAL" || cause.severityUnlocalized === "PANIC")

/** The FATAL error that the server sent to the statement in progress, if it did, as a `ConnectionError`. */
const reasonOf = ({ consumer, pipelineHead, pipelineInFlight }: Internals): SqlError | undefined => {
  const statement = pipelineInFlight[pipelineHead]?.machine ?? consumer
  if (!Predicate.hasProperty(statement, "failure") || !(statement.failure instanceof SqlError)) return undefined
  const { cause, message } = statement.failure.reason
  return isFatal(cause)
    ? new SqlError({ reason: new ConnectionError({ cause, message, operation: "query" }) })
    : undefined
}

const patched = new WeakSet<object>()

/**
 * Patches the class of this connection: from now on, if the server ends a connection with a reason, the statement in
 * progress fails with that reason. The failure is still a `ConnectionError`.
 */
export const keep = (connection: PgConnection.PgConnection): void => {
  const internals = Object.getPrototypeOf(connection) as Internals
  if (patched.has(internals) || typeof internals.fatal !== "function") return
  patched.add(internals)
  const { fatal } = internals
  internals.fatal = function(this: Internals, error, destroySocket) {
    fatal.call(this, reasonOf(this) ?? error, destroySocket)
  }
}
