/**
 * `RequestStore` in PostgreSQL: the statements of its methods.
 */
import { ApiRequest, Id, Page, RequestStore, type Time } from "@wac/core"
import { Effect, Layer } from "effect"
import { columns, list } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { statement } from "../Statement.ts"

const request = columns<ApiRequest.ApiRequest>({
  workspaceId: "text",
  id: "text",
  apiKeyId: "text",
  method: "text",
  route: "text",
  status: "integer",
  code: "text",
  reason: "text",
  at: "bigint",
  durationMs: "double precision"
})

const tally = columns<ApiRequest.Tally>({
  apiKeyId: "text",
  code: "text",
  reason: "text",
  count: "double precision",
  lastAt: "bigint"
})

/**
 * Counts what it has kept, so that a repeated request counts once. In the order of the counts' keys, so that concurrent
 * processes do not deadlock.
 */
const record = statement(
  { requests: request, hours: list<Time.Instant>("bigint") },
  ({ hours, requests }) =>
    `with kept as (
    insert into wac.requests (${request.names()}) select ${request.names("g")} from ${requests("g")}
    on conflict do nothing
    returning workspace_id, at, api_key_id, code, reason
  )
  insert into wac.request_tallies as t (workspace_id, hour, api_key_id, code, reason, count, last_at)
  select k.workspace_id, (select max(h.hour) from unnest(${hours}) h (hour) where h.hour <= k.at), k.api_key_id,
    coalesce(k.code, ''), coalesce(k.reason, ''), count(*), max(k.at)
  from kept k group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (workspace_id, hour, api_key_id, code, reason) do update
    set count = t.count + excluded.count, last_at = greatest(t.last_at, excluded.last_at)`
)

/** Each filter has an index in the order of the list. */
export const listText = ({ id, refused, word }: RequestStore.RequestFilter, after: string | null): string =>
  `select ${request.names("r")} from wac.requests r
  where r.workspace_id = $1${refused === true || word !== undefined ? " and r.code is not null" : ""}
    ${word === undefined ? "and $4::text is null" : "and coalesce(r.reason, r.code) = $4"}
    ${id === undefined ? "and $5::text is null" : "and r.id = $5"}
    ${after === null ? "and $3::text is null" : "and r.id < $3"}
  order by r.id desc limit $2`

export const talliesText = `select t.api_key_id, nullif(t.code, '') as code, nullif(t.reason, '') as reason,
    sum(t.count)::double precision as count, max(t.last_at) as last_at
  from wac.request_tallies t where t.workspace_id = $1 and t.hour >= $2 group by 1, 2, 3`

/** Rows deleted at once for a workspace. */
const forgottenAtOnce = 1000

/** A range of the key for each workspace. */
export const forgetText = `with gone as (
    delete from wac.requests r where r.ctid = any (array(
      select r.ctid from wac.workspaces w cross join lateral (
        select r.ctid from wac.requests r where r.workspace_id = w.id and r.id < $1 order by r.id limit $3
      ) r
    ))
    returning r.workspace_id
  ), tallies as (
    delete from wac.request_tallies t where t.ctid = any (array(
      select t.ctid from wac.workspaces w cross join lateral (
        select t.ctid from wac.request_tallies t where t.workspace_id = w.id and t.hour < $2 order by t.hour limit $3
      ) t
    ))
    returning t.workspace_id
  )
  select (select count(*) from gone)::integer as removed,
    exists (select from gone g group by g.workspace_id having count(*) = $3)
      or exists (select from tallies t group by t.workspace_id having count(*) = $3) as is_more`

export const layer = Layer.effect(
  RequestStore.RequestStore,
  Effect.map(Database, ({ query }) =>
    RequestStore.RequestStore.of({
      record: (requests) => {
        const hours = [...new Set(requests.map(({ at }) => ApiRequest.hourOf(at)))]
        return Effect.asVoid(query("RequestStore.record", record({ requests, hours })))
      },
      list: (workspaceId, filter, page) =>
        Effect.map(
          query("RequestStore.list", {
            text: listText(filter, page.after),
            params: [workspaceId, page.limit + 1, page.after, filter.word ?? null, filter.id ?? null]
          }),
          (rows) => Page.fromOverread(rows.map(request.read), page, ({ id }) => id)
        ),
      tallies: (workspaceId, since) =>
        Effect.map(
          query("RequestStore.tallies", { text: talliesText, params: [workspaceId, ApiRequest.hourOf(since)] }),
          (rows) => rows.map(tally.read)
        ),
      forget: (before) =>
        Effect.map(
          query("RequestStore.forget", {
            text: forgetText,
            params: [Id.lowestAt("req", before), ApiRequest.hourOf(before), forgottenAtOnce]
          }),
          Forgotten.read
        )
    }))
)
