/**
 * A campaign's counts of messages by time span and stage. The transactions that change a message's stage write them;
 * they lock these rows after those of `Tallies` and in the order of their keys.
 */
import { CampaignTimeline, type Id } from "@wac/core"
import { columns, unlessEmpty } from "../Columns.ts"
import { ownShard } from "../Shards.ts"
import { statement, value } from "../Statement.ts"

/** The stored form of changes, as the source of {@link adding}. */
export const change = columns<CampaignTimeline.Change>({
  campaignId: "text",
  at: "bigint",
  sent: "integer",
  delivered: "integer",
  read: "integer"
})

const { stages } = CampaignTimeline

/** The text of a statement that adds changes to counts. `source` must name them `a`. */
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
 * Reads a campaign's counts, oldest first. Messages from before these counts existed may have been subtracted without
 * having been added, so a negative sum is returned as zero.
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
