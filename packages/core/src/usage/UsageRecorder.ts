/**
 * Counts what workspaces do, in passing: nothing waits for it, and what a crash loses is a second's worth.
 */
import { Context, Effect, Layer } from "effect"
import type { Topic } from "../changes/Change.ts"
import { ChangeRecorder } from "../changes/ChangeRecorder.ts"
import * as Recorder from "../Recorder.ts"
import { type Activity, counted, type Happened } from "./Activity.ts"
import { UsageStore } from "./UsageStore.ts"

/** Added up before they are written: a few rows. */
const size = 10_000

/** Counts something that happened. Where nobody counts, nothing happens. */
export const UsageRecorder = Context.Reference<(happened: Happened) => void>(
  "@wac/core/usage/UsageRecorder",
  { defaultValue: () => () => {} }
)

/** Counts in the storage, as long as its scope is open. */
export const layer: Layer.Layer<never, never, UsageStore> = Layer.effect(
  UsageRecorder,
  Effect.gen(function*() {
    const store = yield* UsageStore
    const tell = yield* ChangeRecorder
    const record = yield* Recorder.make<Happened>({
      kind: "usage",
      write: (batch) => store.add(counted(batch)),
      isRepeatable: false,
      size
    })
    return (happened) => {
      record(happened)
      for (const topic of topicsOf(happened.activity)) tell({ workspaceId: happened.workspaceId, topic })
    }
  })
)

/** What an activity is news of. */
const topicsOf = (activity: Activity): ReadonlyArray<Topic> =>
  activity.startsWith("attempts") ? ["usage", "deliveries", "webhook"] : ["usage", "messages"]
