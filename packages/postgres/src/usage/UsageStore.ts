/**
 * `UsageStore` in PostgreSQL: the statements of its methods.
 */
import { type Activity, type Id, Retention, type Time, Timing, UsageStore, type Waiting } from "@wac/core"
import { Effect, Layer } from "effect"
import { columns, insertOne, integer, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { texts } from "../Parameter.ts"
import type { Relation } from "../Schema.ts"
import { statement, value } from "../Statement.ts"
import { count, pricedText } from "./PriceTally.ts"

const activity = columns<Activity.Count>({
  workspaceId: "text",
  hour: "bigint",
  activity: "text",
  count: "integer"
})

const month = row({ month: text(), used: integer() })

export const countsText = `select u.workspace_id, u.hour, u.activity, u.count::double precision as count
  from wac.usage_counts u where u.workspace_id = $1 and u.hour >= $2 and u.hour < $3
  order by u.hour, u.activity`

const timing = columns<Timing.Count>({
  workspaceId: "text",
  kind: "text",
  span: "integer",
  at: "bigint",
  durationGroup: "integer",
  count: "integer"
})

/** Ordered, so that concurrent processes do not deadlock. */
const add = statement({ activities: activity, timings: timing }, ({ activities, timings }) =>
  `with counted as (
    insert into wac.usage_counts as u (${activity.names()})
    select ${activity.names("c")} from ${activities("c")}
    order by 1, 2, 3
    on conflict (workspace_id, hour, activity) do update set count = u.count + excluded.count
  )
  insert into wac.usage_timings as t (${timing.names()})
  select ${timing.names("c")} from ${timings("c")}
  order by 1, 2, 3, 4, 5
  on conflict (workspace_id, kind, span, at, duration_group) do update set count = t.count + excluded.count`)

const timed = timing.omit("workspaceId", "span")

/** $1 workspace, $2 kinds, $3 span, $4 since, $5 until, $6 step. */
export const timedText =
  `select t.kind, t.at - t.at % $6::bigint as at, t.duration_group, sum(t.count)::double precision as count
  from wac.usage_timings t
  where t.workspace_id = $1 and t.kind = any ($2::text[]) and t.span = $3 and t.at >= $4::bigint and t.at < $5::bigint
  group by 1, 2, 3`

const peak = columns<Waiting.Peak>({
  workspaceId: "text",
  hour: "bigint",
  queued: "bigint",
  held: "bigint"
})

const raise = insertOne(
  peak,
  "wac.usage_waiting",
  ` on conflict (workspace_id, hour) do update
    set queued = greatest(usage_waiting.queued, excluded.queued), held = greatest(usage_waiting.held, excluded.held)
    where excluded.queued > usage_waiting.queued or excluded.held > usage_waiting.held`
)

export const waited = statement(
  { workspaceId: value<Id.WorkspaceId>(), since: value<Time.Instant>(), until: value<Time.Instant>() },
  ({ since, until, workspaceId }) =>
    `select ${peak.names("u")} from wac.usage_waiting u
  where u.workspace_id = ${workspaceId} and u.hour >= ${since} and u.hour < ${until}
  order by u.hour`
)

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

export const forgetWaitedText = forgetCountsText("wac.usage_waiting")

export const forgetPricedText = forgetCountsText("wac.priced_messages")

export const forgetUntoldText = forgetCountsText("wac.untold_prices")

/** Deletes a range of the key for each workspace and kind. $1 before, $2 limit, $3 span, $4 kinds. */
export const forgetTimedText = `with gone as (
    delete from wac.usage_timings t where t.ctid = any (array(
      select t.ctid from wac.workspaces w cross join unnest($4::text[]) k (kind) cross join lateral (
        select t.ctid from wac.usage_timings t
        where t.workspace_id = w.id and t.kind = k.kind and t.span = $3 and t.at < $1 order by t.at limit $2
      ) t
    ))
    returning t.workspace_id || ' ' || t.kind as workspace_id
  )
  select ${Forgotten.columnsByWorkspace("$2")}`

export const layer = Layer.effect(
  UsageStore.UsageStore,
  Effect.map(Database, ({ query }) => {
    const forgetTimed = (span: number, before: Time.Instant) =>
      query("UsageStore.forget", {
        text: forgetTimedText,
        params: [before, forgottenAtOnce, span, texts(Timing.kinds)]
      })
    return UsageStore.UsageStore.of({
      add: (counted) => Effect.asVoid(query("UsageStore.add", add({ ...counted }))),
      counts: (workspaceId, { since, until }) =>
        Effect.map(
          query("UsageStore.counts", { text: countsText, params: [workspaceId, since, until] }),
          (rows) => rows.map(activity.read)
        ),
      timed: (workspaceId, { since, span, step, until }, kinds) =>
        Effect.map(
          query("UsageStore.timed", {
            text: timedText,
            params: [workspaceId, texts(kinds), span, since, until, step]
          }),
          (rows) => rows.map(timed.read)
        ),
      months: (workspaceId) =>
        Effect.map(
          query("UsageStore.months", { text: monthsText, params: [workspaceId, UsageStore.maxMonths] }),
          (rows) => rows.map(month.read)
        ),
      priced: (workspaceId, { since, until }) =>
        Effect.map(
          query("UsageStore.priced", { text: pricedText, params: [workspaceId, since, until] }),
          (rows) => rows.map(count.read)
        ),
      raise: (peak) => Effect.asVoid(query("UsageStore.raise", raise(peak))),
      waited: (workspaceId, { since, until }) =>
        Effect.map(
          query("UsageStore.waited", waited({ workspaceId, since, until })),
          (rows) => rows.map(peak.read)
        ),
      forget: (before) =>
        Effect.map(
          Effect.all([
            ...[forgetText, forgetWaitedText, forgetPricedText, forgetUntoldText].map((text) =>
              query("UsageStore.forget", { text, params: [before, forgottenAtOnce] })
            ),
            forgetTimed(Timing.spans.hour, before)
          ]),
          (all) => Retention.together(all.map(Forgotten.read))
        ),
      forgetShort: (before) => Effect.map(forgetTimed(Timing.spans.short, before), Forgotten.read)
    })
  })
)
