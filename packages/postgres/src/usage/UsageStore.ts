/**
 * `UsageStore` in PostgreSQL: the statements of its methods.
 */
import { type Activity, type Priced, Retention, UsageStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { instant, plain } from "../Column.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { instants, integers, texts } from "../Parameter.ts"
import type { Row } from "../Statement.ts"
import { pricedText } from "./Priced.ts"

/** Ordered, so that concurrent processes do not deadlock. */
const addText = `insert into usage_counts as u (workspace_id, hour, activity, count)
  select c.* from unnest($1::text[], $2::bigint[], $3::text[], $4::integer[]) c (workspace_id, hour, activity, count)
  order by 1, 2, 3
  on conflict (workspace_id, hour, activity) do update set count = u.count + excluded.count`

export const countsText = `select u.workspace_id, u.hour, u.activity, u.count::double precision as count
  from usage_counts u where u.workspace_id = $1 and u.hour >= $2 order by u.hour, u.activity`

const monthsText = `select q.month, q.used from quota_usage q
  where q.workspace_id = $1 order by q.month desc limit $2`

/** Rows deleted at once for a workspace. */
const forgottenAtOnce = 1000

/** Deletes a range of the key for each workspace. */
const forgetCountsText = (table: string) =>
  `with gone as (
    delete from ${table} c where c.ctid = any (array(
      select c.ctid from workspaces w cross join lateral (
        select c.ctid from ${table} c where c.workspace_id = w.id and c.hour < $1 order by c.hour limit $2
      ) c
    ))
    returning c.workspace_id
  )
  select ${Forgotten.columnsByWorkspace("$2")}`

export const forgetText = forgetCountsText("usage_counts")

export const forgetPricedText = forgetCountsText("priced_messages")

export const forgetUntoldText = forgetCountsText("untold_prices")

const pricedOf = (row: Row): Priced.Count => ({
  workspaceId: plain(row, "workspace_id"),
  hour: instant(row, "hour"),
  market: plain(row, "market"),
  category: plain(row, "category"),
  type: plain(row, "type"),
  billable: plain(row, "billable"),
  messages: plain(row, "messages")
})

const countOf = (row: Row): Activity.Count => ({
  workspaceId: plain(row, "workspace_id"),
  hour: instant(row, "hour"),
  activity: plain(row, "activity"),
  count: plain(row, "count")
})

export const layer = Layer.effect(
  UsageStore.UsageStore,
  Effect.map(Database, ({ query }) =>
    UsageStore.UsageStore.of({
      add: (counts) =>
        Effect.asVoid(query("UsageStore.add", addText, [
          texts(counts.map(({ workspaceId }) => workspaceId)),
          instants(counts.map(({ hour }) => hour)),
          texts(counts.map(({ activity }) => activity)),
          integers(counts.map(({ count }) => count))
        ])),
      counts: (workspaceId, since) =>
        Effect.map(query("UsageStore.counts", countsText, [workspaceId, since]), (rows) => rows.map(countOf)),
      months: (workspaceId) =>
        Effect.map(
          query("UsageStore.months", monthsText, [workspaceId, UsageStore.maxMonths]),
          (rows) => rows.map((row) => ({ month: plain<string>(row, "month"), used: plain<number>(row, "used") }))
        ),
      priced: (workspaceId, since) =>
        Effect.map(query("UsageStore.priced", pricedText, [workspaceId, since]), (rows) => rows.map(pricedOf)),
      forget: (before) =>
        Effect.map(
          Effect.forEach(
            [forgetText, forgetPricedText, forgetUntoldText],
            (text) => query("UsageStore.forget", text, [before, forgottenAtOnce])
          ),
          (all) => Retention.together(all.map(Forgotten.read))
        )
    }))
)
