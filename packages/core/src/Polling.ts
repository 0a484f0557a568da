/**
 * How what runs in the background waits before it looks at the storage again.
 *
 * Other processes change the storage too, and their hints may be lost, so runners look at fixed intervals. A storage that
 * no other process can reach knows better: it can leave out the looks that would find nothing.
 */
import { Context, type Duration, Effect } from "effect"

/** What is looked for: sends whose deadline has passed, deliveries, replay jobs, provider posts, new events. */
export type Look = "sends" | "deliveries" | "skippedDeliveries" | "replays" | "posts" | "events"

interface Pace {
  /**
   * Waits for `every`, or for a multiple of it. It waits longer only if every look left out would have found nothing, so
   * a runner cannot tell the difference. For `deliveries` and `posts` this holds as long as the runner also awaits the
   * store's hint.
   */
  readonly rest: (look: Look, every: Duration.Duration) => Effect.Effect<void>
}

/** Leaves out no look, as a storage requires that other processes write to. */
export const steady: Pace = { rest: (_look, every) => Effect.sleep(every) }

/** Waits between two looks; {@link steady} unless the storage knows better. */
export const Polling = Context.Reference<Pace>("@wac/core/Polling", { defaultValue: () => steady })
