/**
 * Writes the results of the steps of sends (core's `SendBatch.Writes`).
 */
import { type Id, type KeyedMessage, Message, type SendBatch } from "@wac/core"
import { addTallies } from "../campaigns/Tallies.ts"
import { addTimelines } from "../campaigns/Timelines.ts"
import { boolean, columns, list, row, unlessEmpty } from "../Columns.ts"
import { record } from "../events/Recording.ts"
import { dequeue } from "../queue/Dequeue.ts"
import type { Statement } from "../Statement.ts"
import { addPriced } from "../usage/PriceTally.ts"
import { forgetText } from "./Conversations.ts"
import { bound, message, quota, storedBinding } from "./StoredSend.ts"

const kept = message
  .pick(
    "id",
    "status",
    "statusAt",
    "providerMessageId",
    "sentAt",
    "deliveredAt",
    "readAt",
    "failedAt",
    "error",
    "pricing",
    "playedAt",
    "isHeld",
    "sequence"
  )
  .and(quota)
  .and(bound)
  .and(row({ deliveryUnknown: boolean(), isBound: boolean() }))

const writeSends = unlessEmpty(kept, (rows) =>
  `update wac.messages m set ${kept.set("s", "id", "isBound")},
    route = case when s.is_bound then m.route end, key = case when s.is_bound then m.key end,
    fingerprint = case when s.is_bound then m.fingerprint end
  from ${rows("s")}
  where m.id = s.id`)

const keep = (sends: ReadonlyArray<KeyedMessage.KeyedMessage>): ReadonlyArray<Statement> =>
  writeSends(sends.map(({ binding, message, quotaMonth, returnedMonth }) => ({
    ...message,
    quotaMonth,
    returnedMonth,
    ...storedBinding(binding),
    deliveryUnknown: Message.isDeliveryUnknown(message),
    isBound: binding !== null
  })))

/** Records the provider's identifiers of messages. The first message with an identifier keeps it. */
const name = unlessEmpty(
  columns<SendBatch.Writes["names"][number]>({ providerMessageId: "text", messageId: "text" }),
  (rows) =>
    `insert into wac.message_names (provider_message_id, message_id)
  select * from ${rows("n")} order by n.provider_message_id
  on conflict do nothing`
)

/** Changes quotas. The rows are updated in the order of their keys. */
const changeQuotas = unlessEmpty(
  columns<KeyedMessage.QuotaChange>({ workspaceId: "text", month: "text", messages: "integer" }),
  (rows) =>
    `update wac.quota_usage q set used = q.used + c.messages
  from (
    select * from ${rows("c")} order by 1, 2
  ) c
  where q.workspace_id = c.workspace_id and q.month = c.month`
)

/** The statements that write deadlines. */
export const awaitDeadlines = unlessEmpty(
  columns<SendBatch.Deadline>({ workspaceId: "text", dueAt: "bigint", messageId: "text" }),
  (rows) =>
    `insert into wac.message_deadlines (workspace_id, due_at, message_ids)
  select d.workspace_id, d.due_at, array[d.message_id]
  from ${rows("d")}`
)

const remove = unlessEmpty(list<Id.MessageId>("text"), (ids) =>
  `with said as (${forgetText(`select unnest(${ids})`)})
  delete from wac.messages m where m.id = any (${ids})`)

/**
 * The statements that write everything except deadlines. The caller must hold the messages' locks. `ofQueue` are
 * further statements that lock rows of the queue, which run at their place in the lock order.
 */
export const keepSends = (
  { dequeued, events, names, priced, quotas, removed, sends, tallies, timelines }: SendBatch.Writes,
  ofQueue: ReadonlyArray<Statement> = []
): ReadonlyArray<Statement> => [
  ...remove(removed),
  ...keep(sends),
  ...name(names),
  ...changeQuotas(quotas),
  ...record(events),
  ...ofQueue,
  ...dequeue(dequeued),
  ...addTallies(tallies),
  ...addTimelines(timelines),
  ...addPriced(priced)
]
