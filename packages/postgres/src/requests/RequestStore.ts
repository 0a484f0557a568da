/**
 * `RequestStore` in PostgreSQL: the statements of its methods.
 */
import { ApiRequest, Id, Page, RequestStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { instant, plain } from "../Column.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { doubles, instants, integers, texts } from "../Parameter.ts"
import type { Row } from "../Statement.ts"

/**
 * Counts what it has kept, so that a repeated request counts once. In the order of the counts' keys, so that concurrent
 * processes do not deadlock.
 */
const recordText = `with kept as (
    insert into requests (workspace_id, id, api_key_id, method, route, status, code, reason, at, duration_ms)
    select g.workspace_id, g.id, g.api_key_id, g.method, g.route, g.status, g.code, g.reason, g.at, g.duration_ms
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[], $8::text[],
      $9::bigint[], $10::double precision[])
      g (workspace_id, id, api_key_id, method, route, status, code, reason, at, duration_ms)
    on conflict do nothing
    returning workspace_id, at, api_key_id, code, reason
  )
  insert into request_tallies as t (workspace_id, hour, api_key_id, code, reason, count, last_at)
  select k.workspace_id, (select max(h.hour) from unnest($11::bigint[]) h (hour) where h.hour <= k.at), k.api_key_id,
    coalesce(k.code, ''), coalesce(k.reason, ''), count(*), max(k.at)
  from kept k group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (workspace_id, hour, api_key_id, code, reason) do update
    set count = t.count + excluded.count, last_at = greatest(t.last_at, excluded.last_at)`

/** Each filter has an index in the order of the list. */
export const listText = ({ refused, word }: RequestStore.RequestFilter, after: string | null): string =>
  `select r.workspace_id, r.id, r.api_key_id, r.method, r.route, r.status, r.code, r.reason, r.at, r.duration_ms
  from requests r
  where r.workspace_id = $1${refused === true || word !== undefined ? " and r.code is not null" : ""}
    ${word === undefined ? "and $4::text is null" : "and coalesce(r.reason, r.code) = $4"}
    ${after === null ? "and $3::text is null" : "and r.id < $3"}
  order by r.id desc limit $2`

export const talliesText = `select t.api_key_id, nullif(t.code, '') as code, nullif(t.reason, '') as reason,
    sum(t.count)::double precision as count, max(t.last_at) as last_at
  from request_tallies t where t.workspace_id = $1 and t.hour >= $2 group by 1, 2, 3`

/** Rows deleted at once for a workspace. */
const forgottenAtOnce = 1000

/** A range of the key for each workspace. */
export const forgetText = `with gone as (
    delete from requests r where r.ctid = any (array(
      select r.ctid from workspaces w cross join lateral (
        select r.ctid from requests r where r.workspace_id = w.id and r.id < $1 order by r.id limit $3
      ) r
    ))
    returning r.workspace_id
  ), tallies as (
    delete from request_tallies t where t.ctid = any (array(
      select t.ctid from workspaces w cross join lateral (
        select t.ctid from request_tallies t where t.workspace_id = w.id and t.hour < $2 order by t.hour limit $3
      ) t
    ))
    returning t.workspace_id
  )
  select (select count(*) from gone)::integer as removed,
    exists (select from gone g group by g.workspace_id having count(*) = $3)
      or exists (select from tallies t group by t.workspace_id having count(*) = $3) as is_more`

const requestOf = (row: Row): ApiRequest.ApiRequest => ({
  id: plain(row, "id"),
  workspaceId: plain(row, "workspace_id"),
  apiKeyId: plain(row, "api_key_id"),
  method: plain(row, "method"),
  route: plain(row, "route"),
  status: plain(row, "status"),
  code: plain(row, "code"),
  reason: plain(row, "reason"),
  at: instant(row, "at"),
  durationMs: plain(row, "duration_ms")
})

const tallyOf = (row: Row): ApiRequest.Tally => ({
  apiKeyId: plain(row, "api_key_id"),
  code: plain(row, "code"),
  reason: plain(row, "reason"),
  count: plain(row, "count"),
  lastAt: instant(row, "last_at")
})

export const layer = Layer.effect(
  RequestStore.RequestStore,
  Effect.map(Database, ({ query }) =>
    RequestStore.RequestStore.of({
      record: (requests) =>
        Effect.asVoid(query("RequestStore.record", recordText, [
          texts(requests.map(({ workspaceId }) => workspaceId)),
          texts(requests.map(({ id }) => id)),
          texts(requests.map(({ apiKeyId }) => apiKeyId)),
          texts(requests.map(({ method }) => method)),
          texts(requests.map(({ route }) => route)),
          integers(requests.map(({ status }) => status)),
          texts(requests.map(({ code }) => code)),
          texts(requests.map(({ reason }) => reason)),
          instants(requests.map(({ at }) => at)),
          doubles(requests.map(({ durationMs }) => durationMs)),
          instants([...new Set(requests.map(({ at }) => ApiRequest.hourOf(at)))])
        ])),
      list: (workspaceId, filter, page) =>
        Effect.map(
          query("RequestStore.list", listText(filter, page.after), [
            workspaceId,
            page.limit + 1,
            page.after,
            filter.word ?? null
          ]),
          (rows) => Page.fromOverread(rows.map(requestOf), page, ({ id }) => id)
        ),
      tallies: (workspaceId, since) =>
        Effect.map(
          query("RequestStore.tallies", talliesText, [workspaceId, ApiRequest.hourOf(since)]),
          (rows) => rows.map(tallyOf)
        ),
      forget: (before) =>
        Effect.map(
          query("RequestStore.forget", forgetText, [
            Id.lowestAt("req", before),
            ApiRequest.hourOf(before),
            forgottenAtOnce
          ]),
          Forgotten.read
        )
    }))
)
