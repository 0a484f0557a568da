/**
 * Writes the outcomes of recipients (core's `CampaignRecipientStep.end`). Lock order: messages, then the queue.
 */
import { CampaignRecipientStep, type Sends } from "@wac/core"
import { plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import { keepSends } from "../messages/KeepSends.ts"
import { sendOf, type StoredSend } from "../messages/StoredSend.ts"
import { instants, integers, texts } from "../Parameter.ts"
import type { Statement } from "../Statement.ts"
import { dequeue } from "./Dequeue.ts"

const queueText = `select q.message_id from campaign_queue q where q.message_id = any ($1::text[])
  order by q.message_id for update`

const lockText = "select to_json(m) as send from messages m where m.id = any ($1::text[]) order by m.id for update"

const delayText = `update campaign_queue q set due_at = d.due_at, tries = q.tries + d.tries
  from unnest($1::text[], $2::bigint[], $3::integer[]) d (message_id, due_at, tries)
  where q.message_id = d.message_id`

const delay = (delayed: CampaignRecipientStep.EndWrites["delayed"]): ReadonlyArray<Statement> =>
  delayed.length === 0 ? [] : [{
    text: delayText,
    params: [
      texts(delayed.map(({ messageId }) => messageId)),
      instants(delayed.map(({ dueAt }) => dueAt)),
      integers(delayed.map(({ tries }) => tries))
    ]
  }]

/** `CampaignStore.end`. */
export const end: StepOptions<
  CampaignRecipientStep.EndRecipient,
  Sends.Loaded,
  void,
  CampaignRecipientStep.EndWrites
> = {
  load: (commands) => [
    {
      text: lockText,
      params: [
        texts([
          ...new Set(commands.flatMap(({ end, messageId }) => end._tag === "Skipped" ? [messageId] : []))
        ])
      ]
    },
    { text: queueText, params: [texts([...new Set(commands.map(({ messageId }) => messageId))])] }
  ],
  read: ([rows], now) => {
    const sends = new Map(rows!.map((row) => {
      const send = sendOf(plain<StoredSend>(row, "send"))
      return [send.message.id, send]
    }))
    return { now, send: (id) => sends.get(id) }
  },
  decide: CampaignRecipientStep.end,
  write: ({ delayed, dequeued, sends }) => [...delay(delayed), ...dequeue(dequeued), ...keepSends(sends)]
}
