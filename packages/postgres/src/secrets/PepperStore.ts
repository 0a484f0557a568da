/**
 * `PepperStore` in PostgreSQL: the statements of its methods.
 */
import { PepperStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { insertOne } from "../Columns.ts"
import { Database } from "../Database.ts"
import { sealed } from "./StoredSeal.ts"

/** The update changes nothing; without it, a row that is already there would not be returned. */
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
