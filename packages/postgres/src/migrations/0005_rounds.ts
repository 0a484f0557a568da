/**
 * Functions of tests and replays.
 */
export const sql = `
-- Ends the tests that nobody is making any more: their claim was given back, or its lease has ended. One that is just
-- being recorded late is left to that.
create function wac_end_tests(at_time bigint) returns void
language sql as $$
  with left_over as (
    select d.workspace_id, d.webhook_id, d.id, k.delivery_id is not null as is_claimed
    from deliveries d left join delivery_claims k on k.webhook_id = d.webhook_id and k.delivery_id = d.id
    where d.status = 'testing' and (k.delivery_id is null or k.lease_until <= at_time)
  ), held as (
    select k.webhook_id, k.delivery_id from delivery_claims k
    where (k.webhook_id, k.delivery_id) in (select l.webhook_id, l.id from left_over l where l.is_claimed)
      and k.lease_until <= at_time
    for update skip locked
  ), freed as (
    delete from delivery_claims k using held h where k.webhook_id = h.webhook_id and k.delivery_id = h.delivery_id
    returning k.delivery_id
  )
  update deliveries d set status = 'exhausted', completed_at = at_time
  from left_over l
  where d.workspace_id = l.workspace_id and d.id = l.id and d.status = 'testing'
    and (not l.is_claimed or l.id in (select f.delivery_id from freed f))
$$;

create function wac_replay(r replays) returns json
language sql stable
return json_build_object(
  'id', r.id,
  'workspaceId', r.workspace_id,
  'webhookId', r.webhook_id,
  'since', r.since,
  'until', r.until,
  'status', r.status,
  'state', r.state,
  'total', r.total,
  'replayed', r.replayed,
  'createdAt', r.created_at,
  'completedAt', r.completed_at
);
`
