/**
 * Counts of messages by price, written by the transactions that apply a report. Their rows are locked last and in the
 * order of their keys.
 */
import type { Priced, Sends } from "@wac/core"
import { booleans, instants, integers, texts } from "../Parameter.ts"
import type { Statement } from "../Statement.ts"

/** How many rows share a count, so that few transactions wait for each other. */
const shards = 16

const addText =
  `insert into priced_messages as c (workspace_id, hour, shard, market, category, type, billable, messages)
  select p.workspace_id, p.hour, pg_backend_pid() % ${shards}, p.market, p.category, p.type, p.billable, p.messages
  from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::integer[])
    p (workspace_id, hour, market, category, type, billable, messages)
  order by 1, 2, 4, 5, 6, 7
  on conflict (workspace_id, hour, shard, market, category, type, billable)
    do update set messages = c.messages + excluded.messages`

const addUntoldText = `insert into untold_prices as c (workspace_id, hour, shard, market, category, type, messages)
  select p.workspace_id, p.hour, pg_backend_pid() % ${shards}, p.market, p.category, p.type, p.messages
  from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::integer[])
    p (workspace_id, hour, market, category, type, messages)
  order by 1, 2, 4, 5, 6
  on conflict (workspace_id, hour, shard, market, category, type) do update set messages = c.messages + excluded.messages`

type Told = Priced.Count & { readonly billable: boolean }

const isTold = (count: Priced.Count): count is Told => count.billable !== null

const keyOf = (counts: ReadonlyArray<Priced.Count>) => [
  texts(counts.map(({ workspaceId }) => workspaceId)),
  instants(counts.map(({ hour }) => hour)),
  texts(counts.map(({ market }) => market)),
  texts(counts.map(({ category }) => category)),
  texts(counts.map(({ type }) => type))
]

/** The statements that add changes to the counts. */
export const addPriced = (counts: Sends.Writes["priced"]): ReadonlyArray<Statement> => {
  const told = counts.filter(isTold)
  const untold = counts.filter(({ billable }) => billable === null)
  const messagesOf = (some: ReadonlyArray<Priced.Count>) => integers(some.map(({ messages }) => messages))
  return [
    ...told.length === 0 ? [] : [{
      text: addText,
      params: [...keyOf(told), booleans(told.map(({ billable }) => billable)), messagesOf(told)]
    }],
    ...untold.length === 0 ? [] : [{ text: addUntoldText, params: [...keyOf(untold), messagesOf(untold)] }]
  ]
}

/** A workspace's counts of the hours from a time on. */
export const pricedText = `select c.workspace_id, c.hour, c.market, c.category, c.type, c.billable,
    sum(c.messages)::double precision as messages
  from (
    select p.workspace_id, p.hour, p.market, p.category, p.type, p.billable, p.messages
    from priced_messages p where p.workspace_id = $1 and p.hour >= $2
    union all
    select u.workspace_id, u.hour, u.market, u.category, u.type, null, u.messages
    from untold_prices u where u.workspace_id = $1 and u.hour >= $2
  ) c
  group by c.workspace_id, c.hour, c.market, c.category, c.type, c.billable having sum(c.messages) <> 0
  order by c.hour`
