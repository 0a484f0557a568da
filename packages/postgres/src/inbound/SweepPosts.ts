/**
 * Builds the statements that delete expired provider webhook posts.
 */
import type { Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { setLocally } from "../Sessions.ts"
import { type Statement, statement, value } from "../Statement.ts"

const sweep = statement({ now: Clocks.asked, limit: value<number>() }, ({ limit, now }) =>
  `with over as materialized (
    select p.provider, p.digest from wac.inbound_posts p
    where p.expires_at <= ${now}
    order by p.expires_at limit ${limit}
    -- a post whose claim is just ending is left to the next sweep
    for update skip locked
  ), bodies as (
    delete from wac.inbound_post_bodies b using over o where b.provider = o.provider and b.digest = o.digest
  ), posts as (
    delete from wac.inbound_posts p using over o where p.provider = o.provider and p.digest = o.digest
    returning p.provider
  )
  select count(*)::integer as swept from posts`)

/** The statements that delete; the last one returns how many. */
export const sweepPosts = (asked: Time.Instant | undefined, limit: number): ReadonlyArray<Statement> => [
  setLocally({ enable_sort: "off" }),
  sweep({ now: asked, limit })
]
