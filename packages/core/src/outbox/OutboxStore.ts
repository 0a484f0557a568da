/**
 * Port: messages that hosts enqueue in transactions of their own (contract §16), until they are queued. Only a storage
 * whose transactions a host can share has any: hosts add them with an SQL function, and no port does. Any number of
 * processes may work on them.
 */
import { Context, Duration, type Effect } from "effect"
import type { Forgotten } from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { OutboxEntry } from "./OutboxEntry.ts"
import type { EndEntry } from "./OutboxStep.ts"

/** How long entries that a process took are its own. Another one then takes them again, which does no harm. */
export const lease = Duration.seconds(10)

/** Takes entries. */
export interface Claim {
  readonly now: Instant
  /** The owner token. */
  readonly token: string
  /** The most entries. */
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
   * Takes the entries that arrived first, in their order, for {@link lease}. The entries of a workspace belong to one
   * process at a time, so that its messages are queued in their order.
   */
  readonly claim: (command: Claim) => Effect.Effect<Claimed, StoreError>
  /**
   * Records what came of an entry, in one atomic step (`OutboxStep.end`): of one that fails, the message and its event.
   * Returns false and changes nothing if the claim was lost. Safe to repeat.
   */
  readonly end: (command: EndEntry) => Effect.Effect<boolean, StoreError>
  /** Waits until a process commits an entry. It may miss some. */
  readonly awaitHint: Effect.Effect<void>
  /** When the entry was enqueued that has waited longest for becoming a message; `null` if none waits. */
  readonly oldestWaitingAt: Effect.Effect<Instant | null, StoreError>
  /** Deletes entries that were moved before this time and whose message's key is no longer kept. */
  readonly forget: (before: Instant) => Effect.Effect<Forgotten, StoreError>
}>()("@wac/core/outbox/OutboxStore") {}
