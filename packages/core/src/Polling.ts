/**
 * How long background runners wait before they query the storage again.
 *
 * Other processes change the storage too, and their hints may be lost, so runners poll at fixed intervals. A storage
 * that no other process can reach may skip polls that would find nothing.
 */
import { Context, type Duration, Effect } from "effect"

/** The work that a runner polls for. */
export type Look =
  /** Sends whose deadline has passed. */
  | "sends"
  | "deliveries"
  /** Deliveries that a resume skipped. */
  | "skippedDeliveries"
  | "replays"
  | "campaigns"
  /** Queued messages. */
  | "queue"
  /** Whether the database was restored. */
  | "restores"
  /** Posts of the provider. */
  | "posts"
  /** Posts that were kept long enough. */
  | "expiredPosts"
  /** New events. */
  | "events"
  /** Customers' files to download. */
  | "files"
  /** Events of durable subscriptions. */
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
