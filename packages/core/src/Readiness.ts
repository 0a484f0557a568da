/**
 * Whether this process should receive requests (contract §1, `GET /readyz`): named conditions that must all hold.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { ServerError } from "./Errors.ts"
import { type Access, Storage } from "./Storage.ts"
import * as StoreError from "./StoreError.ts"

/** A condition for accepting requests. */
export interface Condition {
  /** Names the condition in the log. */
  readonly name: string
  /**
   * Fails while the condition does not hold, with an explanation for operators. The message must hold no secret, since
   * anybody can read it. Probes call this every few seconds, so it uses what is already known or responds within a
   * second.
   */
  readonly check: Effect.Effect<void, ServerError | StoreError.StoreError>
}

/** The meaning of each problem for operators. */
const explanations: { readonly [problem in StoreError.Problem]: string } = {
  read_only: "the database is a standby, or set to read only",
  disk_full: "the disk of the database is full",
  not_permitted: "the database user lacks a right to a table or a sequence",
  no_schema: "the database does not contain the schema of this service",
  io_error: "the database cannot read or write its files"
}

/** Explains to operators that the storage cannot be written. */
export const explain = (problem: StoreError.Problem): string => `storage cannot be written: ${explanations[problem]}`

const writable = (access: Access): Effect.Effect<void, ServerError> =>
  access === "writable"
    ? Effect.void
    : Effect.fail(new ServerError({ reason: "storage_unavailable", message: explain(access) }))

/** Holds the conditions of readiness. The first, always present, is that the storage accepts writes. */
export class Readiness extends Context.Service<Readiness, {
  /** Adds a condition for as long as the scope is open. */
  readonly require: (condition: Condition) => Effect.Effect<void, never, Scope.Scope>
  /** Fails with the first condition that does not hold, in the order in which they were added. */
  readonly check: Effect.Effect<void, ServerError>
}>()("@wac/core/Readiness") {
  static readonly layer: Layer.Layer<Readiness, never, Storage> = Layer.effect(
    Readiness,
    Effect.gen(function*() {
      const storage = yield* Storage
      const conditions = new Set<Condition>([{ name: "storage", check: Effect.flatMap(storage.ping, writable) }])
      const holds = ({ check, name }: Condition) =>
        check.pipe(
          StoreError.orUnavailable,
          Effect.tapError(({ message }) => Effect.logDebug(`not ready: ${name}: ${message}`))
        )
      return Readiness.of({
        require: (condition) =>
          Effect.acquireRelease(
            Effect.sync(() => void conditions.add(condition)),
            () => Effect.sync(() => conditions.delete(condition))
          ),
        // concurrently, because a condition may take a full second
        check: Effect.suspend(() =>
          Effect.forEach([...conditions], (condition) => Effect.exit(holds(condition)), { concurrency: "unbounded" })
        ).pipe(Effect.flatMap((exits) => Effect.forEach(exits, (exit) => exit, { discard: true })))
      })
    })
  )
}
