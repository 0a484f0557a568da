/**
 * Cancels queued messages (core's `OutcomeStep.cancel`). It waits for the lock of a message, such as for a transaction
 * that claims it. A transaction that comes to claim the message meanwhile skips it, since it is locked.
 */
import { type Errors, type Message, type MessageStore, OutcomeStep, type SendBatch } from "@wac/core"
import type { Result } from "effect"
import type { StepOptions } from "../Database.ts"
import { awaitDeadlines, keepSends } from "./KeepSends.ts"
import { lockSends, sendsIn } from "./StoredSend.ts"

/** `MessageStore.cancel`. */
export const cancel: StepOptions<
  MessageStore.CancelSend,
  SendBatch.Loaded,
  Result.Result<Message.Message, Errors.Forbidden> | undefined,
  SendBatch.Writes
> = {
  load: (commands) => [lockSends({ ids: [...new Set(commands.map(({ messageId }) => messageId))] })],
  read: ([rows], now) => ({ now, send: sendsIn(rows!) }),
  decide: OutcomeStep.cancel,
  write: (writes) => [...keepSends(writes), ...awaitDeadlines(writes.deadlines)]
}
