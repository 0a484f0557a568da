/**
 * Port: the outbox, which holds messages that hosts enqueue in their own transactions (contract §16) until they are
 * queued. Hosts add entries with an SQL function, not through a port, so only a storage whose transactions a host can
 * share has entries. Any number of processes may work on them.
 */
import { Context, Duration, type Effect } from "effect"
import type { WorkspaceId } from "../Id.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { Forgotten } from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { OutboxEntry } from "./OutboxEntry.ts"
import type { EndEntry } from "./OutboxStep.ts"

/** How long a process owns the entries that it took. Afterwards another process takes them again, which is harmless. */
export const lease = Duration.seconds(10)

/** The command to take entries. */
export interface Claim {
  readonly now: Instant
  /** The owner token. */
  readonly token: string
  /** The maximum number of entries to take. */
  readonly limit: number
}

/** Entries that a process took, and the storage's time. */
export interface Claimed {
  readonly at: Instant
  readonly entries: ReadonlyArray<OutboxEntry>
}

export class OutboxStore extends Context.Service<OutboxStore, {
  /** The SQL function that hosts call, with its schema; `null` if they cannot reach this storage. */
  readonly enqueueFunction: string | null
  /**
   * Takes entries for {@link lease}: of each workspace those that arrived first, in the order of arrival; entries that
   * are tried again make up at most half of them if as many were not tried yet, and the other way round. The entries of a
   * workspace belong to one process at a time, so that the workspace's messages are queued in that order. The workspaces
   * that no process works on take turns: one claim takes an equal share of half of them, at least two entries of each if
   * `limit` allows, so that a workspace with many entries delays no other, and leaves the rest to other processes. It
   * returns none only if no entry is due in a workspace that no process works on.
   */
  readonly claim: (command: Claim) => Effect.Effect<Claimed, StoreError>
  /**
   * Records the result for an entry, in one atomic step (`OutboxStep.end`); for a failure, with the message and its
   * event. Returns false and changes nothing if the claim was lost. Safe to repeat.
   */
  readonly end: (command: EndEntry) => Effect.Effect<boolean, StoreError>
  /** Waits until a process commits an entry. It may miss some. */
  readonly awaitHint: Effect.Effect<void>
  /**
   * When the oldest entry that was not tried yet was enqueued; `null` if there is none. Those that wait for another try
   * wait on purpose.
   */
  readonly oldestWaitingAt: Effect.Effect<Instant | null, StoreError>
  /**
   * The entries of a workspace that are not queued yet, those that a process is just queueing too, in their order. Of
   * their messages it reads only the fields that lists show (`OutboxEntry.unreadable`).
   */
  readonly list: (
    workspaceId: WorkspaceId,
    page: PageRequest
  ) => Effect.Effect<Page<OutboxEntry>, StoreError>
  /** How many entries of a workspace that are not queued yet were enqueued at this time or before. Reads no message. */
  readonly enqueuedUntil: (workspaceId: WorkspaceId, until: Instant) => Effect.Effect<number, StoreError>
  /**
   * Deletes entries that were moved before this time, if the message's idempotency key is deleted. If it is not, looks at
   * the entry again a day later.
   */
  readonly forget: (before: Instant) => Effect.Effect<Forgotten, StoreError>
}>()("@wac/core/outbox/OutboxStore") {}
