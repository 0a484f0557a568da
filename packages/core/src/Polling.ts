/**
 * How long background runners wait before they query the storage again.
 *
 * Other processes change the storage too, and their hints may be lost, so runners poll at fixed intervals. A storage
 * that no other process can reach may skip polls that would find nothing.
 */
import { Context, type Duration, Effect } from "effect"

/**
 * The work that a runner polls for: sends whose deadline has passed, deliveries, deliveries that a resume skipped,
 * replay jobs, campaigns, queued messages, a restored database, provider posts, provider posts whose time of retention is over, new events, customers' files to
 * download, or events of durable subscriptions.
 */
export type Look =
  | "sends"
  | "deliveries"
  | "skippedDeliveries"
  | "replays"
  | "campaigns"
  | "queue"
  | "restores"
  | "posts"
  | "expiredPosts"
  | "events"
  | "files"
  | "subscriptions"

interface Pace {
  /**
   * Waits for `every` or for a multiple of it. It waits longer only if every skipped poll would have found nothing, so
   * a runner cannot tell the difference. For `deliveries` and `posts` this holds as long as the runner also awaits the
   * store's hint.
   */
  readonly rest: (look: Look, every: Duration.Duration) => Effect.Effect<void>
}

/** Skips no poll. Required if other processes write to the storage. */
export const steady: Pace = { rest: (_look, every) => Effect.sleep(every) }

/** The wait between two polls. Defaults to {@link steady}; a storage may replace it. */
export const Polling = Context.Reference<Pace>("@wac/core/Polling", { defaultValue: () => steady })
