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
        ping: query(operation, "select 1", []).pipe(
          Effect.timeoutOrElse({
            duration: deadline,
            orElse: () => Effect.fail(new StoreError.StoreError({ operation }))
          }),
          Effect.asVoid
        )
      })
    })
  )
