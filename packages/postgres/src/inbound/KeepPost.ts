/**
 * Stores a provider's post, with its bytes in a separate table.
 */
import * as Clocks from "../Clocks.ts"
import { bytes, row, text } from "../Columns.ts"
import { statement } from "../Statement.ts"

const post = row({ provider: text(), digest: bytes(), body: bytes() })

/** Stores a post. Returns no row if the post is already stored. */
export const keep = statement({ post: post.one, now: Clocks.asked }, ({ now, post: { body, digest, provider } }) => `
  with kept as (
    insert into wac.inbound_posts (provider, digest, size, received_at, due_at)
    select ${provider}, ${digest}, length(${body}), t.now, t.now from (select ${now} as now) t
    on conflict do nothing
    returning provider, digest
  ), body as (
    insert into wac.inbound_post_bodies (${post.names()}) select k.provider, k.digest, ${body} from kept k
  )
  select k.provider from kept k`)
