/**
 * `RequestStore` in PostgreSQL: the statements of its methods.
 */
import { ApiRequest, type BodyShape, Id, Page, RequestStore, type Time } from "@wac/core"
import { Duration, Effect, Layer } from "effect"
import { columns, list, result } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { ifGiven, type Statement, statement, value, variants } from "../Statement.ts"

/** A request as it is stored. Its caller is either `apiKeyId` or `userId`. */
type Stored = Omit<ApiRequest.ApiRequest, "caller" | "fields"> & {
  readonly apiKeyId: ApiRequest.Caller["apiKeyId"] | ""
  readonly userId: ApiRequest.Caller["userId"]
  /** Arrays instead of objects, whose names would take more than half of the space; every request is stored. */
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
 * Stores requests and counts the new ones, so that a repeated request counts once. The counts are written in the order
 * of their keys, so that concurrent processes do not deadlock.
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

/** A row of a list: a request, or the id at which the search stopped. */
const listed = result<{ readonly request: Stored | null; readonly reached: string | null }>({
  request,
  reached: "text"
})

/** Whether a filter has no index in the list's order, so that a bounded number of requests is searched. */
const isSought = ({ apiKeyId, route, since, status, until }: RequestStore.RequestFilter): boolean =>
  [apiKeyId, route, since, status, until].some((given) => given !== undefined)

/**
 * Prepares the statements of a page, read from the primary key or from an index of refusals, with or without a single
 * reason.
 */
const pageOf = (compare: "=" | ">=", isRefused: boolean) =>
  variants(
    {
      workspaceId: value<string>(),
      limit: value<number>(),
      /** The lowest id of the range (`>=`), or the only id (`=`). */
      lowest: value<string>(),
      below: value<string>(),
      isSought: value<boolean>(),
      apiKeyId: value<string | null>(),
      route: value<string | null>(),
      status: value<number | null>(),
      since: value<Time.Instant | null>(),
      until: value<Time.Instant | null>()
    },
    { word: value<string>() },
    ({ apiKeyId, below, isSought, limit, lowest, route, since, status, until, workspaceId }, { word }) => {
      const newest = `from wac.requests r
    where r.workspace_id = ${workspaceId} and r.id ${compare} ${lowest} and r.id < ${below}${
        isRefused ? " and r.code is not null" : ""
      }${ifGiven(word, (word) => ` and coalesce(r.reason, r.code) = ${word}`)} order by r.id desc`
      return `with found as materialized (
    select r.* from (select r.* ${newest} limit ${Page.maxScanned}) r
    where coalesce(r.api_key_id = ${apiKeyId}, true) and coalesce(r.route = ${route}, true)
      and coalesce(r.status = ${status}::integer, true)
      and coalesce(r.at >= ${since}::bigint, true) and coalesce(r.at < ${until}::bigint, true)
    order by r.id desc limit ${limit}
  )
  (select to_json(f) as request, null as reached from found f order by f.id desc)
  union all
  select null, (select r.id ${newest} offset ${Page.maxScanned - 1} limit 1)
  where ${isSought}::boolean and (select count(*) from found) < ${limit}`
    }
  )

const pages = { all: pageOf(">=", false), refused: pageOf(">=", true) }
const one = { all: pageOf("=", false), refused: pageOf("=", true) }

/** The statement of a page of the list. */
export const page = (
  workspaceId: string,
  filter: RequestStore.RequestFilter,
  { after, limit }: Page.PageRequest
): Required<Statement> => {
  const { apiKeyId, id, refused, route, since, status, until, word } = filter
  const ahead = Duration.toMillis(RequestStore.idAhead)
  const lowest = since === undefined ? "" : Id.lowestAt("req", since - ahead)
  const below = until === undefined ? Id.highest("req") : Id.lowestAt("req", until + ahead)
  const prepared = (id === undefined ? pages : one)[refused === true || word !== undefined ? "refused" : "all"]
  return prepared({
    workspaceId,
    limit: limit + 1,
    lowest: id ?? lowest,
    below: after !== null && after < below ? after : below,
    isSought: isSought(filter),
    apiKeyId: apiKeyId ?? null,
    route: route ?? null,
    status: status ?? null,
    since: since ?? null,
    until: until ?? null
  }, { word })
}

/** Sums up a workspace's counts of requests since a time, by key, code and reason. */
export const sumTallies = statement(
  { workspaceId: value<string>(), since: value<Time.Instant>() },
  ({ since, workspaceId }) =>
    `select t.api_key_id, nullif(t.code, '') as code, nullif(t.reason, '') as reason,
    sum(t.count)::double precision as count, max(t.last_at) as last_at
  from wac.request_tallies t where t.workspace_id = ${workspaceId} and t.hour >= ${since} group by 1, 2, 3`
)

/** The maximum number of rows deleted in one statement. */
const forgottenAtOnce = 1000

const walked = { from: value<string>(), limit: value<number>() }

/** The deletions of old rows, by table: a range of the primary key for each workspace. */
export const forgetting = {
  requests: statement({ ...walked, lowest: value<string>() }, ({ from, limit, lowest }) =>
    Forgotten.walk({
      table: "wac.requests",
      from,
      limit,
      old: `select r.ctid from wac.requests r
      where r.workspace_id = w.id and r.id < ${lowest} order by r.id limit ${limit}
      for update skip locked`
    })),
  request_tallies: statement({ ...walked, hour: value<Time.Instant>() }, ({ from, hour, limit }) =>
    Forgotten.walk({
      table: "wac.request_tallies",
      from,
      limit,
      old: `select t.ctid from wac.request_tallies t
      where t.workspace_id = w.id and t.hour < ${hour} order by t.hour limit ${limit}
      for update skip locked`
    }))
}

export const layer = Layer.effect(
  RequestStore.RequestStore,
  Effect.map(Database, ({ planned, query }) => {
    const forget = (statement: Statement) =>
      Effect.map(planned("RequestStore.forget", [statement]), ([rows]) => Forgotten.readWalked(rows!))
    return RequestStore.RequestStore.of({
      record: (requests) => {
        const hours = [...new Set(requests.map(({ at }) => ApiRequest.hourOf(at)))]
        return Effect.asVoid(query("RequestStore.record", record({ requests: requests.map(storedOf), hours })))
      },
      list: (workspaceId, filter, asked) =>
        Effect.map(query("RequestStore.list", page(workspaceId, filter, asked)), (rows) => {
          const found = rows.map(listed.read)
          const requests = found.flatMap(({ request }) => request === null ? [] : [requestOf(request)])
          const { items, next } = Page.fromOverread(requests, asked, ({ id }) => id)
          return { items, next: next ?? found.at(-1)?.reached ?? null }
        }),
      tallies: (workspaceId, since) =>
        Effect.map(
          query("RequestStore.tallies", sumTallies({ workspaceId, since: ApiRequest.hourOf(since) })),
          (rows) => rows.map(tally.read)
        ),
      forget: Forgotten.inTurn([
        (before: Time.Instant, from) =>
          forget(forgetting.requests({ lowest: Id.lowestAt("req", before), from, limit: forgottenAtOnce })),
        (before, from) =>
          Effect.map(
            forget(forgetting.request_tallies({ hour: ApiRequest.hourOf(before), from, limit: forgottenAtOnce })),
            (step) => ({ ...step, removed: 0 })
          )
      ])
    })
  })
)
