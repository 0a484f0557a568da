/**
 * Claims posts: the ones due longest first, up to a number of posts and of bytes.
 */
import type { InboundPostStore, Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { columns } from "../Columns.ts"
import { setLocally } from "../Sessions.ts"
import { type Row, type Statement, statement, value } from "../Statement.ts"

/** The parameters of `InboundPostStore.claim`. */
type Claim = Parameters<InboundPostStore.InboundPostStore["Service"]["claim"]>[0]

const claimed = columns<Omit<InboundPostStore.ClaimedPost, "provider">>({
  digest: "text",
  body: "bytea",
  receivedAt: "bigint",
  tries: "integer"
})

const claim = statement(
  {
    by: columns<Pick<Claim, "provider" | "token">>({ provider: "text", token: "text" }).one,
    limit: columns<Claim["limit"]>({ posts: "integer", bytes: "bigint" }).one,
    leasedFor: value<number>(),
    now: Clocks.asked
  },
  ({ by, leasedFor, limit, now }) =>
    `with t as materialized (
    select ${now} as now
  ), due as materialized (
    select p.digest, p.due_at, p.position, p.size from wac.inbound_posts p
    where p.provider = ${by.provider} and p.due_at <= (select t.now from t)
    order by p.due_at, p.position limit ${limit.posts}
    for update skip locked
  ), fitting as materialized (
    select d.digest, d.due_at, d.position
    from (select d.*, sum(d.size) over (order by d.due_at, d.position) - d.size as before from due d) d
    where d.before < ${limit.bytes}
  ), claimed as (
    update wac.inbound_posts p set due_at = (select t.now from t) + ${leasedFor}::bigint, token = ${by.token}
    from fitting f
    where p.provider = ${by.provider} and p.digest = f.digest
    returning p.digest, p.received_at, p.tries, f.due_at, f.position
  )
  select encode(c.digest, 'hex') as digest, b.body, c.received_at, c.tries
  from claimed c join wac.inbound_post_bodies b on b.provider = ${by.provider} and b.digest = c.digest
  order by c.due_at, c.position`
)

/**
 * The statements that claim; the last one returns the posts. Sorting is switched off, so that the planner uses the
 * index of due posts even if the table's statistics are from a time without due posts.
 */
export const claimPosts = (command: Claim, asked: Time.Instant | undefined): ReadonlyArray<Statement> => [
  setLocally({ enable_sort: "off" }),
  claim({ by: command, limit: command.limit, leasedFor: command.leaseUntil - command.now, now: asked })
]

/** Reads a post from a result row. */
export const claimedOf = (provider: string) => (row: Row): InboundPostStore.ClaimedPost => ({
  provider,
  ...claimed.read(row)
})
