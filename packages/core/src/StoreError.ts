/**
 * The only infrastructure error of the storage ports.
 */
import { Duration, Effect, Schema } from "effect"
import { internal, ServerError } from "./Errors.ts"

/**
 * Why a storage that responds cannot be written until an operator acts: it accepts no writes (`read_only`), its disk is
 * full, the user lacks a right, the schema is missing, or its files cannot be read or written (`io_error`).
 */
export const Problem = Schema.Literals(["read_only", "disk_full", "not_permitted", "no_schema", "io_error"])
export type Problem = typeof Problem.Type

/**
 * The storage could not carry out an operation: it is unreachable, overloaded or restarting. The operation's effects
 * are all there or all absent, and the caller cannot tell which, unless `isUndone` says that they are certainly absent:
 * the operation was never begun, or the storage responded that it refuses it. Every port method states what repeating
 * it does.
 *
 * `fault` is `command` if the operation itself cannot be carried out, so that repeating it fails again.
 *
 * `isHeld` says that the operation waits for a person on purpose (`MediaHold`), so that it is no failure to alert about.
 *
 * `operation` is `Port.method`. The cause stays in the adapter's log, since database messages must not reach a caller;
 * `problem` is its kind, if the storage responded and cannot be written.
 */
export class StoreError extends Schema.TaggedError<StoreError>()("StoreError", {
  operation: Schema.String,
  fault: Schema.Literals(["storage", "command"]).pipe(
    Schema.withConstructorDefault(Effect.succeed("storage" as const))
  ),
  problem: Schema.optionalKey(Problem),
  isUndone: Schema.optionalKey(Schema.Boolean),
  isHeld: Schema.optionalKey(Schema.Boolean)
}) {
  override get message() {
    return `storage could not carry out ${this.operation}`
  }
}

/**
 * How long callers are asked to wait while the storage is unavailable. It is short, since most such failures are a
 * restart.
 */
export const retryAfter = Duration.seconds(1)

/**
 * The caller's error if the storage is unavailable (contract §2, `storage_unavailable`), or `internal` if the operation
 * itself is at fault: no retry helps then. It reveals nothing else about the storage.
 */
export const toServerError = ({ fault, problem }: StoreError): ServerError =>
  fault === "command"
    ? internal()
    : new ServerError({
      reason: "storage_unavailable",
      message: `storage ${problem === undefined ? "is not reachable" : "cannot be written"} at the moment`,
      retryAfter
    })

/** Maps a {@link StoreError} with {@link toServerError} and leaves other errors as they are. */
export const orUnavailable = <A, E, R>(
  self: Effect.Effect<A, E | StoreError, R>
): Effect.Effect<A, Exclude<E, StoreError> | ServerError, R> =>
  Effect.mapError(self, (error) => error instanceof StoreError ? toServerError(error) : error as Exclude<E, StoreError>)
