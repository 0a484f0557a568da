/**
 * Deletes old events with their deliveries and attempts, a bounded number in each statement. An event is deleted only
 * once its delivery is gone, and a delivery only once it has ended: so nothing that is held or being replayed is lost.
 */
import { Id, type Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { bigint, integer, row, text } from "../Columns.ts"
import type * as Forgotten from "../Forgotten.ts"
import { type Rows, type Statement, statement, value } from "../Statement.ts"
import { forgetEntries, lockSubscriptions } from "../subscriptions/ForgetEntries.ts"
import { oldestUnhandled } from "../subscriptions/StoredSubscription.ts"
import { endedStatuses } from "../webhooks/StoredDelivery.ts"

/** The maximum number of events or deliveries deleted in one statement. */
const atOnce = 500

/** The maximum number of workspaces that one step looks at. */
const workspacesAtOnce = 100

/** An expression for when the oldest delivery that has not ended was recorded; null if there is none. */
const oldestOpen = (workspace: string) =>
  `(select min(d.created_at) from wac.webhooks h cross join lateral (
      select d.created_at from wac.deliveries d where d.webhook_id = h.id and d.status = 'pending'
      order by d.created_at limit 1
    ) d where h.workspace_id = ${workspace})`

/**
 * An expression for when the oldest event that some subscription has not handled was recorded; null if there is none.
 */
const oldestAwaited = (workspace: string) =>
  `(select min(${oldestUnhandled("s")}) from wac.subscriptions s where s.workspace_id = ${workspace})`

/** Reads the time before which each workspace's events may be deleted, of the next workspaces from `from` on. */
export const horizons = statement(
  {
    before: value<Time.Instant>(),
    unhandledBefore: value<Time.Instant>(),
    from: value<string>(),
    limit: value<number>()
  },
  ({ before, from, limit, unhandledBefore }) =>
    `select w.id as workspace_id, least(
    ${before}::bigint, ${oldestOpen("w.id")},
    (select greatest(a.oldest, ${unhandledBefore}::bigint) from (select ${
      oldestAwaited("w.id")
    } as oldest) a where a.oldest is not null)
  ) as until
  from (select w.id from wac.workspaces w where w.id >= ${from} order by w.id limit ${limit}) w order by w.id`
)

const horizon = row({ workspaceId: text<Id.WorkspaceId>(), until: bigint<Time.Instant>() })

/**
 * The inputs of the deletions: for each workspace the time, and `below`, the bound of deliveries' identifiers that
 * follows from it.
 */
const bounds = { horizons: horizon.and(row({ below: text() })) }

/** Deletes ended deliveries. The bound of identifiers keeps the scan away from deliveries that are held. */
export const deliveries = statement(bounds, ({ horizons }) =>
  `with gone as (
    delete from wac.deliveries d where d.ctid = any (array(
      select o.ctid from ${horizons("g")} cross join lateral (
        select o.ctid from wac.deliveries o
        where o.workspace_id = g.workspace_id and o.id < g.below and o.status in ${endedStatuses}
        order by o.id limit ${atOnce}
        -- a replay may be about to begin a new round
        for update skip locked
      ) o
      limit ${atOnce}
    ))
    returning d.id, d.webhook_id
  ), attempts as (
    delete from wac.attempts a using gone g where a.delivery_id = g.id
  ), claims as (
    delete from wac.delivery_claims c using gone g where c.webhook_id = g.webhook_id and c.delivery_id = g.id
  )
  select`)

/**
 * Deletes events of workspaces whose old deliveries are gone. The same statement checks that, and which deliveries are
 * open again.
 */
export const events = statement(bounds, ({ horizons }) =>
  `with ready as materialized (
    select g.workspace_id, least(g.until, ${oldestOpen("g.workspace_id")}) - ${Clocks.spread} as until
    from ${horizons("g")}
    where not exists (
      select from wac.deliveries d
      where d.workspace_id = g.workspace_id and d.id < g.below and d.status in ${endedStatuses}
    )
  ), gone as (
    delete from wac.events e where e.ctid = any (array(
      select o.ctid from ready r cross join lateral (
        select o.ctid from wac.events o where o.workspace_id = r.workspace_id and o.created_at < r.until
        order by o.created_at limit ${atOnce} for update skip locked
      ) o
      limit ${atOnce}
    ))
    returning e.workspace_id, e.id
  ), ${forgetEntries("gone")}
  select (select count(*) from ready)::integer as ready, (select count(*) from gone)::integer as removed`)

const judged = row({ ready: integer(), removed: integer() })

/** Reads the horizons for a step that begins with the workspace `from`: one more, with which the next step begins. */
export const pageFrom = (
  given: { readonly before: Time.Instant; readonly unhandledBefore: Time.Instant },
  from: string
): Statement => horizons({ ...given, from, limit: workspacesAtOnce + 1 })

/** The statements that delete, given the rows of {@link pageFrom}. */
export const forgetEvents = (page: Rows): ReadonlyArray<Statement> => {
  const rows = page.slice(0, workspacesAtOnce)
  const horizons = rows.map(horizon.read).map((one) => ({ ...one, below: Id.lowestAt("dlv", one.until) }))
  const workspaces = horizons.map(({ workspaceId }) => workspaceId)
  return [deliveries({ horizons }), lockSubscriptions({ workspaces }), events({ horizons })]
}

/**
 * Reads the results of the statements of {@link forgetEvents}, which deleted from the workspace `from` on. How many
 * deliveries were deleted must not count: while some become old between any two steps, the walk would not go on.
 */
export const forgotten = ([, , events]: ReadonlyArray<Rows>, page: Rows, from: string): Forgotten.Walked => {
  const { ready, removed } = judged.read(events![0]!)
  const isMore = removed === atOnce || ready < Math.min(page.length, workspacesAtOnce)
  const next = page[workspacesAtOnce]
  return { removed, reached: isMore ? from : next === undefined ? null : horizon.read(next).workspaceId }
}
