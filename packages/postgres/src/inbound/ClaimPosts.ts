/**
 * Claims posts: the ones due longest first, up to a number of posts and of bytes.
 */
import type { InboundPostStore, Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { columns } from "../Columns.ts"
import { setLocally } from "../Sessions.ts"
import type { Row, Statement } from "../Statement.ts"

const claimText = `with t as materialized (
    select ${Clocks.at("$3")} as now
  ), due as materialized (
    select p.digest, p.due_at, p.position, p.size from inbound_posts p
    where p.provider = $1 and p.due_at <= (select t.now from t)
    order by p.due_at, p.position limit $5
    for update skip locked
  ), fitting as materialized (
    select d.digest, d.due_at, d.position
    from (select d.*, sum(d.size) over (order by d.due_at, d.position) - d.size as before from due d) d
    where d.before < $6::bigint
  ), claimed as (
    update inbound_posts p set due_at = (select t.now from t) + $4::bigint, token = $2
    from fitting f
    where p.provider = $1 and p.digest = f.digest
    returning p.digest, p.received_at, p.tries, f.due_at, f.position
  )
  select encode(c.digest, 'hex') as digest, b.body, c.received_at, c.tries
  from claimed c join inbound_post_bodies b on b.provider = $1 and b.digest = c.digest
  order by c.due_at, c.position`

/** A claim, with the caller's time if that judges. */
type Claim = Parameters<InboundPostStore.InboundPostStore["Service"]["claim"]>[0]

/**
 * The statements that claim; the last one returns the posts. Without sorting, only one index fits due posts, even if
 * the statistics date from when there were none.
 */
export const claimPosts = (
  { leaseUntil, limit, now, provider, token }: Claim,
  asked: Time.Instant | undefined
): ReadonlyArray<Statement> => [
  setLocally({ enable_sort: "off" }),
  { text: claimText, params: [provider, token, asked ?? null, leaseUntil - now, limit.posts, limit.bytes] }
]

/** A post of a result row. */
export const claimedOf = (provider: string) => (row: Row): InboundPostStore.ClaimedPost => ({
  provider,
  ...claimed.read(row)
})

const claimed = columns<Omit<InboundPostStore.ClaimedPost, "provider">>({
  digest: "text",
  body: "bytea",
  receivedAt: "bigint",
  tries: "integer"
})
