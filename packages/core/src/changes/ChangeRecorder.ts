/**
 * Publishes change notices in the background: callers never wait, and the notices of a second are published together.
 */
import { Context, Effect, Layer } from "effect"
import * as Recorder from "../Recorder.ts"
import { type Change, distinct } from "./Change.ts"
import { ChangeStore } from "./ChangeStore.ts"

/** Large, because few are left after duplicates are removed. */
const size = 10_000

/** Records a change. By default it does nothing. */
export const ChangeRecorder = Context.Reference<(change: Change) => void>(
  "@wac/core/changes/ChangeRecorder",
  { defaultValue: () => () => {} }
)

/** Publishes recorded changes through the storage, as long as its scope is open. */
export const layer: Layer.Layer<never, never, ChangeStore> = Layer.effect(
  ChangeRecorder,
  Effect.flatMap(ChangeStore, (store) =>
    Recorder.make<Change>({
      kind: "changes",
      write: (batch) => store.publish(distinct(batch)),
      isRepeatable: false,
      size
    }))
)
