/**
 * A campaign's counts of recipients by outcome. The transactions that change a recipient's outcome write them; they
 * lock these rows after those of the queue (`Sizes`) and in the order of their keys.
 */
import { type CampaignTally, type Id, type SendBatch, Variant } from "@wac/core"
import { columns, json, row, unlessEmpty } from "../Columns.ts"
import { ownShard, shards } from "../Shards.ts"
import type { Row, Statement } from "../Statement.ts"

/**
 * The text of a statement that adds changes to counts. `source` must name them `a`. Each variant has its own shards,
 * since the key does not contain the variant: versions without variants add to the same rows.
 */
export const adding = (source: string): string =>
  `insert into wac.campaign_tallies as t (campaign_id, shard, outcome, reason, variant, recipients)
  select a.campaign_id, ${ownShard} + ${shards} * a.variant_place, a.outcome, a.reason, a.variant,
    sum(a.recipients)
  from ${source}
  group by 1, 2, 3, 4, 5
  order by 1, 2, 3, 4
  on conflict (campaign_id, shard, outcome, reason) do update set recipients = t.recipients + excluded.recipients`

/** Stored for an outcome without a reason, since a key cannot contain null. */
const noReason = ""

/** Stored if there is no variant, like {@link noReason}. */
const noVariant = ""

/** A change of a campaign's counts. */
export interface Change extends CampaignTally.Tally {
  readonly campaignId: Id.CampaignId
}

/** The stored form of changes, as the source of {@link adding}. */
export const change = columns<
  Omit<Change, "reason" | "variant"> & {
    readonly reason: string
    readonly variant: string
    readonly variantPlace: number
  }
>({
  campaignId: "text",
  outcome: "text",
  reason: "text",
  variant: "text",
  variantPlace: "integer",
  recipients: "integer"
})

/** The stored form of a change, for {@link change}. */
export const changeOf = <A extends Change>({ reason, variant, ...others }: A) => ({
  ...others,
  reason: reason ?? noReason,
  variant: variant ?? noVariant,
  variantPlace: variant === null ? 0 : 1 + Variant.placeOf(variant)
})

const add = unlessEmpty(change, (rows) => adding(rows("a")))

/** The statements that add changes to counts. */
export const addTallies = (tallies: SendBatch.Writes["tallies"]): ReadonlyArray<Statement> =>
  add(tallies.flatMap(({ campaignId, changes }) => changes.map((change) => changeOf({ campaignId, ...change }))))

/** The tallies of the campaign `c` as JSON. */
export const tallies = `(
    select json_agg(json_build_object('outcome', t.outcome, 'reason', nullif(t.reason, '${noReason}'),
      'variant', nullif(t.variant, '${noVariant}'), 'recipients', t.recipients) order by t.outcome, t.reason, t.variant)
    from (
      select t.outcome, t.reason, t.variant, sum(t.recipients)::integer as recipients from wac.campaign_tallies t
      where t.campaign_id = c.id group by t.outcome, t.reason, t.variant having sum(t.recipients) <> 0
    ) t
  )`

const stored = row({ tallies: json<ReadonlyArray<CampaignTally.Tally> | null>() })

/** Reads {@link tallies}. */
export const talliesOf = (row: Row): ReadonlyArray<CampaignTally.Tally> => stored.read(row).tallies ?? []
