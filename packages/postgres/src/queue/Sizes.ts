/**
 * How many messages of callers wait, by workspace: written by the transactions that change the queue. Their rows are
 * locked after the queue's and in the order of their keys.
 */
import type { Id } from "@wac/core"
import { double, list, row, text } from "../Columns.ts"
import { ownShard } from "../Shards.ts"
import { type Rows, statement } from "../Statement.ts"

/**
 * A statement that counts rows of the queue, which `source` holds, as added (1) or gone (-1). Those of campaigns have no
 * workspace, and are not counted.
 */
export const counting = (source: string, by: 1 | -1): string =>
  `insert into wac.queue_sizes as s (workspace_id, shard, queued)
  select c.workspace_id, ${ownShard}, ${by} * count(*) from ${source} c
  where c.workspace_id is not null
  group by 1
  order by 1
  on conflict (workspace_id, shard) do update set queued = s.queued + excluded.queued`

/** How many messages wait in workspaces. */
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
