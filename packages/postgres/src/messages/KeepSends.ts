/**
 * Writes the results of the steps of sends (core's `Sends.Writes`).
 */
import { Message, type Send, type Sends } from "@wac/core"
import { dequeue } from "../campaigns/Dequeue.ts"
import { addTallies } from "../campaigns/Tallies.ts"
import { record } from "../events/Recording.ts"
import { booleans, instants, integers, jsons, texts } from "../Parameter.ts"
import type { Statement } from "../Statement.ts"
import { addPriced } from "../usage/Priced.ts"
import { forgetText } from "./Conversations.ts"
import { storedAnswer } from "./StoredAnswer.ts"

const keepText = `update messages m set status = s.status, status_at = s.status_at,
    provider_message_id = s.provider_message_id, sent_at = s.sent_at, delivered_at = s.delivered_at,
    read_at = s.read_at, failed_at = s.failed_at, error = s.error, delivery_unknown = s.delivery_unknown,
    sequence = s.sequence, quota_month = s.quota_month, claim_token = s.claim_token, lease_until = s.lease_until,
    answer = s.answer, last_failure = s.last_failure, expires_at = s.expires_at, pricing = s.pricing,
    played_at = s.played_at, is_held = s.is_held, returned_month = s.returned_month,
    route = case when s.is_bound then m.route end, key = case when s.is_bound then m.key end,
    fingerprint = case when s.is_bound then m.fingerprint end
  from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::json[], $10::boolean[], $11::integer[], $12::text[], $13::text[], $14::bigint[], $15::json[], $16::json[],
    $17::bigint[], $18::boolean[], $19::json[], $20::bigint[], $21::boolean[], $22::text[])
    s (id, status, status_at, provider_message_id, sent_at, delivered_at, read_at, failed_at, error, delivery_unknown,
      sequence, quota_month, claim_token, lease_until, answer, last_failure, expires_at, is_bound, pricing, played_at,
      is_held, returned_month)
  where m.id = s.id`

const keep = (sends: ReadonlyArray<Send.Send>): Statement => {
  const messages = sends.map(({ message }) => message)
  const bindings = sends.map(({ binding }) => binding)
  return {
    text: keepText,
    params: [
      texts(messages.map(({ id }) => id)),
      texts(messages.map(({ status }) => status)),
      instants(messages.map(({ statusAt }) => statusAt)),
      texts(messages.map(({ providerMessageId }) => providerMessageId)),
      instants(messages.map(({ sentAt }) => sentAt)),
      instants(messages.map(({ deliveredAt }) => deliveredAt)),
      instants(messages.map(({ readAt }) => readAt)),
      instants(messages.map(({ failedAt }) => failedAt)),
      jsons(messages.map(({ error }) => error)),
      booleans(messages.map(Message.isDeliveryUnknown)),
      integers(messages.map(({ sequence }) => sequence)),
      texts(sends.map(({ quotaMonth }) => quotaMonth)),
      texts(bindings.map((binding) => binding?.claim?.token ?? null)),
      instants(bindings.map((binding) => binding?.claim?.leaseUntil ?? null)),
      jsons(bindings.map((binding) => storedAnswer(binding?.answer ?? null))),
      jsons(bindings.map((binding) => storedAnswer(binding?.lastFailure ?? null))),
      instants(bindings.map((binding) => binding?.expiresAt ?? null)),
      booleans(bindings.map((binding) => binding !== null)),
      jsons(messages.map(({ pricing }) => pricing)),
      instants(messages.map(({ playedAt }) => playedAt)),
      booleans(messages.map(({ isHeld }) => isHeld)),
      texts(sends.map(({ returnedMonth }) => returnedMonth))
    ]
  }
}

/** The first message to get a name keeps it. */
const nameText = `insert into message_names (provider_message_id, message_id)
  select * from unnest($1::text[], $2::text[]) n (provider_message_id, message_id) order by n.provider_message_id
  on conflict do nothing`

/** Several quotas are updated in the order of their keys. */
const quotasText = `update quota_usage q set used = q.used + c.messages
  from (
    select * from unnest($1::text[], $2::text[], $3::integer[]) c (workspace_id, month, messages) order by 1, 2
  ) c
  where q.workspace_id = c.workspace_id and q.month = c.month`

const deadlineText = `insert into message_deadlines (workspace_id, due_at, message_ids)
  select d.workspace_id, d.due_at, array[d.message_id]
  from unnest($1::text[], $2::bigint[], $3::text[]) d (workspace_id, due_at, message_id)`

const removeText = `with said as (${forgetText("select unnest($1::text[])")})
  delete from messages m where m.id = any ($1::text[])`

/** The statements that write deadlines. */
export const awaitDeadlines = (deadlines: Sends.Writes["deadlines"]): ReadonlyArray<Statement> =>
  deadlines.length === 0 ? [] : [{
    text: deadlineText,
    params: [
      texts(deadlines.map(({ workspaceId }) => workspaceId)),
      instants(deadlines.map(({ dueAt }) => dueAt)),
      texts(deadlines.map(({ messageId }) => messageId))
    ]
  }]

/** The statements that write everything except deadlines. The caller must hold the messages' locks. */
export const keepSends = (
  { dequeued, events, names, priced, quotas, removed, sends, tallies }: Sends.Writes
): ReadonlyArray<Statement> => [
  ...removed.length === 0 ? [] : [{ text: removeText, params: [texts(removed)] }],
  ...sends.length === 0 ? [] : [keep(sends)],
  ...names.length === 0 ? [] : [{
    text: nameText,
    params: [
      texts(names.map(({ providerMessageId }) => providerMessageId)),
      texts(names.map(({ messageId }) => messageId))
    ]
  }],
  ...quotas.length === 0 ? [] : [{
    text: quotasText,
    params: [
      texts(quotas.map(({ workspaceId }) => workspaceId)),
      texts(quotas.map(({ month }) => month)),
      integers(quotas.map(({ messages }) => messages))
    ]
  }],
  ...record(events),
  ...dequeue(dequeued),
  ...addTallies(tallies),
  ...addPriced(priced)
]
