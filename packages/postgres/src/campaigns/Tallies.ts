/**
 * The counts of campaigns, written by the transactions that change a recipient's outcome. Their rows are locked last
 * and in the order of their keys.
 */
import { CampaignCounts, type Sends } from "@wac/core"
import { integers, texts } from "../Parameter.ts"
import type { Row, Statement } from "../Statement.ts"

/** How many rows share an outcome's number, so that few transactions wait for each other. */
const shards = 16

const addText = `insert into campaign_tallies as t (campaign_id, shard, outcome, recipients)
  select a.campaign_id, pg_backend_pid() % ${shards}, a.outcome, a.recipients
  from unnest($1::text[], $2::text[], $3::integer[]) a (campaign_id, outcome, recipients) order by 1, 3
  on conflict (campaign_id, shard, outcome) do update set recipients = t.recipients + excluded.recipients`

/** The statements that add changes to counts. */
export const addTallies = (tallies: Sends.Writes["tallies"]): ReadonlyArray<Statement> => {
  const changes = tallies.flatMap(({ campaignId, change }) =>
    Object.entries(change).flatMap(([outcome, recipients]) =>
      recipients === 0 ? [] : [{ campaignId, outcome, recipients }]
    )
  )
  return changes.length === 0 ? [] : [{
    text: addText,
    params: [
      texts(changes.map(({ campaignId }) => campaignId)),
      texts(changes.map(({ outcome }) => outcome)),
      integers(changes.map(({ recipients }) => recipients))
    ]
  }]
}

/** The counts of the campaign `c` as JSON. */
export const counts = `(
    select json_object_agg(t.outcome, t.recipients) from (
      select t.outcome, sum(t.recipients)::integer as recipients from campaign_tallies t
      where t.campaign_id = c.id group by t.outcome
    ) t
  )`

/** Reads {@link counts}. */
export const countsOf = (row: Row): CampaignCounts.CampaignCounts => ({
  ...CampaignCounts.none,
  ...row["counts"] as Partial<CampaignCounts.CampaignCounts> | null
})
