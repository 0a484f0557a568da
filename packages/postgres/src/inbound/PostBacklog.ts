/**
 * Reads the backlog of posts: how many wait, fail or are unreadable. It looks at a bounded number of rows.
 */
import { InboundPostStore } from "@wac/core"
import { columns } from "../Columns.ts"
import { setLocally } from "../Sessions.ts"
import type { Statement } from "../Statement.ts"

const limit = InboundPostStore.countedExactly

/** A subquery that counts the posts under a condition, up to the limit, in the order of an index. */
const counted = (what: string, condition: string, order: string): string =>
  `(
    select least(count(*), ${limit})::integer as posts, min(p.received_at) as oldest from (
      select p.received_at from wac.inbound_posts p where ${condition} order by ${order} limit ${limit + 1}
    ) p
  ) ${what}`

const backlogText = `select w.posts as waiting, w.oldest, f.posts as failing, u.posts as unreadable
  from ${counted("w", "p.due_at is not null", "p.provider, p.due_at, p.position")},
  ${counted("f", "p.problem is not null and p.due_at is not null", "p.received_at")},
  ${counted("u", "p.problem is not null and p.due_at is null", "p.received_at")}`

/** The statements that count; the last one returns the result. */
export const backlog: ReadonlyArray<Statement> = [
  setLocally({ enable_sort: "off" }),
  { text: backlogText }
]

/** Reads the backlog from the result row. */
export const backlogOf = columns<InboundPostStore.PostBacklog, { oldestReceivedAt: "oldest" }>({
  waiting: "integer",
  oldestReceivedAt: "bigint",
  failing: "integer",
  unreadable: "integer"
}, { oldestReceivedAt: "oldest" }).read
