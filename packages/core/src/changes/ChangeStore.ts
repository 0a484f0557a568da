/**
 * Port: passes notices of changes between processes, so that open pages reload (`Changes`). Notices may be lost.
 */
import { Context, type Effect, type Scope } from "effect"
import type { StoreError } from "../StoreError.ts"
import type { Change } from "./Change.ts"

/** How many changes a listener may fall behind. Beyond this, the oldest are dropped. */
export const bufferSize = 1024

export class ChangeStore extends Context.Service<ChangeStore, {
  /** Publishes to every listener in this process and in others. */
  readonly publish: (changes: ReadonlyArray<Change>) => Effect.Effect<void, StoreError>
  /**
   * Listens while the scope is open. The returned effect waits for the next change; `null` means that some may have been
   * missed, as while a connection was lost. A listener that falls more than {@link bufferSize} behind loses the oldest
   * without a notice.
   */
  readonly changes: Effect.Effect<Effect.Effect<Change | null>, never, Scope.Scope>
}>()("@wac/core/changes/ChangeStore") {}
