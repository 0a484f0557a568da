/**
 * Decides what happens to a queued message after a process took it: it leaves the queue, waits for another try, or ends
 * without having been sent (contract §11 and §15). Pure.
 */
import { Duration } from "effect"
import type { MessageId, PhoneNumberId } from "../Id.ts"
import * as KeyedMessage from "../messages/KeyedMessage.ts"
import type { MessageError } from "../messages/Message.ts"
import type { EventIds } from "../messages/MessageStore.ts"
import { type Loaded, SendBatch, type Writes as SendWrites } from "../messages/SendBatch.ts"
import type { Decide } from "../Step.ts"
import type { Instant } from "../Time.ts"

/** The outcome of a queued message that a process took. */
export type QueueEnd =
  /** It had an outcome before, or is no longer there. */
  | { readonly _tag: "Done" }
  /** It is tried again after `after`, or at `until` if that is earlier. */
  | { readonly _tag: "Again"; readonly after: Duration.Duration; readonly until?: Instant }
  /**
   * It was not tried, because its slot had passed or had no token. It waits for another slot: from `dueAt` on if given,
   * which is its place in the line of its number, or else after `after`.
   */
  | { readonly _tag: "Missed"; readonly after?: Duration.Duration; readonly dueAt?: Instant }
  /** Its campaign never sends it. It ends without an event. */
  | { readonly _tag: "Skipped"; readonly error: MessageError }
  /** It fails, with the event. Like a skipped message, it waits instead while a send of it is in progress. */
  | { readonly _tag: "Failed"; readonly error: MessageError }

/** Records the outcome of a queued message. */
export interface EndQueued {
  readonly now: Instant
  readonly messageId: MessageId
  /** The number whose messages wait in order with it; `null` for a campaign's message. */
  readonly phoneNumberId: PhoneNumberId | null
  readonly end: QueueEnd
  /** One event id and one delivery id are enough. */
  readonly ids: EventIds
}

/** Messages that leave the queue or wait. */
export interface EndWrites {
  readonly dequeued: ReadonlyArray<MessageId>
  readonly delayed: ReadonlyArray<{
    readonly messageId: MessageId
    readonly phoneNumberId: PhoneNumberId | null
    readonly dueAt: Instant
    /**
     * When work on the lane of its number is due at the latest. Never before now: a message that keeps its place in the
     * line of its number would otherwise put the number before others that have waited longer for their turn.
     */
    readonly workAt: Instant
    /** By how much to raise the number of tries: 0 or 1. */
    readonly tries: number
  }>
  readonly sends: SendWrites
}

/** Decides `QueueStore.end` for a batch. */
export const end: Decide<EndQueued, Loaded, void, EndWrites> = (loaded, commands) => {
  const sends = new SendBatch(loaded)
  const dequeued: Array<MessageId> = []
  const delayed: Array<EndWrites["delayed"][number]> = []
  for (const { end, ids, messageId, now: asked, phoneNumberId } of commands) {
    const now = loaded.now(asked)
    const delay = (dueAt: Instant, tries: 0 | 1) =>
      delayed.push({ messageId, phoneNumberId, dueAt, workAt: Math.max(dueAt, now), tries })
    switch (end._tag) {
      case "Again":
        delay(Math.min(now + Duration.toMillis(end.after), end.until ?? Infinity), 1)
        break
      case "Missed":
        delay(end.dueAt ?? now + Duration.toMillis(end.after ?? Duration.zero), 0)
        break
      case "Done":
        dequeued.push(messageId)
        break
      case "Skipped":
      case "Failed": {
        const send = sends.of(messageId)
        const claim = send?.binding?.claim
        if (claim) {
          delay(claim.leaseUntil, 0)
          break
        }
        dequeued.push(messageId)
        if (send === undefined) break
        sends.keep(
          end._tag === "Failed"
            ? KeyedMessage.failQueued(send, end.error, ids, now)
            : KeyedMessage.skip(send, end.error, now),
          ids
        )
      }
    }
  }
  return { answers: commands.map(() => undefined), writes: { dequeued, delayed, sends: sends.writes() } }
}

/** Whether the message has to be loaded to record the outcome. */
export const endsMessage = ({ end }: EndQueued): boolean => end._tag === "Skipped" || end._tag === "Failed"
