/**
 * `PepperStore` in memory: each method is one synchronous step over `State`.
 */
import { PepperStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { State } from "../State.ts"

export const layer = Layer.effect(
  PepperStore.PepperStore,
  Effect.map(
    State,
    (memory) =>
      PepperStore.PepperStore.of({
        adopt: (candidate) => Effect.sync(() => memory.pepper ??= candidate)
      })
  )
)
