/**
 * Port: the storage's pepper, sealed under the master key (contract §5).
 */
import { Context, type Effect } from "effect"
import type { StoreError } from "../StoreError.ts"
import type { Sealed } from "./Sealed.ts"

export class PepperStore extends Context.Service<PepperStore, {
  /** Stores `candidate` if there is no pepper yet, and returns the stored one. If processes race, all get the same. */
  readonly adopt: (candidate: Sealed) => Effect.Effect<Sealed, StoreError>
}>()("@wac/core/secrets/PepperStore") {}
