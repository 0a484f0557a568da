/**
 * Inserts previously sent messages with SQL, as a workspace has them after a busy day.
 */
import { Effect } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import type { Database } from "./Database.ts"
import * as Workload from "./Workload.ts"

/** The number of messages per statement. */
const chunk = 250_000

/** The number of the n-th message's customer, spread over all customers in no order. */
const customerOf = "'+1555' || lpad(((n * 7919) % $3::bigint)::text, 7, '0')"

/** Identifiers that sort before every identifier made now. */
const id = (prefix: string): string => `'${prefix}_0' || lpad(n::text, 25, '0')`

/** Times of the previous day, a message every millisecond. */
const at = "(extract(epoch from now())::bigint * 1000 - 86400000 + n)"

const from =
  `generate_series($1::bigint, $2::bigint) as n, (select id as workspace_id from wac.workspaces) as workspace,
  (select id as phone_number_id, phone_number from wac.phone_numbers) as phone_number,
  (select id as api_key_id from wac.api_keys) as api_key, (select id as webhook_id, envelope from wac.webhooks) as webhook`

const content = `json_build_object('to', ${customerOf}, 'type', 'template', 'template', json_build_object(
  'name', '${Workload.template.name}', 'language', '${Workload.template.language}',
  'bodyParams', json_build_array('A-' || n, 'Tuesday')))`

const providerMessageId = "'wamid.' || md5(n::text)"

/** The customer of every hundredth entry of conversations, who wrote every fourth of them. */
export const frequentCustomer = "+15550000000"
const conversationCustomer = `case when n % 100 = 0 then '${frequentCustomer}' else ${customerOf} end`

/**
 * Delivered messages with their keys and deadlines, each with one event, one delivery and one entry of a conversation.
 * Every fifth message's customer is a known contact, and each customer's bucket counts them.
 */
const inserts = [
  `insert into wac.messages (id, workspace_id, api_key_id, phone_number_id, from_number, content, status, status_at,
    provider_message_id, created_at, sent_at, delivered_at, sequence, quota_month, route, key, fingerprint, expires_at)
  select ${
    id("msg")
  }, workspace_id, api_key_id, phone_number_id, phone_number, ${content}, 'delivered', ${at}, ${providerMessageId},
    ${at}, ${at}, ${at}, 1, to_char(now() at time zone 'UTC', 'YYYY-MM'), 'POST /v1/messages', md5('key' || n)::uuid::text,
    encode(sha256(n::text::bytea), 'hex'), ${at} + 86400000 + 3600000
  from ${from}`,
  `insert into wac.message_deadlines (workspace_id, due_at, message_ids)
  select workspace_id, min(${at} + 86400000 + 3600000), array_agg(${
    id("msg")
  }) from ${from} group by workspace_id, n / 64`,
  `insert into wac.message_names (provider_message_id, message_id)
  select ${providerMessageId}, ${id("msg")} from ${from}`,
  `insert into wac.events (id, workspace_id, type, created_at, order_key, sequence, data)
  select ${id("evt")}, workspace_id, 'message.sent', ${at}, ${id("msg")}, 1, json_build_object('message_id', ${
    id("msg")
  },
    'provider_message_id', ${providerMessageId}, 'to', ${customerOf}, 'status', 'sent', 'sequence', 1)
  from ${from}`,
  `insert into wac.deliveries (id, workspace_id, webhook_id, event_id, event_type, envelope, order_key, sequence, status,
    attempt_count, round_attempts, first_attempt_at, last_attempt_at, created_at, completed_at)
  select ${id("dlv")}, workspace_id, webhook_id, ${id("evt")}, 'message.sent', envelope, ${
    id("msg")
  }, 1, 'delivered', 1, 1,
    ${at}, ${at}, ${at}, ${at}
  from ${from}`,
  `insert into wac.conversations (message_id, workspace_id, phone_number_id, customer, is_inbound, received, said)
  select ${id("msg")}, workspace_id, phone_number_id, ${conversationCustomer}, n % 400 = 0,
    case when n % 400 = 0 then json_build_object('from', ${conversationCustomer}, 'fromUserId', null, 'to', phone_number,
      'providerMessageId', ${providerMessageId}, 'type', 'text', 'receivedAt', ${at}) end,
    case when n % 400 = 0 then '{"content":{"body":"Thank you"},"context":null}'::json end
  from ${from}`,
  `insert into wac.contacts (workspace_id, phone_number_id, key, phone, last_inbound_at)
  select workspace_id, phone_number_id, ${customerOf}, ${customerOf}, ${at} from ${from} where n % 5 = 0
  on conflict do nothing`,
  `insert into wac.buckets (key, full_at, phone_number_id, counted_at)
  select 'pair:' || phone_number_id || ':' || ${customerOf}, ${at}, phone_number_id, ${at} from ${from} where n % 5 <> 0
  on conflict do nothing`
]

/** Stores the given number of messages in the only workspace of a database. */
export const insert = (database: Database, messages: number): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    // the rows are consistent by construction, so foreign keys need no checks and commits need no flush
    yield* database.query("set session_replication_role = replica; set synchronous_commit = off")
    for (let first = 1; first <= messages; first += chunk) {
      const last = Math.min(messages, first + chunk - 1)
      for (const insert of inserts) {
        // every statement gets all parameters, and PostgreSQL requires each to be used
        yield* database.query(`with customers as (select $3::bigint) ${insert}`, [first, last, Workload.customers])
      }
    }
    yield* database.query(
      `insert into wac.quota_usage (workspace_id, month, used)
      select id, to_char(now() at time zone 'UTC', 'YYYY-MM'), $1::integer from wac.workspaces
      on conflict (workspace_id, month) do update set used = quota_usage.used + excluded.used`,
      [messages]
    )
    yield* database.query(
      "update wac.phone_numbers set customers_counted = (select count(*) from wac.buckets where counted_at is not null)"
    )
    yield* database.query(
      `insert into wac.contacts (workspace_id, phone_number_id, key, phone, last_inbound_at)
      select w.id, p.id, $1, $1, 1 from wac.workspaces w, wac.phone_numbers p on conflict do nothing`,
      [frequentCustomer]
    )
    yield* database.query("reset session_replication_role; reset synchronous_commit")
    yield* database.tidy
  })
