import { Storage, StoreError } from "@wac/core"
import { Effect, Layer } from "effect"
import { Database } from "./Database.ts"

/** Who asks whether the storage is there will ask again soon. */
const deadline = "1 second"

/** `name` is what an operator reads, and holds no credentials. */
export const layer = (name: string, durable: boolean): Layer.Layer<Storage.Storage, never, Database> =>
  Layer.effect(
    Storage.Storage,
    Effect.map(Database, ({ query }) => {
      const operation = "Storage.ping"
      return Storage.Storage.of({
        name,
        durable,
        // a standby answers too, and so does a primary that takes no more writes
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
