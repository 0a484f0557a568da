/**
 * `PepperStore` in PostgreSQL: the statements of its methods.
 */
import { PepperStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { Database } from "../Database.ts"
import { sealed } from "./StoredSeal.ts"

export const layer = Layer.effect(
  PepperStore.PepperStore,
  Effect.map(Database, ({ query }) =>
    PepperStore.PepperStore.of({
      adopt: ({ ciphertext, keyId, nonce }) =>
        Effect.map(
          query("PepperStore.adopt", {
            // an update that changes nothing, because a skipped row would not be returned
            text: `insert into peppers (key_id, nonce, ciphertext) values ($1, $2, $3)
            on conflict (single) do update set single = true
            returning ${sealed.names()}`,
            params: [keyId, nonce, ciphertext]
          }),
          ([row]) => sealed.read(row!)
        )
    }))
)
