/**
 * Changes when queued messages are due, so that the process that took them has them until then.
 */
import type { Id, Time } from "@wac/core"
import { columns, unlessEmpty } from "../Columns.ts"

/** The statements that change when messages are due. The caller must hold their rows of the queue. */
export const lease = unlessEmpty(
  columns<{ readonly messageId: Id.MessageId; readonly dueAt: Time.Instant }>({ messageId: "text", dueAt: "bigint" }),
  (rows) => `update wac.send_queue q set due_at = l.due_at from ${rows("l")} where q.message_id = l.message_id`
)
