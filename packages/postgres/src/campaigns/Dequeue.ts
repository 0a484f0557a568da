/**
 * Takes recipients out of their campaigns' queue.
 */
import type { Id } from "@wac/core"
import { texts } from "../Parameter.ts"
import type { Statement } from "../Statement.ts"

/** The statements that take these messages out of the queue. */
export const dequeue = (messageIds: ReadonlyArray<Id.MessageId>): ReadonlyArray<Statement> =>
  messageIds.length === 0 ? [] : [{
    text: "delete from campaign_queue q where q.message_id = any ($1::text[])",
    params: [texts(messageIds)]
  }]
