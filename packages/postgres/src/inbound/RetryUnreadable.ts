/**
 * Makes unreadable posts due again, from the time at which they arrived.
 */
import { columns } from "../Columns.ts"
import { setLocally } from "../Sessions.ts"
import { type Rows, type Statement, statement, value } from "../Statement.ts"

const retry = statement(
  { provider: value<string>(), limit: value<number>() },
  ({ limit, provider }) =>
    `with unread as materialized (
    select p.provider, p.digest from wac.inbound_posts p
    where p.problem is not null and p.due_at is null and p.problem = 'unreadable' and p.provider = ${provider}
    order by p.received_at limit ${limit}
    for update skip locked
  ), due as (
    update wac.inbound_posts p set due_at = p.received_at
    from unread u where p.provider = u.provider and p.digest = u.digest
    returning p.provider
  )
  select count(*)::integer as retried from due`
)

/** The statements that make posts due; the last one returns how many. Without sorting, they read the index of problems. */
export const retryUnreadable = (provider: string, limit: number): ReadonlyArray<Statement> => [
  setLocally({ enable_sort: "off" }),
  retry({ provider, limit })
]

const counted = columns<{ readonly retried: number }>({ retried: "integer" })

/** The number of posts that {@link retryUnreadable} made due. */
export const retriedOf = ([, rows]: ReadonlyArray<Rows>): number => counted.read(rows![0]!).retried
