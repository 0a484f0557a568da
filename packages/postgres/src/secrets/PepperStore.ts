/**
 * `PepperStore` in PostgreSQL: the statements of its methods.
 */
import { PepperStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { Database } from "../Database.ts"
import { insertOne } from "../TableStatements.ts"
import { sealed } from "./StoredSeal.ts"

/**
 * Stores the pepper if there is none, and returns the stored one. The update changes nothing, but without it an
 * existing row would not be returned.
 */
const adopt = insertOne(
  sealed,
  "wac.peppers",
  ` on conflict (single) do update set single = true returning ${sealed.names()}`
)

export const layer = Layer.effect(
  PepperStore.PepperStore,
  Effect.map(Database, ({ query }) =>
    PepperStore.PepperStore.of({
      adopt: (pepper) => Effect.map(query("PepperStore.adopt", adopt(pepper)), ([row]) => sealed.read(row!))
    }))
)
