/**
 * Port: the one pepper of a storage, wrapped under the master key (contract §5).
 */
import { Context, type Effect } from "effect"
import type { Sealed } from "./Sealed.ts"
import type { StoreError } from "./StoreError.ts"

export class PepperStore extends Context.Service<PepperStore, {
  /** Keeps `candidate` if there is no pepper yet; answers with the one that is kept. All racers get the same. */
  readonly adopt: (candidate: Sealed) => Effect.Effect<Sealed, StoreError>
  /** Keeps the same pepper under another master key, unless another process has done so. Safe to repeat. */
  readonly rewrap: (before: Sealed, after: Sealed) => Effect.Effect<void, StoreError>
}>()("@wac/core/PepperStore") {}
