/**
 * Whether requests should be sent to this process (contract §1, `GET /readyz`): named conditions, which all have to hold.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { ServerError } from "./Errors.ts"
import { Storage } from "./Storage.ts"
import * as StoreError from "./StoreError.ts"

/** Something that must hold before requests are let in. */
export interface Condition {
  /** Says in the log which one it is. */
  readonly name: string
  /**
   * Fails while it does not hold, with what an operator is to know; the message holds no secret, since anybody may read
   * it. Probes ask every few seconds: it looks at what is known, or asks within a second.
   */
  readonly check: Effect.Effect<void, ServerError | StoreError.StoreError>
}

const readOnly = new ServerError({
  reason: "storage_unavailable",
  message: "storage takes no writes at the moment: the database is a standby, or set to read only"
})

/** Makes a service ready by conditions: that the storage can be written to is the first of them. */
export class Readiness extends Context.Service<Readiness, {
  /** Adds a condition, for as long as the scope is open. */
  readonly require: (condition: Condition) => Effect.Effect<void, never, Scope.Scope>
  /** Fails with the first condition, in the order in which they were added, that does not hold. */
  readonly check: Effect.Effect<void, ServerError>
}>()("@wac/core/Readiness") {
  static readonly layer: Layer.Layer<Readiness, never, Storage> = Layer.effect(
    Readiness,
    Effect.gen(function*() {
      const storage = yield* Storage
      const isWritable = Effect.filterOrFail(storage.ping, (access) => access === "writable", () => readOnly)
      const conditions = new Set<Condition>([{ name: "storage", check: Effect.asVoid(isWritable) }])
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
        // all at once: one that takes its second would make the others late
        check: Effect.suspend(() =>
          Effect.forEach([...conditions], (condition) => Effect.exit(holds(condition)), { concurrency: "unbounded" })
        ).pipe(Effect.flatMap((exits) => Effect.forEach(exits, (exit) => exit, { discard: true })))
      })
    })
  )
}
