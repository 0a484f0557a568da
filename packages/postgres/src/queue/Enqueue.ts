/**
 * Queues callers' messages (core's `AcceptStep.Queued`). Lock order: the queue, the counts of waiting messages, then
 * the lanes.
 */
import type { AcceptStep, Id } from "@wac/core"
import { bigint, row, text, unlessEmpty } from "../Columns.ts"
import { storedAnswer } from "../messages/StoredAnswer.ts"
import { bound, message, request } from "../messages/StoredSend.ts"
import type { Statement } from "../Statement.ts"
import { openLanes } from "./Lanes.ts"
import * as Sizes from "./Sizes.ts"

const queued = message
  .pick(
    "id",
    "workspaceId",
    "apiKeyId",
    "phoneNumberId",
    "from",
    "content",
    "status",
    "statusAt",
    "createdAt",
    "sendAt"
  )
  .and(request)
  .and(bound.pick("answer"))

/** The columns of a caller's message in the queue. */
const place = row({
  messageId: text<Id.MessageId>(),
  phoneNumberId: text<Id.PhoneNumberId>(),
  workspaceId: text<Id.WorkspaceId>(),
  dueAt: bigint(),
  sendUntil: bigint()
})

/** The statements that write queued messages to the table of messages, but not to the queue. */
export const keepQueued = unlessEmpty(
  queued,
  (rows) => `insert into wac.messages (${queued.names()}) select ${queued.names("g")} from ${rows("g")}`
)

const insert = unlessEmpty(queued.and(place.pick("sendUntil")), (rows) =>
  `with given as materialized (
    select g.* from ${rows("g")}
  ), of_messages as (
    insert into wac.messages (${queued.names()}) select ${queued.names("g")} from given g
  ), added as (
    insert into wac.send_queue (${place.names()})
    select g.id, g.phone_number_id, g.workspace_id, g.send_at, g.send_until from given g
    returning workspace_id
  )
  ${Sizes.counting("added", 1)}`)

/** The statements that write messages and queue them. */
export const enqueue = (all: AcceptStep.Writes["queued"]): ReadonlyArray<Statement> => [
  ...insert(all.map(({ answer, message, request, sendUntil }) => ({
    ...message,
    ...request,
    answer: storedAnswer(answer),
    sendUntil
  }))),
  ...openLanes(all.map(({ message: { phoneNumberId, sendAt, workspaceId } }) => ({
    phoneNumberId,
    workspaceId,
    // never null in a queued message
    dueAt: sendAt!
  })))
]
