/**
 * The counts of campaigns, written by the transactions that change a recipient's outcome. Their rows are locked last
 * and in the order of their keys.
 */
import { type CampaignTally, type Id, type Sends, Variant } from "@wac/core"
import { integers, texts } from "../Parameter.ts"
import type { Row, Statement } from "../Statement.ts"

/** How many rows share a number, so that few transactions wait for each other. */
const shards = 16

/**
 * A statement that adds the changes of `source`, named `a`, to counts. Each variant has shards of its own, since the
 * key does not hold the variant: versions that know no variants add to the same counts.
 */
export const adding = (source: string): string =>
  `insert into campaign_tallies as t (campaign_id, shard, outcome, reason, variant, recipients)
  select a.campaign_id, pg_backend_pid() % ${shards} + ${shards} * a.variant_place, a.outcome, a.reason, a.variant,
    sum(a.recipients)
  from ${source}
  group by 1, 2, 3, 4, 5
  order by 1, 2, 3, 4
  on conflict (campaign_id, shard, outcome, reason) do update set recipients = t.recipients + excluded.recipients`

/** The columns of a source that is the `unnest` of {@link columnsOf}. */
export const columns = "campaign_id, outcome, reason, variant, variant_place, recipients"

const addText = adding(
  `unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[]) a (${columns})`
)

/** Outcomes without a reason have this one, since a key has no null. */
const noReason = ""

/** As {@link noReason}. */
const noVariant = ""

/** A change of a campaign's counts. */
export interface Change extends CampaignTally.Tally {
  readonly campaignId: Id.CampaignId
}

/** Changes as parameters, one for each of {@link columns}. */
export const columnsOf = (changes: ReadonlyArray<Change>): ReadonlyArray<unknown> => [
  texts(changes.map(({ campaignId }) => campaignId)),
  texts(changes.map(({ outcome }) => outcome)),
  texts(changes.map(({ reason }) => reason ?? noReason)),
  texts(changes.map(({ variant }) => variant ?? noVariant)),
  integers(changes.map(({ variant }) => variant === null ? 0 : 1 + Variant.placeOf(variant))),
  integers(changes.map(({ recipients }) => recipients))
]

/** The statements that add changes to counts. */
export const addTallies = (tallies: Sends.Writes["tallies"]): ReadonlyArray<Statement> => {
  const changes = tallies.flatMap(({ campaignId, changes }) => changes.map((change) => ({ campaignId, ...change })))
  return changes.length === 0 ? [] : [{ text: addText, params: columnsOf(changes) }]
}

/** The tallies of the campaign `c` as JSON. */
export const tallies = `(
    select json_agg(json_build_object('outcome', t.outcome, 'reason', nullif(t.reason, '${noReason}'),
      'variant', nullif(t.variant, '${noVariant}'), 'recipients', t.recipients) order by t.outcome, t.reason, t.variant)
    from (
      select t.outcome, t.reason, t.variant, sum(t.recipients)::integer as recipients from campaign_tallies t
      where t.campaign_id = c.id group by t.outcome, t.reason, t.variant having sum(t.recipients) <> 0
    ) t
  )`

/** Reads {@link tallies}. */
export const talliesOf = (row: Row): ReadonlyArray<CampaignTally.Tally> =>
  row["tallies"] as ReadonlyArray<CampaignTally.Tally> | null ?? []
