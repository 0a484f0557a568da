/**
 * Deletions of old records, which stores do in steps.
 */
import type { Retention, StoreError } from "@wac/core"
import { Effect } from "effect"

/** Repeats a step of a deletion until nothing is left. Returns how many records were deleted, of all workspaces. */
export const all = (step: Effect.Effect<Retention.Forgotten, StoreError.StoreError>) =>
  Effect.gen(function*() {
    let removed = 0
    for (;;) {
      const forgotten = yield* step
      removed += forgotten.removed
      if (!forgotten.isMore) return removed
    }
  })
