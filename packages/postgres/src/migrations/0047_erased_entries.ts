/**
 * Removes entries of subscriptions whose events were erased with their customers, and releases what they held. Locks
 * only the subscriptions that have such entries, which can handle nothing before.
 */
export const sql = `
select from subscriptions s
where exists (
  select from subscription_entries n
  where n.workspace_id = s.workspace_id and n.name = s.name
    and not exists (select from events e where e.id = n.event_id)
)
order by s.workspace_id, s.name for no key update;

with erased as (
  delete from subscription_entries n where not exists (select from events e where e.id = n.event_id)
  returning n.workspace_id, n.name, n.event_id, n.order_key
)
update subscription_entries n set state = 'waiting', next_at = n.recorded_at
from (select distinct o.workspace_id, o.name, o.order_key from erased o where o.order_key is not null) o
cross join lateral (
  select e.event_id from subscription_entries e
  where e.workspace_id = o.workspace_id and e.name = o.name and e.order_key = o.order_key and e.state <> 'failed'
    and not exists (
      select from erased g where g.workspace_id = e.workspace_id and g.name = e.name and g.event_id = e.event_id
    )
  order by e.place limit 1
) e
where n.workspace_id = o.workspace_id and n.name = o.name and n.event_id = e.event_id and n.state = 'held';
`
