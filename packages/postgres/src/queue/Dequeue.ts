/**
 * Removes messages from the queue.
 */
import type { Id } from "@wac/core"
import { list, unlessEmpty } from "../Columns.ts"
import * as Sizes from "./Sizes.ts"

/**
 * Parts of a `with` that remove messages from the queue, and subtract them from the counts of waiting messages
 * (`Sizes`).
 */
export const dequeuing = (ids: string): string =>
  `dequeued as (
    delete from wac.send_queue q where q.message_id = any (${ids}) returning q.workspace_id
  ), uncounted as (
    ${Sizes.counting("dequeued", -1)}
  )`

/** The statements that remove these messages from the queue. */
export const dequeue = unlessEmpty(list<Id.MessageId>("text"), (ids) => `with ${dequeuing(ids)} select`)
