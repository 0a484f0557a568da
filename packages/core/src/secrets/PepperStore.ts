/**
 * Port: the one pepper of a storage, sealed under the master key (contract §5).
 */
import { Context, type Effect } from "effect"
import type { StoreError } from "../StoreError.ts"
import type { Sealed } from "./Sealed.ts"

export class PepperStore extends Context.Service<PepperStore, {
  /** Keeps `candidate` if there is no pepper yet; answers with the one that is kept. All racers get the same. */
  readonly adopt: (candidate: Sealed) => Effect.Effect<Sealed, StoreError>
}>()("@wac/core/secrets/PepperStore") {}
