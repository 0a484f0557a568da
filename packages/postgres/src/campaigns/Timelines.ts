/**
 * The counts of campaigns by time, written by the transactions that change how far a message came. Their rows are locked
 * after those of `Tallies` and in the order of their keys.
 */
import { CampaignTimeline, type Id } from "@wac/core"
import { columns, unlessEmpty } from "../Columns.ts"
import { ownShard } from "../Shards.ts"
import { statement, value } from "../Statement.ts"

/** The rows of a source that {@link adding} adds. */
export const change = columns<CampaignTimeline.Change>({
  campaignId: "text",
  at: "bigint",
  sent: "integer",
  delivered: "integer",
  read: "integer"
})

const { stages } = CampaignTimeline

/** A statement that adds the changes of `source`, named `a`, to counts. */
export const adding = (source: string): string =>
  `insert into wac.campaign_timelines as t (campaign_id, at, shard, ${stages.join(", ")})
  select a.campaign_id, a.at, ${ownShard}, ${stages.map((stage) => `sum(a.${stage})`).join(", ")}
  from ${source}
  group by 1, 2, 3
  order by 1, 2, 3
  on conflict (campaign_id, at, shard) do update set ${
    stages.map((stage) => `${stage} = t.${stage} + excluded.${stage}`).join(", ")
  }`

/** The statements that add changes to counts. */
export const addTimelines = unlessEmpty(change, (rows) => adding(rows("a")))

/**
 * A campaign's counts, oldest first. What was counted before there were these counts may have been taken off since, so
 * none is below zero.
 */
export const timeline = statement(
  { workspaceId: value<Id.WorkspaceId>(), id: value<Id.CampaignId>() },
  ({ id, workspaceId }) =>
    `select t.at, ${stages.map((stage) => `greatest(sum(t.${stage}), 0)::integer as ${stage}`).join(", ")}
  from wac.campaigns c join wac.campaign_timelines t on t.campaign_id = c.id
  where c.id = ${id} and c.workspace_id = ${workspaceId}
  group by t.at order by t.at`
)

/** Reads a row of {@link timeline}. */
export const countOf = change.omit("campaignId").read
