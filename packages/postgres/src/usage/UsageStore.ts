/**
 * `UsageStore` in PostgreSQL: the statements of its methods.
 */
import { type Activity, type Time, Timing, UsageStore, type Waiting } from "@wac/core"
import { Effect, Layer } from "effect"
import { columns, integer, list, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import type { Relation } from "../Schema.ts"
import { type Statement, statement, value } from "../Statement.ts"
import { insertOne } from "../TableStatements.ts"
import { count, ofHours, priced } from "./PriceTally.ts"

const activity = columns<Activity.Count>({
  workspaceId: "text",
  hour: "bigint",
  activity: "text",
  count: "integer"
})

const month = row({ month: text(), used: integer() })

/** Reads a workspace's counts of activities for a range of hours. */
export const counts = statement(
  ofHours,
  ({ since, until, workspaceId }) =>
    `select u.workspace_id, u.hour, u.activity, u.count::double precision as count
  from wac.usage_counts u where u.workspace_id = ${workspaceId} and u.hour >= ${since} and u.hour < ${until}
  order by u.hour, u.activity`
)

const timing = columns<Timing.Count>({
  workspaceId: "text",
  kind: "text",
  span: "integer",
  at: "bigint",
  durationGroup: "integer",
  count: "integer"
})

/** Adds to the counts. The rows are written in order, so that concurrent processes do not deadlock. */
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

const kinds = list<Timing.Kind>("text")

const span = value<number>()

/** Sums up a workspace's timings for a range of hours, by kind and step of time. */
export const sumTimings = statement(
  { ...ofHours, kinds, span, step: value<number>() },
  ({ kinds, since, span, step, until, workspaceId }) =>
    `select t.kind, t.at - t.at % ${step}::bigint as at, t.duration_group, sum(t.count)::double precision as count
  from wac.usage_timings t
  where t.workspace_id = ${workspaceId} and t.kind = any (${kinds}) and t.span = ${span}
    and t.at >= ${since}::bigint and t.at < ${until}::bigint
  group by 1, 2, 3`
)

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

/** Reads the hourly peaks of what waited in a workspace (core's `Waiting`), for a range of hours. */
export const waited = statement(
  ofHours,
  ({ since, until, workspaceId }) =>
    `select ${peak.names("u")} from wac.usage_waiting u
  where u.workspace_id = ${workspaceId} and u.hour >= ${since} and u.hour < ${until}
  order by u.hour`
)

const months = statement(
  { workspaceId: ofHours.workspaceId },
  ({ workspaceId }) =>
    `select q.month, q.used from wac.quota_usage q
  where q.workspace_id = ${workspaceId} order by q.month desc limit ${UsageStore.maxMonths}`
)

/** The maximum number of rows deleted in one statement. */
const forgottenAtOnce = 1000

const deletion = { before: value<Time.Instant>(), from: value<string>(), limit: value<number>() }

/** Deletes old counts: a range of the primary key for each workspace. */
const forgetHours = (table: Relation) =>
  statement(deletion, ({ before, from, limit }) =>
    Forgotten.walk({
      table,
      from,
      limit,
      old: `select c.ctid from ${table} c
      where c.workspace_id = w.id and c.hour < ${before} order by c.hour limit ${limit}
      for update skip locked`
    }))

/** The deletions of hourly counts, by table. */
export const forgetting = {
  usage_counts: forgetHours("wac.usage_counts"),
  usage_waiting: forgetHours("wac.usage_waiting"),
  priced_messages: forgetHours("wac.priced_messages"),
  untold_prices: forgetHours("wac.untold_prices")
}

/** Deletes old timings: a range of the primary key for each workspace and kind. */
export const forgetTimings = statement(
  { ...deletion, span, kinds },
  ({ before, from, kinds, limit, span }) =>
    Forgotten.walk({
      table: "wac.usage_timings",
      from,
      limit,
      old: `select t.ctid from unnest(${kinds}) k (kind) cross join lateral (
        select t.ctid from wac.usage_timings t
        where t.workspace_id = w.id and t.kind = k.kind and t.span = ${span} and t.at < ${before}
        order by t.at limit ${limit} for update skip locked
      ) t limit ${limit}`
    })
)

export const layer = Layer.effect(
  UsageStore.UsageStore,
  Effect.map(Database, ({ planned, query }) => {
    const forget = (statement: Statement) =>
      Effect.map(planned("UsageStore.forget", [statement]), ([rows]) => Forgotten.readWalked(rows!))
    const forgetTimed = (span: number) => (before: Time.Instant, from: string) =>
      forget(forgetTimings({ before, from, limit: forgottenAtOnce, span, kinds: Timing.kinds }))
    return UsageStore.UsageStore.of({
      add: (counted) => Effect.asVoid(query("UsageStore.add", add({ ...counted }))),
      counts: (workspaceId, { since, until }) =>
        Effect.map(
          query("UsageStore.counts", counts({ workspaceId, since, until })),
          (rows) => rows.map(activity.read)
        ),
      timed: (workspaceId, { since, span, step, until }, kinds) =>
        Effect.map(
          query("UsageStore.timed", sumTimings({ workspaceId, kinds, span, since, until, step })),
          (rows) => rows.map(timed.read)
        ),
      months: (workspaceId) =>
        Effect.map(
          query("UsageStore.months", months({ workspaceId })),
          (rows) => rows.map(month.read)
        ),
      priced: (workspaceId, { since, until }) =>
        Effect.map(
          query("UsageStore.priced", priced({ workspaceId, since, until })),
          (rows) => rows.map(count.read)
        ),
      raise: (peak) => Effect.asVoid(query("UsageStore.raise", raise(peak))),
      waited: (workspaceId, { since, until }) =>
        Effect.map(
          query("UsageStore.waited", waited({ workspaceId, since, until })),
          (rows) => rows.map(peak.read)
        ),
      forget: Forgotten.inTurn([
        ...Object.values(forgetting).map((forgetOld) => (before: Time.Instant, from: string) =>
          forget(forgetOld({ before, from, limit: forgottenAtOnce }))
        ),
        forgetTimed(Timing.spans.hour)
      ]),
      forgetShort: Forgotten.inTurn([forgetTimed(Timing.spans.short)])
    })
  })
)
