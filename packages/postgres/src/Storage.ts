/**
 * The storage as a whole, in PostgreSQL: asks the database whether it accepts writes.
 */
import { Storage, StoreError } from "@wac/core"
import { Effect, Layer } from "effect"
import { Database } from "./Database.ts"

/** Short, because readiness probes ask again soon. */
const deadline = "1 second"

/** `name` is shown to operators and holds no credentials. */
export const layer = (name: string, durable: boolean): Layer.Layer<Storage.Storage, never, Database> =>
  Layer.effect(
    Storage.Storage,
    Effect.map(Database, ({ query }) => {
      const operation = "Storage.ping"
      return Storage.Storage.of({
        name,
        durable,
        // a standby responds too, and so does a primary that no longer accepts writes
        ping: query(operation, "select current_setting('transaction_read_only')::boolean as read_only", []).pipe(
          Effect.map(([row]): Storage.Access => row?.["read_only"] === false ? "writable" : "read_only"),
          Effect.timeoutOrElse({
            duration: deadline,
            orElse: () => Effect.fail(new StoreError.StoreError({ operation }))
          })
        )
      })
    })
  )
