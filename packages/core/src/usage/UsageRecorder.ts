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

/** Large, because occurrences are summed into a few rows before they are written. */
const size = 10_000

/**
 * The largest backlog: more than a process does in some seconds, since what is dropped would be missing in reports; about
 * 10 MB.
 */
const capacity = 100_000

/** Counts an occurrence. By default it does nothing. */
export const UsageRecorder = Context.Reference<(happened: Timing.Happened) => void>(
  "@wac/core/usage/UsageRecorder",
  { defaultValue: () => () => {} }
)

/** Counts into the storage, as long as its scope is open. */
export const layer: Layer.Layer<never, never, UsageStore> = Layer.effect(
  UsageRecorder,
  Effect.gen(function*() {
    const store = yield* UsageStore
    const tell = yield* ChangeRecorder
    const record = yield* Recorder.make<Timing.Happened>({
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
