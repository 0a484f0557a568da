/**
 * Writes the outcomes of queued messages (core's `QueueEndStep.end`). Lock order: messages, the queue, then the lanes.
 */
import { type Id, QueueEndStep, type SendBatch } from "@wac/core"
import { columns, list, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { awaitDeadlines, keepSends } from "../messages/KeepSends.ts"
import { lockSends, sendsIn } from "../messages/StoredSend.ts"
import { hurryLanes } from "./Lanes.ts"

const lockQueue = unlessEmpty(
  list<Id.MessageId>("text"),
  (ids) =>
    `select q.message_id from wac.send_queue q where q.message_id = any (${ids})
  order by q.message_id for update`
)

const delay = unlessEmpty(
  columns<Omit<QueueEndStep.EndWrites["delayed"][number], "phoneNumberId" | "workAt">>({
    messageId: "text",
    dueAt: "bigint",
    tries: "integer"
  }),
  (rows) =>
    `update wac.send_queue q set due_at = d.due_at, tries = q.tries + d.tries
  from ${rows("d")}
  where q.message_id = d.message_id`
)

/** `QueueStore.end`. */
export const end: StepOptions<QueueEndStep.EndQueued, SendBatch.Loaded, void, QueueEndStep.EndWrites> = {
  load: (commands) => [
    lockSends({
      ids: [...new Set(commands.filter(QueueEndStep.endsMessage).map(({ messageId }) => messageId))]
    })
  ],
  read: ([rows], now) => ({ now, send: sendsIn(rows!) }),
  decide: QueueEndStep.end,
  write: ({ delayed, dequeued: ended, sends }) => {
    const dequeued = [...new Set([...ended, ...sends.dequeued])]
    return [
      ...keepSends({ ...sends, dequeued }, [
        ...lockQueue([...dequeued, ...delayed.map(({ messageId }) => messageId)]),
        ...delay(delayed)
      ]),
      ...awaitDeadlines(sends.deadlines),
      ...hurryLanes(
        delayed.flatMap(({ phoneNumberId, workAt }) => phoneNumberId === null ? [] : [{ phoneNumberId, dueAt: workAt }])
      )
    ]
  }
}
