/**
 * The decision for a recipient that a process took (contract §11): it leaves the queue, waits, or is skipped. Pure.
 */
import { Duration } from "effect"
import type { MessageId } from "../Id.ts"
import * as KeyedMessage from "../messages/KeyedMessage.ts"
import type { MessageError } from "../messages/Message.ts"
import { type Loaded, SendBatch, type Writes as SendWrites } from "../messages/SendBatch.ts"
import type { Decide } from "../Step.ts"
import type { Instant } from "../Time.ts"

/** The outcome of a recipient that a process took. */
export type RecipientEnd =
  /** It had an outcome before, or is no longer there. */
  | { readonly _tag: "Done" }
  /** It is tried again after a while. */
  | { readonly _tag: "Again"; readonly after: Duration.Duration }
  /** It was not tried, because its slot had passed. It waits for another one. */
  | { readonly _tag: "Missed" }
  /** It is never sent. */
  | { readonly _tag: "Skipped"; readonly error: MessageError }

/** Records the outcome of a recipient. */
export interface EndRecipient {
  readonly now: Instant
  readonly messageId: MessageId
  readonly end: RecipientEnd
}

/** Recipients that leave the queue or wait, and their messages. */
export interface EndWrites {
  readonly dequeued: ReadonlyArray<MessageId>
  readonly delayed: ReadonlyArray<{
    readonly messageId: MessageId
    readonly dueAt: Instant
    /** How many more times it was tried: 0 or 1. */
    readonly tries: number
  }>
  readonly sends: SendWrites
}

/** Decides `CampaignStore.end` for a batch. */
export const end: Decide<EndRecipient, Loaded, void, EndWrites> = (loaded, commands) => {
  const sends = new SendBatch(loaded)
  const dequeued: Array<MessageId> = []
  const delayed: Array<EndWrites["delayed"][number]> = []
  for (const { end, messageId, now: asked } of commands) {
    const now = loaded.now(asked)
    if (end._tag === "Again") delayed.push({ messageId, dueAt: now + Duration.toMillis(end.after), tries: 1 })
    else if (end._tag === "Missed") delayed.push({ messageId, dueAt: now, tries: 0 })
    else dequeued.push(messageId)
    const send = end._tag === "Skipped" ? sends.of(messageId) : undefined
    if (end._tag === "Skipped" && send !== undefined) {
      sends.keep(KeyedMessage.skip(send, end.error, now), { events: [], deliveries: [] })
    }
  }
  return { answers: commands.map(() => undefined), writes: { dequeued, delayed, sends: sends.writes() } }
}
