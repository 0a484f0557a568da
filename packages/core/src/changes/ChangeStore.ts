/**
 * Port: hints between processes of what has changed. They may be lost.
 */
import { Context, type Effect, type Scope } from "effect"
import type { StoreError } from "../StoreError.ts"
import type { Change } from "./Change.ts"

export class ChangeStore extends Context.Service<ChangeStore, {
  /** Tells everybody who listens, in this process and in others. */
  readonly publish: (changes: ReadonlyArray<Change>) => Effect.Effect<void, StoreError>
  /**
   * Suspends until the next change; `null`: some may have been missed. Of a listener who is far behind the oldest are
   * dropped.
   */
  readonly changes: Effect.Effect<Effect.Effect<Change | null>, never, Scope.Scope>
}>()("@wac/core/changes/ChangeStore") {}
