/**
 * Conformance of `ChangeStore`: every listener receives a change.
 */
import { assert } from "@effect/vitest"
import { type Change, ChangeStore } from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("every listener receives a change", () =>
    Effect.gen(function*() {
      const store = yield* ChangeStore.ChangeStore
      const listeners = [yield* store.changes, yield* store.changes]
      const workspaceId = yield* Fixture.id("ws")
      const changes: ReadonlyArray<Change.Change> = [
        { workspaceId, topic: "messages" },
        { workspaceId, topic: "webhook" }
      ]
      yield* store.publish([])
      yield* store.publish(changes)
      for (const next of listeners) {
        const missing = new Set(changes.map(({ topic }) => topic))
        while (missing.size > 0) {
          const change = yield* next
          // other tests' changes, and notices that some may have been missed
          if (change === null || change.workspaceId !== workspaceId) continue
          missing.delete(change.topic)
        }
        assert.strictEqual(missing.size, 0)
      }
    }))
}
