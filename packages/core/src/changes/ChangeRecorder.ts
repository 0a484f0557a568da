/**
 * Tells of changes in passing: nobody waits for it, and changes of a second are told together.
 */
import { Context, Effect, Layer } from "effect"
import * as Recorder from "../Recorder.ts"
import { type Change, distinct } from "./Change.ts"
import { ChangeStore } from "./ChangeStore.ts"

/** Few are left of them when each is told once. */
const size = 10_000

/** Notes a change. Where nobody tells of any, nothing happens. */
export const ChangeRecorder = Context.Reference<(change: Change) => void>(
  "@wac/core/changes/ChangeRecorder",
  { defaultValue: () => () => {} }
)

/** Tells by the storage, as long as its scope is open. */
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
