/**
 * The one infrastructure error that a storage port can fail with.
 */
import { Duration, Effect, Schema } from "effect"
import { ServerError } from "./Errors.ts"

/**
 * The storage could not carry out an operation: unreachable, overloaded, restarting. The operation's effects are
 * all there or all absent, and the caller cannot tell which; every port method says what a repetition does.
 *
 * `operation` is `Port.method`. The cause stays in the adapter's log: a database's words never reach a caller.
 */
export class StoreError extends Schema.TaggedError<StoreError>()("StoreError", { operation: Schema.String }) {
  override get message() {
    return `storage could not carry out ${this.operation}`
  }
}

/** What a caller is asked to wait while the storage is away: short, since most such failures are a restart. */
export const retryAfter = Duration.seconds(1)

/** What a caller is told: nothing about the storage but that it is away (contract §2, `storage_unavailable`). */
export const toServerError = (_: StoreError): ServerError =>
  new ServerError({ reason: "storage_unavailable", message: "storage is not reachable at the moment", retryAfter })

/** Tells a caller of the storage's trouble in the words of {@link toServerError}. */
export const orUnavailable = <A, E, R>(
  self: Effect.Effect<A, E | StoreError, R>
): Effect.Effect<A, Exclude<E, StoreError> | ServerError, R> =>
  Effect.mapError(self, (error) => error instanceof StoreError ? toServerError(error) : error as Exclude<E, StoreError>)
