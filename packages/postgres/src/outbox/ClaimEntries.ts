/**
 * Takes entries of the outbox, from the workspaces in turn (`OutboxStore.claim`).
 */
import { type OutboxEntry, OutboxStore, type Time } from "@wac/core"
import { Duration } from "effect"
import * as Clocks from "../Clocks.ts"
import { columns, result } from "../Columns.ts"
import { type Rows, type Statement, statement, value } from "../Statement.ts"

/** Serializes claims, so that no two claim entries of the same workspace. */
const lockText = "select pg_advisory_xact_lock(hashtext('wac:outbox'), 0)"

/**
 * The number of workspaces that one statement looks at: some may be worked on, or have no entry that is due. If none is
 * free, the next statement looks at those after them.
 */
const lookedAt = 400

const waitingAfter = (workspaceId: string) =>
  `select o.workspace_id from wac.outbox o
    where o.moved_at is null and o.workspace_id > ${workspaceId} order by o.workspace_id limit 1`

/**
 * The due entries of a workspace that were not tried yet, in the order of arrival. They have an index of their own, so
 * those that wait for another try are not read, however many they are: one blocked number must not hold up the others of
 * its workspace.
 */
const freshOf = (columns: string, workspaceId: string, asked: string) =>
  `select ${columns} from wac.outbox o
      where o.workspace_id = ${workspaceId} and o.moved_at is null and o.tries = 0 and o.due_at <= ${asked}
      order by o.place`

/** The entries of a workspace that are due for another try, the first due one first. */
const againOf = (columns: string, workspaceId: string, asked: string) =>
  `select ${columns} from wac.outbox o
      where o.workspace_id = ${workspaceId} and o.moved_at is null and o.tries > 0 and o.due_at <= ${asked}
      order by o.due_at, o.place`

/** The number of entries that a claim takes of each workspace. */
const share = (limit: string) => `(select ${limit}::integer / count(*) from next)`

/** The columns of an entry `t`, with this expression for its message. */
export const entryColumns = (message: string): string =>
  `t.message_id, t.workspace_id, t.key, ${message} as message, t.tries,
    floor(extract(epoch from t.send_at) * 1000)::double precision as send_at,
    floor(extract(epoch from t.send_until) * 1000)::double precision as send_until,
    floor(extract(epoch from t.enqueued_at) * 1000)::double precision as enqueued_at`

/**
 * Of the workspaces after `last`, then of those from the first one again: each step of the recursion finds the next one
 * with a probe of the index. Of a workspace's share, half is for entries that were not tried yet and half for the others,
 * so that neither waits for the other, however many there are; what one half leaves, the other takes. A claim takes no more
 * workspaces than half its limit, because a share of one entry has no halves.
 */
const take = statement(
  {
    asked: Clocks.asked,
    token: value<string>(),
    limit: value<number>(),
    lease: value<number>(),
    last: value<string>(),
    start: value<string>()
  },
  ({ asked, last, lease, limit, start, token }) =>
    `with recursive judged as materialized (select ${asked} as at), after_last as (
    select f.workspace_id, 1 as turn from (${waitingAfter(`${last}::text`)}) f
    union all
    select n.workspace_id, l.turn + 1 from after_last l cross join lateral (${waitingAfter("l.workspace_id")}) n
    where l.turn < ${lookedAt}
  ), from_first as (
    select f.workspace_id, ${lookedAt} + 1 as turn from (${
      waitingAfter("''")
    }) f where f.workspace_id <= ${last} and (select count(*) from after_last) < ${lookedAt}
    union all
    select n.workspace_id, l.turn + 1 from from_first l cross join lateral (${waitingAfter("l.workspace_id")}) n
    where l.turn < 2 * ${lookedAt} and n.workspace_id <= ${last}
  ), looked as materialized (
    select * from after_last union all select * from from_first order by turn limit ${lookedAt}
  ), free as materialized (
    select l.workspace_id, l.turn from looked l
    where (
      select 1 from wac.outbox c
      where c.workspace_id = l.workspace_id and c.claim_token is not null and c.due_at > ${asked} limit 1
    ) is null and coalesce((
      ${freshOf("1", "l.workspace_id", asked)} limit 1
    ), (
      ${againOf("1", "l.workspace_id", asked)} limit 1
    )) is not null
  ), next as materialized (
    select f.workspace_id, f.turn from free f order by f.turn
    limit (select least((count(*) + 1) / 2, greatest(${limit}::integer / 2, 1)) from free)
  ), chosen as (
    select e.message_id from next f cross join lateral (
      select d.message_id from (
        select d.message_id, 0 as tried, row_number() over (order by d.place) as turn
        from (${freshOf("o.message_id, o.place", "f.workspace_id", asked)} limit ${share(limit)}) d
        union all
        select d.message_id, 1 as tried, row_number() over (order by d.due_at, d.place) as turn
        from (${againOf("o.message_id, o.due_at, o.place", "f.workspace_id", asked)} limit ${share(limit)}) d
      ) d order by d.turn, d.tried limit ${share(limit)}
    ) e
  ), taken as (
    update wac.outbox o set claim_token = ${token}, due_at = j.at + ${lease}::bigint
    from judged j where o.message_id = any (array(select c.message_id from chosen c))
      -- the update may have waited for a cancel or another end of an entry, and then checks only these conditions again;
      -- coalesce keeps the planner from the index of entries that wait, which may be many
      and coalesce(o.moved_at, -1) = -1 and o.due_at <= j.at
    returning o.*
  )
  select j.at, coalesce((select f.workspace_id from next f order by f.turn desc limit 1), r.last) as last,
    (select count(*) from looked) < ${lookedAt} or case
      when ${last} < r.last then ${start} > ${last} and ${start} <= r.last
      else ${start} > ${last} or ${start} <= r.last
    end as is_round,
    ${entryColumns("t.message")}
  from judged j
  left join (select l.workspace_id as last from looked l order by l.turn desc limit 1) r on true
  left join taken t on true order by t.place`
)

/** Reads {@link entryColumns}. */
export const entry = columns<OutboxEntry.OutboxEntry>({
  messageId: "text",
  workspaceId: "text",
  key: "text",
  message: "json",
  sendAt: "double precision",
  sendUntil: "double precision",
  enqueuedAt: "double precision",
  tries: "integer"
})

/** What the statement found besides the entries. */
interface Found {
  readonly at: Time.Instant
  /** The workspace that the claim ended with; if it took nothing, the last one looked at; `null` if none waits. */
  readonly last: string | null
  /** Whether all workspaces were looked at since `start`. */
  readonly isRound: boolean
}

const claimed = result<Found>({ at: "bigint", last: "text", isRound: "boolean" })

/** What a claim needs. */
export interface Options extends Pick<OutboxStore.Claim, "limit" | "token"> {
  /** The caller's time, or `undefined` for the database's. */
  readonly asked: Time.Instant | undefined
  /** The workspace that the last claim of this process ended with; the one after it comes first. Empty at first. */
  readonly last: string
  /** `last` of the first one of the claims that follow each other until one takes something. */
  readonly start: string
}

/** The statements of a claim, for one transaction. */
export const claim = (options: Options): ReadonlyArray<Statement> => [
  { text: lockText },
  take({ ...options, lease: Duration.toMillis(OutboxStore.lease) })
]

/** Reads what a claim took, and how far it looked. */
export const read = ([, rows]: ReadonlyArray<Rows>): OutboxStore.Claimed & Found => ({
  ...claimed.read(rows![0]!),
  entries: rows!.flatMap((row) => row["message_id"] === null ? [] : [entry.read(row)])
})
