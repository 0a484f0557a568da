/**
 * Statements and SQL by which whatever deletes events removes them from the subscriptions of their workspace, whose
 * steps would fail at an entry without its event.
 */
import type { Id } from "@wac/core"
import { list } from "../Columns.ts"
import { statement } from "../Statement.ts"

/**
 * Locks the workspaces' subscriptions, so that work on them does not take up an event that is being deleted. The
 * deletion is a later statement, which sees what was taken up before.
 */
export const lockSubscriptions = statement(
  { workspaces: list<Id.WorkspaceId>("text") },
  ({ workspaces }) =>
    `select from wac.subscriptions s where s.workspace_id = any (${workspaces})
    order by s.workspace_id, s.name for no key update`
)

/**
 * The parts of a `with` that remove deleted events from the subscriptions. `gone` is the part that returns the events,
 * with the columns `workspace_id` and `id`.
 */
export const forgetEntries = (gone: string): string =>
  `forgotten as (
    delete from wac.subscription_entries n using ${gone} g, wac.subscriptions s
    where s.workspace_id = g.workspace_id and n.workspace_id = s.workspace_id and n.name = s.name and n.event_id = g.id
    returning n.workspace_id, n.name, n.event_id, n.order_key
  ), freed as (
    -- what waited for one of them (core's Subscription.released)
    update wac.subscription_entries n set state = 'waiting', next_at = n.recorded_at
    from (select distinct f.workspace_id, f.name, f.order_key from forgotten f where f.order_key is not null) f
    cross join lateral (
      select e.event_id from wac.subscription_entries e
      where e.workspace_id = f.workspace_id and e.name = f.name and e.order_key = f.order_key and e.state <> 'failed'
        and not exists (select from forgotten o where o.name = f.name and o.event_id = e.event_id)
      order by e.place limit 1
    ) e
    where n.workspace_id = f.workspace_id and n.name = f.name and n.event_id = e.event_id and n.state = 'held'
  )`
