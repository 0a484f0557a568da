/**
 * The storage as a whole, in PostgreSQL: asks the database whether it accepts writes.
 */
import { Storage, StoreError } from "@wac/core"
import { Effect, Layer } from "effect"
import { Database } from "./Database.ts"
import * as WriteProbe from "./WriteProbe.ts"

/** Short, because readiness probes ask again soon. */
const deadline = "1 second"

/** Anybody can ask whether the service is ready, so writes are tried at most this often. */
const triedEvery = "1 second"

/** `name` is shown to operators and holds no credentials. */
export const layer = (name: string, durable: boolean): Layer.Layer<Storage.Storage, never, Database> =>
  Layer.effect(
    Storage.Storage,
    Effect.gen(function*() {
      const { lastProblem, query } = yield* Database
      const operation = "Storage.ping"
      const ask = (text: string) => query(operation, text, [])
      const tried = yield* Effect.cachedWithTTL(WriteProbe.run(ask, ({ problem }) => problem), triedEvery)
      // a failed write shows what no setting does, and no request may come that would show its end
      const isWritable = Effect.gen(function*() {
        const known = WriteProbe.problemOf(yield* ask(WriteProbe.access))
        if (known !== undefined) return known
        if (lastProblem.current === undefined) return "writable"
        const problem = yield* tried
        if (problem !== undefined) return problem
        lastProblem.current = undefined
        yield* Effect.logInfo("storage can be written again")
        return "writable"
      })
      return Storage.Storage.of({
        name,
        durable,
        ping: isWritable.pipe(
          Effect.timeoutOrElse({
            duration: deadline,
            orElse: () => Effect.fail(new StoreError.StoreError({ operation }))
          })
        )
      })
    })
  )
