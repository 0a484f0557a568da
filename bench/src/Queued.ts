/**
 * Inserts queued messages with SQL, as callers queue them.
 */
import { Effect } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import type { Database } from "./Database.ts"
import * as Workload from "./Workload.ts"

/** The number of messages per statement. */
const chunk = 250_000

const now = "extract(epoch from now())::bigint * 1000"

const day = 86_400_000

/** When the messages are due; what was cancelled waits no more. */
export type Due = "Now" | "Later" | "Cancelled"

const later = `${now} + ${day} + (n * ${80 * day}::numeric / c.count)::bigint`

const times: { readonly [due in Due]: string } = {
  /** Since a moment ago. */
  Now: `${now} - 1000`,
  /** One after the other, from tomorrow until 80 days later. */
  Later: later,
  Cancelled: later
}

const id = (prefix: string): string => `'${prefix}_0' || lpad(n::text, 25, '0')`

/** Messages with their keys, answered as queued, and their places in the queue, for a number of a database. */
const insert = (due: Due, template: object): string =>
  `with all_of_them as (select $3::numeric as count), given as materialized (
    select ${id("msg")} as id, w.id as workspace_id, k.id as api_key_id, p.id as phone_number_id, p.phone_number,
      n, ${now} as at, ${times[due]} as send_at
    from generate_series($1::bigint, $2::bigint) as n, all_of_them c, wac.phone_numbers p
      join wac.workspaces w on w.id = p.workspace_id join wac.api_keys k on k.workspace_id = w.id
    where $4::text is null or p.provider_number_id = $4
  ), added as (
    insert into wac.messages (id, workspace_id, api_key_id, phone_number_id, from_number, content, status, status_at,
      created_at, send_at, route, key, fingerprint, answer)
    select id, workspace_id, api_key_id, phone_number_id, phone_number,
      json_build_object('to', '${recipientPrefix}' || lpad(n::text, 8, '0'), 'type', 'template', 'template',
        '${JSON.stringify(template)}'::json),
      '${
    due === "Cancelled" ? "cancelled" : "queued"
  }', at, at, send_at, 'POST ${Workload.path}', md5('key' || n)::uuid::text,
      encode(sha256(n::text::bytea), 'hex'), json_build_object('_tag', 'Queued', 'messageId', id,
        'workspaceId', workspace_id, 'apiKeyId', api_key_id, 'sendAt', send_at)
    from given
  )
  insert into wac.send_queue (message_id, phone_number_id, workspace_id, due_at, send_until)
  select id, phone_number_id, workspace_id, send_at, send_at + ${day} from given where ${due !== "Cancelled"}`

/** The numbers of the messages' customers begin with this, and nobody else's do. */
export const recipientPrefix = "+49151"

/** Stores so many messages that are sent from a number: the only one of a database, if none is named. */
export const fill = (
  database: Database,
  { count, due, providerNumberId = null, template }: {
    readonly count: number
    readonly due: Due
    readonly template: object
    readonly providerNumberId?: string | null
  }
): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    yield* database.query("set synchronous_commit = off")
    for (let first = 1; first <= count; first += chunk) {
      yield* database.query(insert(due, template), [
        first,
        Math.min(count, first + chunk - 1),
        count,
        providerNumberId
      ])
    }
    if (due !== "Cancelled") yield* tell(database)
    yield* database.query("reset synchronous_commit")
    yield* database.tidy
  })

/** Has the queue know of messages. */
const tell = (database: Database): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    yield* database.query(
      `insert into wac.queue_sizes as s (workspace_id, shard, queued) select workspace_id, 0, count(*)
      from wac.send_queue group by 1
      on conflict (workspace_id, shard) do update set queued = s.queued + excluded.queued`
    )
    yield* database.query(
      `insert into wac.send_lanes as l (phone_number_id, workspace_id, work_at)
      select q.phone_number_id, q.workspace_id, min(q.due_at) from wac.send_queue q group by 1, 2
      on conflict (phone_number_id) do update set work_at = excluded.work_at`
    )
  })
