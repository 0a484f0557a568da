/**
 * Stores a post, with its bytes in a table of their own.
 */
import * as Clocks from "../Clocks.ts"

/** $1 provider, $2 digest, $3 body, $4 the caller's time. Returns no row if the post is known. */
export const keepText = `with kept as (
    insert into inbound_posts (provider, digest, size, received_at, due_at)
    select $1::text, $2::bytea, length($3::bytea), t.now, t.now from (select ${Clocks.at("$4")} as now) t
    on conflict do nothing
    returning provider, digest
  ), body as (
    insert into inbound_post_bodies (provider, digest, body) select k.provider, k.digest, $3 from kept k
  )
  select k.provider from kept k`
