/**
 * Publishes change notices in the background: callers never wait, and the notices of a second are published together,
 * each once.
 */
import { Context, Effect, Layer } from "effect"
import * as Recorder from "../Recorder.ts"
import type { Change } from "./Change.ts"
import { ChangeStore } from "./ChangeStore.ts"

/** Changes in one statement. */
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
    // a send changes several topics: without this, a busy workspace would crowd out the changes of others
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
