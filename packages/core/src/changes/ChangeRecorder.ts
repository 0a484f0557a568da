/**
 * Publishes change notices in the background, so that callers never wait. The notices of a second are published
 * together, without duplicates.
 */
import { Context, Effect, Layer } from "effect"
import * as Recorder from "../Recorder.ts"
import type { Change } from "./Change.ts"
import { ChangeStore } from "./ChangeStore.ts"

/** The maximum number of changes that are published together. */
const size = 1000

/** Records a change. By default it does nothing. */
export const ChangeRecorder = Context.Reference<(change: Change) => void>(
  "@wac/core/changes/ChangeRecorder",
  { defaultValue: () => () => {} }
)

/** Publishes recorded changes through the storage, as long as its scope is open. */
export const layer: Layer.Layer<never, never, ChangeStore> = Layer.effect(
  ChangeRecorder,
  Effect.gen(function*() {
    const store = yield* ChangeStore
    // the changes that wait: each is recorded once, so that a busy workspace does not crowd out the changes of others
    const waiting = new Set<string>()
    const record = yield* Recorder.make<Change>({
      kind: "changes",
      write: (batch) => {
        waiting.clear()
        return store.publish(batch)
      },
      isRepeatable: false,
      size
    })
    return (change) => {
      const name = `${change.workspaceId} ${change.topic}`
      if (waiting.has(name)) return
      waiting.add(name)
      record(change)
    }
  })
)
