/**
 * Counts of callers' queued messages by workspace, so that *accept* judges the queue's limit (contract §15), and the
 * backlog is reported, without counting the queue. The transactions that change the queue write them; they lock these
 * rows after the queue's and in the order of their keys.
 */
import type { Id } from "@wac/core"
import { double, list, row, text } from "../Columns.ts"
import { ownShard } from "../Shards.ts"
import { type Rows, statement } from "../Statement.ts"

/**
 * The text of a statement that counts the rows of `source`, which were added to the queue (1) or removed from it (-1).
 * Campaigns' rows have no workspace, and are not counted.
 */
export const counting = (source: string, by: 1 | -1): string =>
  `insert into wac.queue_sizes as s (workspace_id, shard, queued)
  select c.workspace_id, ${ownShard}, ${by} * count(*) from ${source} c
  where c.workspace_id is not null
  group by 1
  order by 1
  on conflict (workspace_id, shard) do update set queued = s.queued + excluded.queued`

/** Loads how many messages callers have queued in workspaces. */
export const load = statement(
  { workspaceIds: list<Id.WorkspaceId>("text") },
  ({ workspaceIds }) =>
    `select s.workspace_id, sum(s.queued)::double precision as queued from wac.queue_sizes s
  where s.workspace_id = any (${workspaceIds}) group by s.workspace_id`
)

const size = row({ workspaceId: text<Id.WorkspaceId>(), queued: double() })

/** Reads {@link load}. */
export const sizesOf = (rows: Rows): (id: Id.WorkspaceId) => number => {
  const sizes = new Map(rows.map(size.read).map(({ queued, workspaceId }) => [workspaceId, queued]))
  return (id) => sizes.get(id) ?? 0
}
