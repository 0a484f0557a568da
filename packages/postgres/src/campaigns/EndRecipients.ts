/**
 * Writes the outcomes of recipients (core's `CampaignRecipientStep.end`). Lock order: messages, then the queue.
 */
import { CampaignRecipientStep, type Id, type SendBatch } from "@wac/core"
import { columns, list, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { keepSends } from "../messages/KeepSends.ts"
import { lockSends, sendsIn } from "../messages/StoredSend.ts"
import { statement } from "../Statement.ts"
import { dequeue } from "./Dequeue.ts"

const ids = list<Id.MessageId>("text")

const lockQueue = statement(
  { ids },
  ({ ids }) =>
    `select q.message_id from campaign_queue q where q.message_id = any (${ids})
  order by q.message_id for update`
)

const delay = unlessEmpty(
  columns<CampaignRecipientStep.EndWrites["delayed"][number]>({ messageId: "text", dueAt: "bigint", tries: "integer" }),
  (rows) =>
    `update campaign_queue q set due_at = d.due_at, tries = q.tries + d.tries
  from ${rows("d")}
  where q.message_id = d.message_id`
)

/** `CampaignStore.end`. */
export const end: StepOptions<
  CampaignRecipientStep.EndRecipient,
  SendBatch.Loaded,
  void,
  CampaignRecipientStep.EndWrites
> = {
  load: (commands) => [
    lockSends({
      ids: [...new Set(commands.flatMap(({ end, messageId }) => end._tag === "Skipped" ? [messageId] : []))]
    }),
    lockQueue({ ids: [...new Set(commands.map(({ messageId }) => messageId))] })
  ],
  read: ([rows], now) => ({ now, send: sendsIn(rows!) }),
  decide: CampaignRecipientStep.end,
  write: ({ delayed, dequeued, sends }) => [...delay(delayed), ...dequeue(dequeued), ...keepSends(sends)]
}
