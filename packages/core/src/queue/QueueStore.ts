/**
 * Port: the queue of messages that are not sent yet. Those of callers (contract §15) are handed out here, by numbers;
 * those of campaigns by `CampaignStore`. Any number of processes may work on it. `QueueWorkStep` and `QueueEndStep`
 * decide its transitions.
 */
import { Context, type Effect, type Option } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Beat, Beaten } from "./Heartbeat.ts"
import type { EndQueued } from "./QueueEndStep.ts"
import type { Work, Worked } from "./QueueWorkStep.ts"

/** The messages that callers of a workspace, or of all, queued. */
export interface Backlog {
  /** How many wait, whenever they are due. */
  readonly queued: number
  /** When the one was due that has waited longest; `null` if none is due. */
  readonly oldestDueAt: Instant | null
  /** Since when they, or some of them, are held because the database is a restored copy; `null` if none is. */
  readonly heldSince: Instant | null
  /** The storage's time. */
  readonly at: Instant
}

export class QueueStore extends Context.Service<QueueStore, {
  /**
   * Does one piece of work for the number that has waited longest (`QueueWorkStep.work`), in one atomic step. One
   * process at a time works on a number; messages that it hands out belong to the caller for `QueueWorkStep.lease`. None
   * if no number whose queue is not held (`Heartbeat`) has anything due.
   */
  readonly work: (command: Work) => Effect.Effect<Option.Option<Worked>, StoreError>
  /** Records what came of a message that `work`, or `CampaignStore.work`, handed out. Safe to repeat. */
  readonly end: (command: EndQueued) => Effect.Effect<void, StoreError>
  /** When there is next something to do for a number; `null` if nothing is queued, or everything is held. */
  readonly nextAt: Effect.Effect<Instant | null, StoreError>
  /**
   * Writes a heartbeat. If the database turns out to be restored, campaigns wait for a person, and the queue is held
   * (`Heartbeat.beat`).
   */
  readonly beat: (command: Beat) => Effect.Effect<Beaten, StoreError>
  /** `null` for all workspaces. */
  readonly backlog: (workspaceId: WorkspaceId | null, now: Instant) => Effect.Effect<Backlog, StoreError>
  /**
   * Releases the queue of a workspace after a restore (contract §15), or with `null` those of all. False if it was not
   * held. Safe to repeat.
   */
  readonly release: (workspaceId: WorkspaceId | null) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/queue/QueueStore") {}
