/**
 * Takes recipients out of their campaigns' queue.
 */
import type { Id } from "@wac/core"
import { list, unlessEmpty } from "../Columns.ts"

/** The statements that take these messages out of the queue. */
export const dequeue = unlessEmpty(
  list<Id.MessageId>("text"),
  (ids) => `delete from campaign_queue q where q.message_id = any (${ids})`
)
