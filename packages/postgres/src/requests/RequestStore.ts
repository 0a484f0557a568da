/**
 * `RequestStore` in PostgreSQL: the statements of its methods.
 */
import { ApiRequest, type BodyShape, Id, Page, RequestStore, type Time } from "@wac/core"
import { Duration, Effect, Layer } from "effect"
import { columns, list, result } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { statement } from "../Statement.ts"

/** A request as it is stored: who made it is an id of a key or of a person. */
type Stored = Omit<ApiRequest.ApiRequest, "caller" | "fields"> & {
  readonly apiKeyId: ApiRequest.Caller["apiKeyId"] | ""
  readonly userId: ApiRequest.Caller["userId"]
  /** Without the names of a field's parts, which would be more than half of it: every request is stored. */
  readonly fields: ReadonlyArray<readonly [path: string, type: BodyShape.Type, length: number | null]> | null
}

const request = columns<Stored>({
  workspaceId: "text",
  id: "text",
  apiKeyId: "text",
  userId: "text",
  method: "text",
  route: "text",
  status: "integer",
  code: "text",
  reason: "text",
  at: "bigint",
  durationMs: "double precision",
  fields: "json",
  subject: "text"
})

const storedOf = ({ caller: { apiKeyId, userId }, fields, ...request }: ApiRequest.ApiRequest): Stored => ({
  ...request,
  fields: fields && fields.map(({ length, path, type }) => [path, type, length]),
  apiKeyId: apiKeyId ?? "",
  userId
})

const requestOf = ({ apiKeyId, fields, userId, ...request }: Stored): ApiRequest.ApiRequest => ({
  ...request,
  fields: fields && fields.map(([path, type, length]) => ({ path, type, length })),
  caller: (userId === null ? { apiKeyId, userId } : { apiKeyId: null, userId }) as ApiRequest.Caller
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
  from kept k where k.api_key_id <> '' group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (workspace_id, hour, api_key_id, code, reason) do update
    set count = t.count + excluded.count, last_at = greatest(t.last_at, excluded.last_at)`
)

/** A page's request, or where the search for it stopped. */
const listed = result<{ readonly request: Stored | null; readonly reached: string | null }>({
  request,
  reached: "text"
})

/** Whether a filter has no index in the order of the list, so that requests are looked at for it. */
const isSought = ({ apiKeyId, route, since, status, until }: RequestStore.RequestFilter): boolean =>
  [apiKeyId, route, since, status, until].some((given) => given !== undefined)

/**
 * A page of the list, along the index of refusals, of one reason, or the key. $1 workspace, $2 limit, $3 and $4 the
 * range of ids, or the id and its bound, $5 whether requests are looked at, $6 key, $7 route, $8 status, $9 and $10
 * times, $11 word.
 */
export const listText = ({ id, refused, word }: RequestStore.RequestFilter): string => {
  const newest = `from wac.requests r where r.workspace_id = $1 and r.id ${
    id === undefined ? ">=" : "="
  } $3 and r.id < $4${refused === true || word !== undefined ? " and r.code is not null" : ""}${
    word === undefined ? "" : " and coalesce(r.reason, r.code) = $11"
  } order by r.id desc`
  return `with found as materialized (
    select r.* from (select r.* ${newest} limit ${Page.lookedAt}) r
    where coalesce(r.api_key_id = $6, true) and coalesce(r.route = $7, true) and coalesce(r.status = $8::integer, true)
      and coalesce(r.at >= $9::bigint, true) and coalesce(r.at < $10::bigint, true)
    order by r.id desc limit $2
  )
  (select to_json(f) as request, null as reached from found f order by f.id desc)
  union all
  select null, (select r.id ${newest} offset ${Page.lookedAt - 1} limit 1)
  where $5::boolean and (select count(*) from found) < $2`
}

/** The parameters of {@link listText}. */
export const listParams = (
  workspaceId: string,
  filter: RequestStore.RequestFilter,
  { after, limit }: Page.PageRequest
): ReadonlyArray<unknown> => {
  const { apiKeyId, id, route, since, status, until, word } = filter
  const ahead = Duration.toMillis(RequestStore.idAhead)
  const lowest = since === undefined ? "" : Id.lowestAt("req", since - ahead)
  const below = until === undefined ? Id.highest("req") : Id.lowestAt("req", until + ahead)
  return [
    workspaceId,
    limit + 1,
    id ?? lowest,
    after !== null && after < below ? after : below,
    isSought(filter),
    apiKeyId ?? null,
    route ?? null,
    status ?? null,
    since ?? null,
    until ?? null,
    ...word === undefined ? [] : [word]
  ]
}

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
        return Effect.asVoid(query("RequestStore.record", record({ requests: requests.map(storedOf), hours })))
      },
      list: (workspaceId, filter, page) =>
        Effect.map(
          query("RequestStore.list", { text: listText(filter), params: listParams(workspaceId, filter, page) }),
          (rows) => {
            const found = rows.map(listed.read)
            const requests = found.flatMap(({ request }) => request === null ? [] : [requestOf(request)])
            const { items, next } = Page.fromOverread(requests, page, ({ id }) => id)
            return { items, next: next ?? found.at(-1)?.reached ?? null }
          }
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
