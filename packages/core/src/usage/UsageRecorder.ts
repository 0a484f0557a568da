/**
 * Counts workspaces' activity in the background, so that nothing waits for it. A crash loses about a second of counts.
 * Writes batches through `UsageStore`.
 */
import { Context, Effect, Layer } from "effect"
import type { Topic } from "../changes/Change.ts"
import { ChangeRecorder } from "../changes/ChangeRecorder.ts"
import * as Recorder from "../Recorder.ts"
import { type Activity, counted } from "./Activity.ts"
import * as Timing from "./Timing.ts"
import { UsageStore } from "./UsageStore.ts"

/** The maximum number of occurrences in a batch: large, because they are summed into a few rows before the write. */
const size = 10_000

/**
 * The maximum number of occurrences in the backlog: more than a process has in some seconds, because dropped ones would
 * be missing in reports. It takes about 10 MB.
 */
const capacity = 100_000

/** Counts an occurrence. By default it does nothing. */
export const UsageRecorder = Context.Reference<(happened: Timing.Occurrence) => void>(
  "@wac/core/usage/UsageRecorder",
  { defaultValue: () => () => {} }
)

/** Makes the recorder write to the storage, as long as the layer's scope is open. */
export const layer: Layer.Layer<never, never, UsageStore> = Layer.effect(
  UsageRecorder,
  Effect.gen(function*() {
    const store = yield* UsageStore
    const tell = yield* ChangeRecorder
    const record = yield* Recorder.make<Timing.Occurrence>({
      kind: "usage",
      write: (batch) => store.add({ activities: counted(batch), timings: Timing.counted(batch) }),
      isRepeatable: false,
      size,
      capacity
    })
    return (happened) => {
      record(happened)
      for (const topic of topicsOf(happened.activity)) tell({ workspaceId: happened.workspaceId, topic })
    }
  })
)

/** The topics that an activity affects. */
const topicsOf = (activity: Activity): ReadonlyArray<Topic> =>
  activity.startsWith("attempts") ? ["usage", "deliveries", "webhook"] : ["usage", "messages"]
