/**
 * Counts of messages by what determines their price. The transactions that apply a report write them; they lock these
 * rows after those of campaigns (`Timelines`) and in the order of their keys.
 */
import type { Id, PriceTally, SendBatch, Time } from "@wac/core"
import { columns, unlessEmpty } from "../Columns.ts"
import { ownShard } from "../Shards.ts"
import { type Statement, statement, value } from "../Statement.ts"

/** The inputs of a statement that reads a range of a workspace's hours. */
export const ofHours = {
  workspaceId: value<Id.WorkspaceId>(),
  since: value<Time.Instant>(),
  until: value<Time.Instant>()
}

/** The columns of a count. */
export const count = columns<PriceTally.Count>({
  workspaceId: "text",
  hour: "bigint",
  market: "text",
  category: "text",
  type: "text",
  billable: "boolean",
  messages: "integer"
})

const addTold = unlessEmpty(
  count,
  (rows) =>
    `insert into wac.priced_messages as c (workspace_id, hour, shard, market, category, type, billable, messages)
  select p.workspace_id, p.hour, ${ownShard}, p.market, p.category, p.type, p.billable, p.messages
  from ${rows("p")}
  order by 1, 2, 4, 5, 6, 7
  on conflict (workspace_id, hour, shard, market, category, type, billable)
    do update set messages = c.messages + excluded.messages`
)

const addUntold = unlessEmpty(
  count.omit("billable"),
  (rows) =>
    `insert into wac.untold_prices as c (workspace_id, hour, shard, market, category, type, messages)
  select p.workspace_id, p.hour, ${ownShard}, p.market, p.category, p.type, p.messages
  from ${rows("p")}
  order by 1, 2, 4, 5, 6
  on conflict (workspace_id, hour, shard, market, category, type) do update set messages = c.messages + excluded.messages`
)

/** The statements that add changes to the counts. */
export const addPriced = (counts: SendBatch.Writes["priced"]): ReadonlyArray<Statement> => [
  ...addTold(counts.filter(({ billable }) => billable !== null)),
  ...addUntold(counts.filter(({ billable }) => billable === null))
]

/** Reads a workspace's counts for a range of hours. */
export const priced = statement(
  ofHours,
  ({ since, until, workspaceId }) =>
    `select c.workspace_id, c.hour, c.market, c.category, c.type, c.billable,
    sum(c.messages)::double precision as messages
  from (
    select p.workspace_id, p.hour, p.market, p.category, p.type, p.billable, p.messages
    from wac.priced_messages p where p.workspace_id = ${workspaceId} and p.hour >= ${since} and p.hour < ${until}
    union all
    select u.workspace_id, u.hour, u.market, u.category, u.type, null, u.messages
    from wac.untold_prices u where u.workspace_id = ${workspaceId} and u.hour >= ${since} and u.hour < ${until}
  ) c
  group by c.workspace_id, c.hour, c.market, c.category, c.type, c.billable having sum(c.messages) <> 0
  order by c.hour`
)
