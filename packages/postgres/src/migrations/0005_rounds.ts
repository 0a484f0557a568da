/**
 * Functions of what people ask of a webhook and its deliveries: another secret, tests, new rounds, replays. They keep
 * to the order in which 0003 waits for rows; who changes secrets waits for nothing but the webhook's own row.
 */
export const sql = `
-- Another secret, first in line (Webhook.rotateSecrets).
create function wac_rotate_secret(command json) returns json
language plpgsql as $$
declare
  c record;
  at_time bigint;
  kept webhook_secrets[];
begin
  select * into strict c from json_to_record(command) as c ("workspaceId" text, "webhookId" text, secret json,
    overlap bigint, now bigint);
  -- rotations come one after the other
  perform from webhooks w where w.id = c."webhookId" and w.workspace_id = c."workspaceId" for no key update;
  if not found then
    return null;
  end if;
  at_time := coalesce(c.now, wac_now());
  kept := array(
    select s from webhook_secrets s
    where s.webhook_id = c."webhookId" and least(s.expires_at, at_time + c.overlap) > at_time
    order by s.position limit 7
  );
  delete from webhook_secrets s where s.webhook_id = c."webhookId";
  insert into webhook_secrets (webhook_id, position, key_id, nonce, ciphertext, expires_at)
  select c."webhookId", 0, s."keyId", decode(s.nonce, 'hex'), decode(s.ciphertext, 'hex'), null
  from json_to_record(c.secret) as s ("keyId" text, nonce text, ciphertext text)
  union all
  select s.webhook_id, s.place, s.key_id, s.nonce, s.ciphertext, least(s.expires_at, at_time + c.overlap)
  from unnest(kept) with ordinality
    as s (webhook_id, position, key_id, nonce, ciphertext, expires_at, place);
  return wac_webhook(c."webhookId");
end
$$;

-- Records a test event and its delivery, which is claimed and never due.
create function wac_begin_test(command json) returns json
language plpgsql as $$
declare
  c record;
  hook record;
  at_time bigint;
begin
  select * into strict c from json_to_record(command) as c (event json, "deliveryId" text, trigger text, token text,
    lease bigint, now bigint);
  -- whoever removes the webhook waits for us, or we for them; nobody else does
  perform from webhook_health h
  where h.webhook_id = (select w.id from webhooks w where w.workspace_id = c.event ->> 'workspaceId')
  for key share;
  select w.id, w.url, w.envelope, h.doubtful into hook
  from webhooks w join webhook_health h on h.webhook_id = w.id
  where w.workspace_id = c.event ->> 'workspaceId';
  if hook.id is null then
    return null;
  end if;
  at_time := coalesce(c.now, wac_now());
  insert into events (id, workspace_id, type, created_at, order_key, sequence, data)
  select e.id, e."workspaceId", e.type, coalesce(e."createdAt", at_time), e."orderKey", e.sequence, e.data
  from json_to_record(c.event) as e (id text, "workspaceId" text, type text, "createdAt" bigint, "orderKey" text,
    sequence smallint, data json);
  insert into deliveries (id, workspace_id, webhook_id, event_id, event_type, envelope, status, trigger, created_at)
  select c."deliveryId", e.workspace_id, hook.id, e.id, e.type, hook.envelope, 'testing', c.trigger, e.created_at
  from events e where e.id = c.event ->> 'id';
  insert into delivery_claims (delivery_id, workspace_id, webhook_id, token, lease_until)
  values (c."deliveryId", c.event ->> 'workspaceId', hook.id, c.token, at_time + c.lease);
  return (
    select json_build_object(
      'delivery', wac_delivery(d),
      'event', wac_event(e),
      'at', at_time,
      'url', hook.url,
      'standing', case when hook.doubtful then 'doubtful' else 'healthy' end,
      'secrets', (
        select coalesce(json_agg(wac_webhook_secret(s) order by s.position), '[]') from webhook_secrets s
        where s.webhook_id = hook.id and (s.expires_at is null or s.expires_at > at_time)
      )
    )
    from events e join deliveries d on d.workspace_id = e.workspace_id and d.id = c."deliveryId"
    where e.id = c.event ->> 'id'
  );
end
$$;

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

-- Delivery.newRound, of those that are to the webhook and no tests. The caller holds the webhook's health: whoever is
-- recording an attempt is through, or comes after us. A new place lets claimers notice that something is due. Answers
-- with how many there were.
create function wac_begin_rounds(workspace text, hook text, ids text[], why text, at_time bigint) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  -- what is pending up to there is skipped, and has ended
  skipped_until constant bigint := (select w.skipped_until from webhooks w where w.id = hook);
  -- orders that lose one that was skipped but is not written so yet, which others may wait for
  left_orders text[];
  begun integer;
begin
  left_orders := array(
    select distinct d.order_key from deliveries d
    where d.workspace_id = workspace and d.id = any (ids) and d.webhook_id = hook
      and d.status = 'pending' and d.position <= skipped_until and d.order_key is not null
  );
  update deliveries d set
    order_key = case when d.status = 'pending' and d.next_attempt_at is not null and d.position > skipped_until
      then d.order_key
    end,
    sequence = case when d.status = 'pending' and d.next_attempt_at is not null and d.position > skipped_until
      then d.sequence
    end,
    status = 'pending',
    trigger = why,
    round_attempts = 0,
    first_attempt_at = null,
    next_attempt_at = at_time,
    completed_at = null,
    position = wac_next_position()
  where d.workspace_id = workspace and d.id = any (ids)
    and d.webhook_id = hook and d.trigger not in ('test', 'probe');
  get diagnostics begun = row_count;
  if left_orders <> '{}' then
    update deliveries d set next_attempt_at = at_time, position = wac_next_position()
    from unnest(left_orders) as o (key) cross join lateral (
      select n.workspace_id, n.id, n.next_attempt_at from deliveries n
      where n.order_key = o.key and n.webhook_id = hook and n.status = 'pending' and n.position > skipped_until
      order by n.sequence limit 1
    ) next
    where next.next_attempt_at is null and d.workspace_id = next.workspace_id and d.id = next.id;
  end if;
  if begun > 0 then
    perform pg_notify('wac_deliveries', 'asked for again');
  end if;
  return begun;
end
$$;

create function wac_retry(workspace text, delivery text, at_time bigint) returns boolean
language plpgsql as $$
declare
  hook text;
begin
  select h.webhook_id into hook from webhook_health h
  where h.webhook_id = (select w.id from webhooks w where w.workspace_id = workspace)
  for no key update;
  return hook is not null and wac_begin_rounds(workspace, hook, array[delivery], 'manual', at_time) > 0;
end
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

-- Replay.covers, of a delivery in the range that has ended.
create function wac_replays(d deliveries, wanted text) returns boolean
language sql immutable
return d.trigger not in ('test', 'probe') and (wanted is null or d.status = wanted);

-- The range is counted if it holds few enough.
create function wac_create_replay(command json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  c record;
  hook text;
  covered integer;
  made replays;
begin
  select * into strict c from json_to_record(command) as c (id text, "workspaceId" text, since bigint, until bigint,
    status text, now bigint, counted integer);
  c.now := coalesce(c.now, wac_now());
  c.until := least(c.until, c.now);
  select w.id into hook from webhooks w where w.workspace_id = c."workspaceId";
  if hook is null then
    return null;
  end if;
  -- what is still to be written as skipped cannot be told yet
  select case when count(*) <= c.counted and not exists (select from webhook_skips s where s.webhook_id = hook)
    then count(*) filter (where o.is_covered)
  end into covered
  from (
    select wac_replays(d, c.status) as is_covered from deliveries d
    where d.webhook_id = hook and d.created_at >= c.since and d.created_at < c.until
      and d.status in ('delivered', 'exhausted', 'skipped')
    order by d.created_at, d.id limit c.counted + 1
  ) o;
  insert into replays (id, workspace_id, webhook_id, since, until, status, total, created_at, reached_at, step_at)
  values (c.id, c."workspaceId", hook, c.since, c.until, c.status, covered, c.now, c.since, c.now)
  returning * into made;
  return wac_replay(made);
end
$$;

create function wac_cancel_replay(workspace text, replay text, at_time bigint) returns json
language plpgsql as $$
begin
  -- a step that is under way is waited for
  update replays r set state = 'cancelled', completed_at = at_time
  where r.id = replay and r.workspace_id = workspace and r.state = 'running';
  return (select wac_replay(r) from replays r where r.id = replay and r.workspace_id = workspace);
end
$$;

-- A step of the job whose turn it is. Who holds a job waits for the webhook's health, and nobody who holds that waits
-- for a job.
create function wac_step_replay(at_time bigint, most integer, most_waiting integer, pause bigint) returns boolean
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  job replays;
  room integer;
  looked_at integer;
  passed integer;
  ids text[];
  last_at bigint;
  last_id text;
  begun integer;
begin
  select * into job from replays r
  where r.state = 'running' and r.step_at <= at_time
  order by r.step_at limit 1
  for update skip locked;
  if not found then
    return false;
  end if;
  perform from webhook_health h where h.webhook_id = job.webhook_id for no key update;
  if not found then
    update replays r set state = 'cancelled', completed_at = at_time where r.id = job.id;
    return true;
  end if;

  -- what was skipped must be written so before it can be passed
  if exists (select from webhook_skips s where s.webhook_id = job.webhook_id) then
    update replays r set step_at = at_time + pause where r.id = job.id;
    return true;
  end if;

  select most_waiting - count(*) into room from (
    select from deliveries d
    where d.webhook_id = job.webhook_id and d.status = 'pending' and d.next_attempt_at is not null
      and d.round_attempts = 0 and d.trigger = 'replay'
    limit most_waiting
  ) w;

  with looked as (
    select d.id, d.created_at, wac_replays(d, job.status) as is_covered from deliveries d
    where d.webhook_id = job.webhook_id and (d.created_at, d.id) > (job.reached_at, job.reached_id)
      and d.created_at < job.until and d.status in ('delivered', 'exhausted', 'skipped')
    order by d.created_at, d.id limit most
  ), placed as (
    select l.*, count(*) filter (where l.is_covered) over (order by l.created_at, l.id) <= room as fits from looked l
  )
  select count(*), count(*) filter (where p.fits),
    coalesce(array_agg(p.id) filter (where p.fits and p.is_covered), '{}'), max(p.created_at) filter (where p.fits),
    (array_agg(p.id order by p.created_at desc, p.id desc) filter (where p.fits))[1]
  into looked_at, passed, ids, last_at, last_id
  from placed p;

  begun := wac_begin_rounds(job.workspace_id, job.webhook_id, ids, 'replay', at_time);
  if passed = looked_at and looked_at < most then
    update replays r set replayed = r.replayed + begun, total = r.replayed + begun, state = 'completed',
      completed_at = at_time
    where r.id = job.id;
    return true;
  end if;
  update replays r set replayed = r.replayed + begun,
    reached_at = coalesce(last_at, r.reached_at), reached_id = coalesce(last_id, r.reached_id),
    step_at = case when passed < looked_at then at_time + pause else at_time end
  where r.id = job.id;
  return true;
end
$$;
`
