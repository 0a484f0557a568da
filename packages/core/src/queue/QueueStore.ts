/**
 * Port: the queue of messages that are not sent yet. It hands out callers' messages (contract §15), number by number;
 * `CampaignStore` hands out the messages of campaigns. Any number of processes may work on it. `QueueWorkStep`,
 * `QueueEndStep` and `Heartbeat` decide its transitions.
 */
import { Context, type Effect, type Option } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Beat, BeatResult } from "./Heartbeat.ts"
import type { EndQueued } from "./QueueEndStep.ts"
import type { Work, WorkResult } from "./QueueWorkStep.ts"

/** The state of the callers' queue of a workspace, or of all workspaces together. */
export interface Backlog {
  /** How many messages wait, due or not. */
  readonly queued: number
  /** When the message that has waited longest was due; `null` if none is due. */
  readonly oldestDueAt: Instant | null
  /** Since when some or all messages are held because the database is a restored copy; `null` if none is held. */
  readonly heldSince: Instant | null
  /** The storage's time. */
  readonly at: Instant
}

export class QueueStore extends Context.Service<QueueStore, {
  /**
   * Does one piece of work for the number that has waited longest (`QueueWorkStep.work`), in one atomic step. One
   * process at a time works on a number. The messages that it hands out belong to the caller for `QueueWorkStep.lease`.
   * Skips numbers whose queue is held (`Heartbeat`). None if no other number has anything due.
   */
  readonly work: (command: Work) => Effect.Effect<Option.Option<WorkResult>, StoreError>
  /** Records what came of a message that `work`, or `CampaignStore.work`, handed out. Safe to repeat. */
  readonly end: (command: EndQueued) => Effect.Effect<void, StoreError>
  /** When there is next something to do for a number; `null` if nothing is queued, or everything is held. */
  readonly nextAt: Effect.Effect<Instant | null, StoreError>
  /**
   * Writes a heartbeat. If the database turns out to be restored, campaigns wait for a person, and the queues of the
   * workspaces that exist are held (`Heartbeat.beat`).
   */
  readonly beat: (command: Beat) => Effect.Effect<BeatResult, StoreError>
  /** The state of a workspace's queue, or with `null`, of the queues of all workspaces. */
  readonly backlog: (workspaceId: WorkspaceId | null, now: Instant) => Effect.Effect<Backlog, StoreError>
  /** Since when a workspace is held because the database is a restored copy; `null` if it is not. Reads no queue. */
  readonly heldSince: (workspaceId: WorkspaceId) => Effect.Effect<Instant | null, StoreError>
  /**
   * Releases the queue of a workspace after a restore (contract §15), or with `null` those of all. False if it was not
   * held. Safe to repeat.
   */
  readonly release: (workspaceId: WorkspaceId | null) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/queue/QueueStore") {}
