/**
 * `UsageStore` in PostgreSQL: the statements of its methods.
 */
import { type Activity, Retention, UsageStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { columns, integer, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import type { Relation } from "../Schema.ts"
import { statement } from "../Statement.ts"
import { count, pricedText } from "./PriceTally.ts"

const activity = columns<Activity.Count>({
  workspaceId: "text",
  hour: "bigint",
  activity: "text",
  count: "integer"
})

const month = row({ month: text(), used: integer() })

/** Ordered, so that concurrent processes do not deadlock. */
const add = statement({ counts: activity }, ({ counts }) =>
  `insert into wac.usage_counts as u (${activity.names()})
  select ${activity.names("c")} from ${counts("c")}
  order by 1, 2, 3
  on conflict (workspace_id, hour, activity) do update set count = u.count + excluded.count`)

export const countsText = `select u.workspace_id, u.hour, u.activity, u.count::double precision as count
  from wac.usage_counts u where u.workspace_id = $1 and u.hour >= $2 and u.hour < $3
  order by u.hour, u.activity`

const monthsText = `select q.month, q.used from wac.quota_usage q
  where q.workspace_id = $1 order by q.month desc limit $2`

/** Rows deleted at once for a workspace. */
const forgottenAtOnce = 1000

/** Deletes a range of the key for each workspace. */
const forgetCountsText = (table: Relation) =>
  `with gone as (
    delete from ${table} c where c.ctid = any (array(
      select c.ctid from wac.workspaces w cross join lateral (
        select c.ctid from ${table} c where c.workspace_id = w.id and c.hour < $1 order by c.hour limit $2
      ) c
    ))
    returning c.workspace_id
  )
  select ${Forgotten.columnsByWorkspace("$2")}`

export const forgetText = forgetCountsText("wac.usage_counts")

export const forgetPricedText = forgetCountsText("wac.priced_messages")

export const forgetUntoldText = forgetCountsText("wac.untold_prices")

export const layer = Layer.effect(
  UsageStore.UsageStore,
  Effect.map(Database, ({ query }) =>
    UsageStore.UsageStore.of({
      add: (counts) => Effect.asVoid(query("UsageStore.add", add({ counts }))),
      counts: (workspaceId, { since, until }) =>
        Effect.map(query("UsageStore.counts", { text: countsText, params: [workspaceId, since, until] }), (rows) =>
          rows.map(activity.read)),
      months: (workspaceId) =>
        Effect.map(
          query("UsageStore.months", { text: monthsText, params: [workspaceId, UsageStore.maxMonths] }),
          (rows) =>
            rows.map(month.read)
        ),
      priced: (workspaceId, { since, until }) =>
        Effect.map(query("UsageStore.priced", { text: pricedText, params: [workspaceId, since, until] }), (rows) =>
          rows.map(count.read)),
      forget: (before) =>
        Effect.map(
          Effect.forEach(
            [forgetText, forgetPricedText, forgetUntoldText],
            (text) =>
              query("UsageStore.forget", { text, params: [before, forgottenAtOnce] })
          ),
          (all) =>
            Retention.together(all.map(Forgotten.read))
        )
    }))
)
