/**
 * Changes when queued messages are due, so that the process that took them has them until then.
 */
import type { Id, Time } from "@wac/core"
import { columns, list, unlessEmpty } from "../Columns.ts"

/** The statements that change when messages are due. The caller must hold their rows of the queue. */
export const lease = unlessEmpty(
  columns<{ readonly messageId: Id.MessageId; readonly dueAt: Time.Instant }>({ messageId: "text", dueAt: "bigint" }),
  (rows) => `update wac.send_queue q set due_at = l.due_at from ${rows("l")} where q.message_id = l.message_id`
)

/** The statements that let these messages count as not tried. The caller must hold their rows of the queue. */
export const untry = unlessEmpty(
  list<Id.MessageId>("text"),
  (ids) => `update wac.send_queue q set tries = 0 where q.message_id = any (${ids})`
)
