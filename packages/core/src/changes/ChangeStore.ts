/**
 * Port: passes change notices between processes. Notices may be lost.
 */
import { Context, type Effect, type Scope } from "effect"
import type { StoreError } from "../StoreError.ts"
import type { Change } from "./Change.ts"

/** How many changes a listener may fall behind. Beyond this, the oldest are dropped. */
export const kept = 1024

export class ChangeStore extends Context.Service<ChangeStore, {
  /** Publishes to every listener in this process and in others. */
  readonly publish: (changes: ReadonlyArray<Change>) => Effect.Effect<void, StoreError>
  /**
   * Waits for the next change. `null` means that some may have been missed. A listener that falls far behind loses the
   * oldest.
   */
  readonly changes: Effect.Effect<Effect.Effect<Change | null>, never, Scope.Scope>
}>()("@wac/core/changes/ChangeStore") {}
