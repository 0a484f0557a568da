/**
 * Makes queued messages due at other times.
 */
import type { Id, Time } from "@wac/core"
import { columns, unlessEmpty } from "../Columns.ts"

/** The statements that do so. The caller must hold their rows of the queue. */
export const lease = unlessEmpty(
  columns<{ readonly messageId: Id.MessageId; readonly dueAt: Time.Instant }>({ messageId: "text", dueAt: "bigint" }),
  (rows) => `update wac.send_queue q set due_at = l.due_at from ${rows("l")} where q.message_id = l.message_id`
)
