/**
 * Functions of webhooks and their deliveries: each is one statement of its caller.
 *
 * They wait for rows in one order: webhook_health by webhook, and what is of a webhook only behind its health. A claim
 * waits for no row at all. Each statement of a function sees what was committed before it began, so what must be seen
 * is read after the lock behind which it may have changed.
 *
 * The numbers are those of `Webhook.ts` and `RetrySchedule.ts`, which a test compares; a change of them is a new
 * migration.
 */
export const sql = `
create function wac_delivery(d deliveries) returns json
language sql stable
return json_build_object(
  'id', d.id,
  'workspaceId', d.workspace_id,
  'webhookId', d.webhook_id,
  'eventId', d.event_id,
  'eventType', d.event_type,
  'envelope', d.envelope,
  'orderKey', d.order_key,
  'sequence', d.sequence,
  'status', case d.status when 'testing' then 'pending' else d.status end,
  'trigger', d.trigger,
  'attemptCount', d.attempt_count,
  'roundAttempts', d.round_attempts,
  'firstAttemptAt', d.first_attempt_at,
  'lastAttemptAt', d.last_attempt_at,
  'nextAttemptAt', d.next_attempt_at,
  'createdAt', d.created_at,
  'completedAt', d.completed_at
);

create function wac_event(e events) returns json
language sql stable
return json_build_object(
  'id', e.id,
  'workspaceId', e.workspace_id,
  'type', e.type,
  'createdAt', e.created_at,
  'orderKey', e.order_key,
  'sequence', e.sequence,
  'data', e.data
);

create function wac_webhook_secret(s webhook_secrets) returns json
language sql stable
return json_build_object(
  'keyId', s.key_id,
  'nonce', encode(s.nonce, 'hex'),
  'ciphertext', encode(s.ciphertext, 'hex'),
  'expiresAt', s.expires_at
);

create function wac_webhook(webhook text) returns json
language sql stable
return (
  select json_build_object(
    'id', w.id,
    'workspaceId', w.workspace_id,
    'url', w.url,
    'envelope', w.envelope,
    'eventTypes', w.event_types,
    'secrets', (
      select coalesce(json_agg(wac_webhook_secret(s) order by s.position), '[]') from webhook_secrets s
      where s.webhook_id = w.id
    ),
    'createdAt', w.created_at,
    'updatedAt', w.updated_at,
    'pausedAt', w.paused_at,
    'resumedAt', w.resumed_at,
    'health', json_build_object(
      'consecutiveFailures', h.consecutive_failures,
      'failuresSince', h.failures_since,
      'lastFailure', case when h.last_failure_at is not null then
        json_build_object('at', h.last_failure_at, 'message', h.last_failure_message)
      end,
      'lastSuccessAt', h.last_success_at,
      'slowAt', h.slow_at,
      'lastAttemptAt', h.last_attempt_at,
      'recoveredAt', h.recovered_at
    )
  )
  from webhooks w join webhook_health h on h.webhook_id = w.id
  where w.id = webhook
);

create function wac_put_webhook(candidate json) returns json
language plpgsql as $$
declare
  c record;
  kept text;
begin
  select * into strict c from json_to_record(candidate) as c (id text, "workspaceId" text, url text, envelope text,
    "eventTypes" text[], secrets json, "createdAt" bigint, "updatedAt" bigint, "pausedAt" bigint, "resumedAt" bigint,
    health json);
  loop
    insert into webhooks (id, workspace_id, url, envelope, event_types, created_at, updated_at, paused_at,
      resumed_at)
    values (c.id, c."workspaceId", c.url, c.envelope, c."eventTypes", c."createdAt", c."updatedAt", c."pausedAt",
      c."resumedAt")
    on conflict (workspace_id) do nothing;
    if found then
      insert into webhook_health (webhook_id, consecutive_failures, failures_since, last_failure_at,
        last_failure_message, last_success_at, slow_at, last_attempt_at, recovered_at)
      select c.id, h."consecutiveFailures", h."failuresSince", (h."lastFailure" ->> 'at')::bigint,
        h."lastFailure" ->> 'message', h."lastSuccessAt", h."slowAt", h."lastAttemptAt", h."recoveredAt"
      from json_to_record(c.health) as h ("consecutiveFailures" integer, "failuresSince" bigint, "lastFailure" json,
        "lastSuccessAt" bigint, "slowAt" bigint, "lastAttemptAt" bigint, "recoveredAt" bigint);
      insert into webhook_secrets (webhook_id, position, key_id, nonce, ciphertext, expires_at)
      select c.id, s.position - 1, s."keyId", decode(s.nonce, 'hex'), decode(s.ciphertext, 'hex'), s."expiresAt"
      from rows from (
        json_to_recordset(c.secrets) as ("keyId" text, nonce text, ciphertext text, "expiresAt" bigint)
      ) with ordinality as s ("keyId", nonce, ciphertext, "expiresAt", position);
      return json_build_object('webhook', wac_webhook(c.id), 'created', true);
    end if;
    update webhooks set url = c.url, envelope = c.envelope, event_types = c."eventTypes", updated_at = c."updatedAt"
    where workspace_id = c."workspaceId"
    returning id into kept;
    if found then
      return json_build_object('webhook', wac_webhook(kept), 'created', false);
    end if;
    -- it was removed in between: one more try to be the one who creates
  end loop;
end
$$;

-- The webhook goes; its deliveries stay as they are, and webhook_skips says what has become of the pending ones.
create function wac_remove_webhook(workspace text, at_time bigint) returns boolean
language plpgsql as $$
declare
  gone text;
begin
  perform from webhook_health h
  where h.webhook_id = (select w.id from webhooks w where w.workspace_id = workspace)
  for update;
  delete from webhooks w where w.workspace_id = workspace returning w.id into gone;
  if gone is null then
    return false;
  end if;
  insert into webhook_skips (webhook_id, until, skipped_at, created_before)
  values (gone, 9223372036854775807, at_time, 9223372036854775807);
  delete from delivery_claims k where k.webhook_id = gone;
  update deliveries d set status = 'skipped', completed_at = at_time where d.webhook_id = gone and d.status = 'testing';
  delete from webhook_drains n where n.webhook_id = gone;
  return true;
end
$$;

-- Nothing but the one row is written: a claim finds out by itself.
create function wac_pause_webhook(workspace text, at_time bigint) returns json
language plpgsql as $$
begin
  update webhooks w set paused_at = at_time where w.workspace_id = workspace and w.paused_at is null;
  return (select wac_webhook(w.id) from webhooks w where w.workspace_id = workspace);
end
$$;

-- Webhook.resume, and what becomes of what is held: up to skipped_until it is skipped. Its cost does not depend on how
-- much that is.
create function wac_resume_webhook(command json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  workspace constant text := command ->> 'workspaceId';
  at_time bigint;
  replay constant text := command ->> 'replay';
  since constant bigint := command ->> 'since';
  -- what is being recorded at this moment has a later place, and is never skipped
  settled constant bigint := wac_settled_position();
  last_attempt_at bigint;
  w webhooks;
  until bigint := 0;
  created_before bigint;
begin
  select h.last_attempt_at into last_attempt_at from webhook_health h
  where h.webhook_id = (select t.id from webhooks t where t.workspace_id = workspace)
  for no key update;
  select t.* into w from webhooks t where t.workspace_id = workspace for no key update;
  at_time := coalesce((command ->> 'now')::bigint, wac_now());
  if w.id is null or w.paused_at is null then
    return wac_webhook(w.id);
  end if;
  w.resumed_at := greatest(at_time, w.resumed_at + 1, last_attempt_at + 1);

  if replay = 'none' then
    until := settled;
    -- processes' clocks agree to within an hour
    created_before := at_time + 3600000;
    w.replayed_from := at_time - 60000;
  elsif replay = 'since' then
    -- Places are in the order of time, but for clocks that differ and transactions that took long: so the least place
    -- of the first thousands decides, not that of the first.
    until := least(settled, (
      select min(oldest.position) - 1 from (
        select d.position from deliveries d
        where d.webhook_id = w.id and d.status = 'pending' and d.created_at >= since
        order by d.created_at, d.id limit 10000
      ) oldest
    ));
    created_before := least(since, at_time) + 3600000;
    w.replayed_from := greatest(least(since, at_time) - 60000, w.replayed_from);
  end if;

  if until > w.skipped_until then
    w.skipped_until := until;
    insert into webhook_skips (webhook_id, until, skipped_at, created_before)
    values (w.id, until, at_time, created_before);
    -- a test is never held
    delete from delivery_claims k using deliveries d
    where k.webhook_id = w.id and d.workspace_id = k.workspace_id and d.id = k.delivery_id and d.status = 'pending'
      and d.position <= until;
  else
    w.replayed_from := (select t.replayed_from from webhooks t where t.id = w.id);
  end if;
  update webhooks t set paused_at = null, resumed_at = w.resumed_at, skipped_until = w.skipped_until,
    replayed_from = w.replayed_from
  where t.id = w.id;
  update webhook_health h set ready_at = least(h.ready_at, at_time), changes = h.changes + 1 where h.webhook_id = w.id;
  perform pg_notify('wac_deliveries', 'resumed');
  return wac_webhook(w.id);
end
$$;

-- Writes out what a resume or a removal has skipped: up to so many deliveries of one webhook.
create function wac_tidy_skipped(at_time bigint, most integer) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  s webhook_skips;
  floor bigint;
  workspaces text[];
  ids text[];
  times bigint[];
  keys text[];
  has_freed boolean;
begin
  -- by webhook: while it goes on to the next it holds the health of one that it was through with
  for s in select t.* from webhook_skips t order by t.webhook_id, t.until for update skip locked loop
    perform from webhook_health h where h.webhook_id = s.webhook_id for no key update;
    floor := (select w.skipped_until from webhooks w where w.id = s.webhook_id);
    loop
      select coalesce(array_agg(d.workspace_id), '{}'), coalesce(array_agg(d.id), '{}'),
        coalesce(array_agg(d.created_at), '{}'), array_agg(distinct d.order_key) filter (where d.order_key is not null)
      into workspaces, ids, times, keys
      from (
        select d.* from deliveries d
        where d.webhook_id = s.webhook_id and d.status = 'pending' and d.position <= s.until
          and d.created_at >= s.tidied_until and d.created_at < s.created_before
        order by d.created_at, d.id limit most
        for no key update
      ) d;
      exit when ids <> '{}' or s.tidied_until = 0;
      -- once more from the beginning: something older may have been recorded later
      s.tidied_until := 0;
    end loop;

    if ids = '{}' then
      -- a recording that read a webhook before its removal may take effect after it, but not as late as this
      if s.until < 9223372036854775807 or s.skipped_at < at_time - 3600000 then
        delete from webhook_skips t where t.webhook_id = s.webhook_id and t.until = s.until;
        update webhooks w set replayed_from = null
        where w.id = s.webhook_id and not exists (select from webhook_skips t where t.webhook_id = s.webhook_id);
        update webhook_health h set ready_at = least(h.ready_at, at_time), changes = h.changes + 1
        where h.webhook_id = s.webhook_id
          and exists (select from webhooks w where w.id = s.webhook_id and w.paused_at is null);
      end if;
      continue;
    end if;

    delete from delivery_claims k where k.webhook_id = s.webhook_id and k.delivery_id = any (ids);
    update deliveries d set status = 'skipped', next_attempt_at = null, completed_at = s.skipped_at
    from unnest(workspaces, ids) as u (workspace_id, id)
    where d.workspace_id = u.workspace_id and d.id = u.id;
    update webhook_skips t set tidied_until = greatest(t.tidied_until, (select max(at) from unnest(times) as at))
    where t.webhook_id = s.webhook_id and t.until = s.until;

    if keys <> '{}' and floor is not null then
      with next as (
        select n.workspace_id, n.id from unnest(keys) as key cross join lateral (
          select d.workspace_id, d.id, d.next_attempt_at from deliveries d
          where d.order_key = key and d.webhook_id = s.webhook_id and d.status = 'pending' and d.position > floor
          order by d.sequence limit 1
        ) n
        where n.next_attempt_at is null
      ), freed as (
        update deliveries d set next_attempt_at = at_time from next n
        where d.workspace_id = n.workspace_id and d.id = n.id
        returning d.id
      )
      select exists (select from freed) into has_freed;
      if has_freed then
        update webhook_health h set ready_at = least(h.ready_at, at_time), changes = h.changes + 1
        where h.webhook_id = s.webhook_id;
        perform pg_notify('wac_deliveries', 'freed');
      end if;
    end if;
    return cardinality(ids);
  end loop;
  return 0;
end
$$;

-- What waits over all workspaces. Of those in line the first thousand, and those whom the last thousand deliveries are
-- to, tell since when, and how many of them have at least so many waiting; above 10,000 deliveries the index's last
-- analysis tells how many there are.
create function wac_backlog(at_time bigint, sizes bigint[]) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  largest constant bigint := (select max(size) from unnest(sizes) as size);
  counted bigint;
  oldest bigint;
  waiting bigint[];
begin
  select count(*) into counted from (
    select from deliveries d where d.status = 'pending' limit 10001
  ) d;

  select min(w.since), coalesce(array_agg(w.waiting), '{}') into oldest, waiting
  from (
    select min(greatest(d.at, w.resumed_at)) as since, (
      select count(*) from (
        select from deliveries p
        where p.webhook_id = w.id and p.status = 'pending' and p.created_at >= coalesce(w.replayed_from, 0)
        limit largest
      ) p
    ) as waiting
    from (
      (
        select h.webhook_id, h.recovered_at from webhook_health h where not h.doubtful and h.ready_at <= at_time
        order by h.ready_at limit 500
      )
      union all
      (
        select h.webhook_id, h.recovered_at from webhook_health h where h.doubtful and h.ready_at <= at_time
        order by h.ready_at limit 500
      )
      union
      -- what has appeared lately may be in no line yet, as long as nobody claims
      select h.webhook_id, h.recovered_at
      from (
        select distinct d.webhook_id from (
          select d.webhook_id from deliveries d
          where d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts = 0
          order by d.position desc limit 1000
        ) d
      ) d join webhook_health h on h.webhook_id = d.webhook_id
    ) h
    join webhooks w on w.id = h.webhook_id and w.paused_at is null
    cross join lateral (
      (
        select d.next_attempt_at as at from deliveries d
        where d.webhook_id = h.webhook_id and d.next_attempt_at >= coalesce(w.replayed_from, 0)
          and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts = 0 and d.trigger <> 'replay'
        order by d.next_attempt_at limit 1
      )
      union all
      (
        select d.next_attempt_at from deliveries d
        where d.webhook_id = h.webhook_id
          and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts = 0 and d.trigger = 'replay'
        order by d.next_attempt_at limit 1
      )
      union all
      (
        select d.next_attempt_at from deliveries d
        where d.webhook_id = h.webhook_id and d.resumed_at = coalesce(w.resumed_at, 0)
          and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts > 0
        order by d.next_attempt_at limit 1
      )
      union all
      (
        select d.first_attempt_at from deliveries d
        where d.webhook_id = h.webhook_id and d.resumed_at < w.resumed_at
          and d.first_attempt_at >= coalesce(w.replayed_from, 0) and d.status = 'pending' and d.round_attempts > 0
        order by d.resumed_at, d.first_attempt_at limit 1
      )
    ) d
    where d.at <= at_time
    group by w.id
  ) w;

  return json_build_object(
    'oldestDueAt', oldest,
    'pausedWebhooks', (select count(*) from webhooks w where w.paused_at is not null),
    'failingWebhooks', (
      select count(*) from webhook_health h join webhooks w on w.id = h.webhook_id
      where h.consecutive_failures >= 5 and w.paused_at is null
    ),
    'pending', case when counted <= 10000 then counted else greatest(counted, (
      select c.reltuples::bigint from pg_class c where c.oid = 'deliveries_open'::regclass
    )) end,
    'webhooksByBacklog', (
      select json_agg((select count(*) from unnest(waiting) as w where w >= s.size) order by s.place)
      from unnest(sizes) with ordinality as s (size, place)
    )
  );
end
$$;

create type wac_claimed as (
  delivery_id text,
  workspace_id text,
  webhook_id text,
  doubtful boolean,
  backlog boolean
);

-- A place in line, and slots_taken where it is known; with it what was seen of changes.
create type wac_place as (
  webhook_id text,
  changes bigint,
  at bigint,
  taken boolean
);

-- Claims what is due.
--
-- Its cost is that of the webhooks whose turn it is: a webhook is looked at when its ready_at says so, or when a
-- delivery of it has appeared since the claimer's last look (seen: what was settled then). So nobody who records a
-- delivery need write, or wait for, anything but the delivery. ready_at is never later than the time at which
-- something can be claimed, but for what has just appeared; whoever makes something due earlier lowers it, and a claim
-- raises it.
--
-- Claims of all processes come one after the other, so their count of attempts in flight is exact; what is ended or
-- given back meanwhile is seen by the next claim. A claim does not wait for completions: where one of them holds the
-- row, ready_at is left as it is, and the claimer is told to look at that webhook again.
create function wac_claim_due(command json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_bitmapscan = off
set enable_sort = off
set enable_memoize = off
as $$
declare
  at_time bigint;
  most_healthy constant bigint := greatest((command -> 'limit' ->> 'healthy')::bigint, 0);
  most_doubtful constant bigint := greatest((command -> 'limit' ->> 'doubtful')::bigint, 0);
  claimer constant text := command ->> 'token';
  lease_end bigint;
  seen bigint := command ->> 'seen';
  again text[] := array(select json_array_elements_text(command -> 'again'));
  settled bigint;
  left_healthy bigint := most_healthy;
  left_doubtful bigint := most_doubtful;
  line_healthy text[];
  line_doubtful text[];
  line_end bigint;
  -- So many have their turn at once, and then twice as many while there are places: to look at a webhook costs as much
  -- as ten of its deliveries do, so that a turn is of about eight where they have them.
  step integer := greatest(ceil(greatest(most_healthy, most_doubtful) / 8.0), 8);
  turn text[];
  passed text[] := '{}';
  lapsed text[];
  claims wac_claimed[];
  claimed wac_claimed[] := '{}';
  places wac_place[];
  marked wac_place[];
  moved wac_place[] := '{}';
begin
  perform pg_advisory_xact_lock(7305148210);
  at_time := coalesce((command ->> 'now')::bigint, wac_now());
  lease_end := at_time + (command ->> 'lease')::bigint;
  -- a claim that a crash of the server loses is one whose attempt is made again; nobody need wait for the disk
  perform set_config('synchronous_commit', 'off', true);

  if exists (select from deliveries d where d.status = 'testing') then
    perform wac_end_tests(at_time);
  end if;

  settled := wac_settled_position();
  -- where more may have appeared than there are webhooks, the heads of all are found sooner
  if settled - seen > 1000 + 4 * (select c.reltuples from pg_class c where c.oid = 'webhook_health'::regclass) then
    seen := null;
  end if;

  with arrived as (
    select d.webhook_id, d.next_attempt_at as at from deliveries d
    where d.position > seen
      and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts = 0
    union all
    -- who has never looked looks at all
    select h.webhook_id, heads.at
    from webhook_health h join webhooks w on w.id = h.webhook_id cross join lateral (
      select least(
        (
          select d.next_attempt_at from deliveries d
          where d.webhook_id = h.webhook_id
            and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts = 0
            and d.trigger <> 'replay'
          order by d.next_attempt_at limit 1
        ),
        (
          select d.next_attempt_at from deliveries d
          where d.webhook_id = h.webhook_id
            and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts = 0 and d.trigger = 'replay'
          order by d.next_attempt_at limit 1
        ),
        (
          select least(d.next_attempt_at, h.recovered_at) from deliveries d
          where d.webhook_id = h.webhook_id and d.resumed_at = coalesce(w.resumed_at, 0)
            and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts > 0
          order by d.next_attempt_at limit 1
        ),
        (
          select d.last_attempt_at from deliveries d
          where d.webhook_id = h.webhook_id and d.resumed_at < w.resumed_at
            and d.status = 'pending' and d.round_attempts > 0
          limit 1
        )
      ) as at
    ) heads
    where seen is null and heads.at is not null
  ), placed as (
    (
      select h.webhook_id, h.changes, h.ready_at, h.doubtful, h.ready_at as at from webhook_health h
      where not h.doubtful and h.ready_at <= at_time order by h.ready_at limit most_healthy
    )
    union all
    (
      select h.webhook_id, h.changes, h.ready_at, h.doubtful, h.ready_at from webhook_health h
      where h.doubtful and h.ready_at <= at_time order by h.ready_at limit most_doubtful
    )
    union all
    -- Who comes to the line goes next after its head, not behind everybody: they have had their turns while it had
    -- nothing.
    select k.webhook_id, h.changes, h.ready_at, h.doubtful,
      case when e.at <= at_time
        then least(e.at, 1 + (
          select o.ready_at from webhook_health o where o.doubtful = h.doubtful and o.ready_at <= at_time
          order by o.ready_at limit 1
        ))
        else e.at
      end
    from (
      select k.webhook_id, min(k.at) as at from (
        select a.webhook_id, a.at from arrived a
        union all
        select one, at_time from unnest(again) as one
      ) k
      group by k.webhook_id
    ) k
    cross join lateral (
      select h.changes, h.ready_at, h.doubtful from webhook_health h
      where h.webhook_id = k.webhook_id and coalesce(h.ready_at > at_time, true) offset 0
    ) h
    cross join lateral (select w.paused_at from webhooks w where w.id = k.webhook_id offset 0) w
    cross join lateral (select case when w.paused_at is null then least(h.ready_at, k.at) else at_time end as at) e
    -- one that was paused meanwhile leaves the line
    where w.paused_at is null or h.ready_at is not null
  )
  select
    (
      array_agg(p.webhook_id order by p.at, p.webhook_id) filter (where p.at <= at_time and not p.doubtful)
    )[:most_healthy],
    (
      array_agg(p.webhook_id order by p.at, p.webhook_id) filter (where p.at <= at_time and p.doubtful)
    )[:most_doubtful],
    greatest(
      max(p.at) filter (where p.at <= at_time),
      (
        select h.ready_at from webhook_health h where not h.doubtful and h.ready_at <= at_time
        order by h.ready_at desc limit 1
      ),
      (
        select h.ready_at from webhook_health h where h.doubtful and h.ready_at <= at_time
        order by h.ready_at desc limit 1
      )
    ),
    array_agg((p.webhook_id, p.changes, p.at, null)::wac_place) filter (where p.ready_at is null or p.ready_at > p.at)
  into line_healthy, line_doubtful, line_end, marked
  from placed p;

  loop
    turn := '{}';
    if left_healthy > 0 then
      turn := line_healthy[:step];
      line_healthy := line_healthy[step + 1:];
    end if;
    if left_doubtful > 0 then
      turn := turn || line_doubtful[:step];
      line_doubtful := line_doubtful[step + 1:];
    end if;
    exit when coalesce(turn, '{}') = '{}';
    passed := passed || turn;
    step := step * 2;

    -- claims whose lease has ended and which nobody is just ending late
    select coalesce(array_agg(l.delivery_id), '{}') into lapsed from (
      select k.delivery_id from delivery_claims k
      where k.webhook_id = any (turn) and k.lease_until <= at_time
      for update skip locked
    ) l;

    with chosen as (
      select t.place, h.webhook_id, h.changes, h.ready_at, h.slots_taken, h.recovered_at, h.doubtful,
        w.paused_at is not null as paused, w.resumed_at, coalesce(w.resumed_at, 0) as fresh_from, w.skipped_until,
        coalesce(w.replayed_from, 0) as replayed_from, coalesce(n.next_at, 0) as drain_at,
        h.consecutive_failures >= 5 as failing, h.last_attempt_at + 1000 as gap_end,
        case when h.last_success_at is null then 1 when h.consecutive_failures = 0 then 16 else 4 end as capacity,
        -- a fair share, so that a long line of deliveries is not gone through for the few that can be taken of it
        ceil(
          case when h.doubtful then left_doubtful else left_healthy end::numeric
            / count(*) over (partition by h.doubtful)
        ) + 1 as share,
        f.claimed, f.in_flight, f.draining, f.first_end, f.last_end
      from unnest(turn) with ordinality as t (webhook_id, place)
      cross join lateral (select h.* from webhook_health h where h.webhook_id = t.webhook_id offset 0) h
      cross join lateral (select w.* from webhooks w where w.id = t.webhook_id offset 0) w
      left join lateral (select n.next_at from webhook_drains n where n.webhook_id = t.webhook_id offset 0) n on true
      cross join lateral (
        select coalesce(array_agg(k.delivery_id), '{}') as claimed,
          count(*) filter (where k.lease_until > at_time) as in_flight,
          count(*) filter (where k.lease_until > at_time and k.backlog) as draining,
          min(k.lease_until) as first_end,
          max(k.lease_until) as last_end
        from delivery_claims k
        where k.webhook_id = h.webhook_id and k.delivery_id <> all (lapsed)
      ) f
    ), open as (
      select c.*, f.slots,
        case when c.drain_at <= at_time then greatest(least(f.slots, 8 - c.draining), 0) else 0 end as drain_slots
      from chosen c cross join lateral (
        select case
          when c.paused then 0
          when not c.failing then greatest(least(c.capacity - c.in_flight, c.share), 0)
          when c.in_flight = 0 and coalesce(c.gap_end, at_time) <= at_time then 1
          else 0
        end as slots
      ) f
    ), candidates as (
      -- Of each line (0 is fresh, 1 backlog, 2 retry) the first that fit, and one more, which says when there is
      -- something to do again. Places are not in an index's terms, and nothing is sorted that an index has in order:
      -- while few are pending, each index seems as good, and one that is of all webhooks would be gone through for
      -- each.
      select o.*, d.id, d.workspace_id, d.line, d.due_at, d.due_at <= at_time and d.allowed as may,
        row_number() over (
          partition by o.webhook_id
          order by d.due_at <= at_time and d.allowed desc, case when o.failing then d.line end, d.waits_since, d.id
        ) as turn
      from open o left join lateral (
        (
          select d.id, d.workspace_id, 0 as line, d.next_attempt_at as due_at, d.next_attempt_at as waits_since,
            true as allowed
          from deliveries d
          where d.webhook_id = o.webhook_id and d.id <> all (o.claimed)
            and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts = 0
            and d.trigger <> 'replay'
            and d.next_attempt_at >= o.fresh_from and d.position + 0 > o.skipped_until
          order by d.next_attempt_at limit o.slots + 1
        )
        union all
        (
          select b.id, b.workspace_id, 1, b.due_at, b.waits_since,
            row_number() over (order by b.waits_since, b.id) <= o.drain_slots
          from (
            (
              select d.id, d.workspace_id, d.next_attempt_at as due_at, d.next_attempt_at as waits_since
              from deliveries d
              where d.webhook_id = o.webhook_id and d.id <> all (o.claimed)
                and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts = 0
                and d.trigger <> 'replay'
                and d.next_attempt_at >= o.replayed_from and d.next_attempt_at < o.resumed_at
                and d.position + 0 > o.skipped_until
              order by d.next_attempt_at limit o.drain_slots + 1
            )
            union all
            (
              select d.id, d.workspace_id, d.last_attempt_at, d.first_attempt_at
              from deliveries d
              where d.webhook_id = o.webhook_id and d.id <> all (o.claimed)
                and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts > 0
                and d.resumed_at < o.resumed_at and d.first_attempt_at >= o.replayed_from
                and d.position + 0 > o.skipped_until
              order by d.resumed_at, d.first_attempt_at limit o.drain_slots + 1
            )
            union all
            (
              select d.id, d.workspace_id, d.next_attempt_at, d.next_attempt_at
              from deliveries d
              where d.webhook_id = o.webhook_id and d.id <> all (o.claimed)
                and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts = 0
                and d.trigger = 'replay' and d.position + 0 > o.skipped_until
              order by d.next_attempt_at limit o.drain_slots + 1
            )
          ) b
        )
        union all
        (
          select distinct r.id, r.workspace_id, 2, r.due_at, r.due_at, true
          from (
            (
              select d.id, d.workspace_id,
                case when d.last_attempt_at < o.recovered_at then least(d.next_attempt_at, o.recovered_at)
                  else d.next_attempt_at
                end as due_at
              from deliveries d
              where d.webhook_id = o.webhook_id and d.resumed_at = o.fresh_from and d.id <> all (o.claimed)
                and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts > 0
              order by d.next_attempt_at limit o.slots + 1
            )
            union all
            -- those that its recovery brings forward
            (
              select d.id, d.workspace_id, least(d.next_attempt_at, o.recovered_at) from deliveries d
              where d.webhook_id = o.webhook_id and d.resumed_at = o.fresh_from and d.id <> all (o.claimed)
                and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts > 0
                and d.last_attempt_at >= o.fresh_from and d.last_attempt_at < o.recovered_at
              order by d.last_attempt_at limit o.slots + 1
            )
          ) r
        )
      ) d on not o.paused
    ), turns as (
      select c.*, e.eligible and row_number() over (partition by e.eligible, c.doubtful order by c.turn, c.place)
        <= case when c.doubtful then left_doubtful else left_healthy end as taken
      from candidates c
      cross join lateral (select coalesce(c.turn <= c.slots and c.may, false) as eligible) e
    ), taken as (
      insert into delivery_claims (webhook_id, delivery_id, workspace_id, token, lease_until, backlog)
      select t.webhook_id, t.id, t.workspace_id, claimer, lease_end, t.line = 1 from turns t
      where t.taken and t.id <> all (lapsed)
    ), served as (
      select t.webhook_id, t.changes, t.ready_at, t.slots_taken, t.paused, t.failing, t.gap_end, t.capacity,
        t.in_flight + count(*) filter (where t.taken) as in_flight,
        t.draining + count(*) filter (where t.taken and t.line = 1) as draining,
        least(t.first_end, max(lease_end) filter (where t.taken)) as first_end,
        greatest(t.last_end, max(lease_end) filter (where t.taken)) as last_end,
        min(t.due_at) filter (where not t.taken and t.line <> 1) as head,
        min(t.due_at) filter (where not t.taken and t.line = 1) as backlog_head,
        count(*) filter (where t.taken and t.line = 1) as drained,
        greatest(t.drain_at, at_time) + 10 * count(*) filter (where t.taken and t.line = 1) as drain_at
      from turns t
      group by t.webhook_id, t.changes, t.ready_at, t.slots_taken, t.paused, t.failing, t.gap_end, t.capacity,
        t.in_flight, t.draining, t.first_end, t.last_end, t.drain_at
    ), drains as (
      insert into webhook_drains as n (webhook_id, next_at)
      select s.webhook_id, s.drain_at from served s where s.drained > 0
      on conflict (webhook_id) do update set next_at = excluded.next_at
    ), ready as (
      select s.webhook_id, s.changes, s.ready_at as was, s.slots_taken as were_taken,
        not s.paused and not s.failing
          and (s.in_flight >= s.capacity or s.draining >= 8 and s.backlog_head is not null) as taken,
        case when not s.paused and coalesce(s.head, s.backlog_head, s.first_end) is not null then
          greatest(
            -- behind everybody in line; not by the clock, which another claimer's may be behind
            least(line_end + 1, at_time),
            -- when a slot is free
            case
              when s.failing then greatest(s.gap_end, case when s.in_flight > 0 then s.last_end end)
              when s.in_flight >= s.capacity then s.first_end
            end,
            least(
              s.head,
              case when s.draining < 8
                then greatest(s.backlog_head, case when s.backlog_head is not null then s.drain_at end)
              end,
              s.first_end
            )
          )
        end as at
      from served s
    )
    select
      array_agg((r.webhook_id, r.changes, r.at, r.taken)::wac_place)
        -- a place that is too early, but not in the past, is corrected when it comes: it is not worth a write
        filter (
          where r.taken <> r.were_taken
            or (r.was is distinct from r.at and not coalesce(r.was > at_time and r.was <= r.at, false))
        ),
      (
        select array_agg(
          (t.id, t.workspace_id, t.webhook_id, t.doubtful, t.line = 1)::wac_claimed order by t.turn, t.place
        )
        from turns t where t.taken
      ),
      left_healthy - (select count(*) from turns t where t.taken and not t.doubtful),
      left_doubtful - (select count(*) from turns t where t.taken and t.doubtful)
    into places, claims, left_healthy, left_doubtful
    from ready r;

    -- by itself, since it is rare: an insert that minds a conflict costs half as much again
    if lapsed <> '{}' then
      update delivery_claims k set token = claimer, lease_until = lease_end, backlog = c.backlog
      from unnest(claims) c
      where k.webhook_id = c.webhook_id and k.delivery_id = c.delivery_id and c.delivery_id = any (lapsed);
    end if;
    moved := moved || places;
    claimed := claimed || claims;
  end loop;

  with wanted as (
    -- slots_taken stays as it is where a place is only marked
    select * from unnest(moved)
    union all
    select * from unnest(marked) m where m.webhook_id <> all (passed)
  ), free as (
    select h.webhook_id, w.at, coalesce(w.taken, h.slots_taken) as taken
    from wanted w join webhook_health h on h.webhook_id = w.webhook_id
    where h.changes = w.changes
    for no key update of h skip locked
  ), done as (
    update webhook_health h set ready_at = f.at, slots_taken = f.taken from free f where h.webhook_id = f.webhook_id
    returning h.webhook_id
  )
  select array(select w.webhook_id from wanted w where w.webhook_id not in (select d.webhook_id from done d))
  into again;

  return json_build_object(
    'deliveries', (
      select coalesce(
        json_agg(
          -- by position: names would be half of what is written and read
          json_build_array(
            d.id, d.workspace_id, d.webhook_id, d.event_id, d.event_type, d.envelope, d.order_key, d.sequence,
            d.trigger, d.attempt_count, d.round_attempts, d.first_attempt_at, d.last_attempt_at, d.next_attempt_at,
            d.created_at, e.created_at, e.order_key, e.sequence, e.data, c.doubtful, c.backlog
          ) order by c.place
        ),
        '[]'
      )
      from unnest(claimed) with ordinality as c (delivery_id, workspace_id, webhook_id, doubtful, backlog, place)
      join deliveries d on d.workspace_id = c.workspace_id and d.id = c.delivery_id
      join events e on e.id = d.event_id
    ),
    'webhooks', (
      select coalesce(
        json_agg(json_build_object(
          'id', w.id,
          'url', w.url,
          'secrets', (
            select coalesce(json_agg(wac_webhook_secret(s) order by s.position), '[]') from webhook_secrets s
            where s.webhook_id = w.id and (s.expires_at is null or s.expires_at > at_time)
          )
        )),
        '[]'
      )
      from (select distinct c.webhook_id from unnest(claimed) c) c join webhooks w on w.id = c.webhook_id
    ),
    'nextDueAt', least(
      (
        select h.ready_at from webhook_health h
        where most_healthy > 0 and not h.doubtful and h.ready_at is not null and h.webhook_id <> all (again)
        order by h.ready_at limit 1
      ),
      (
        select h.ready_at from webhook_health h
        where most_doubtful > 0 and h.doubtful and h.ready_at is not null and h.webhook_id <> all (again)
        order by h.ready_at limit 1
      ),
      -- by then the completion that holds its row is through
      case when again <> '{}' then at_time + 10 end
    ),
    'seen', settled,
    'again', again,
    'at', at_time
  );
end
$$;

create type wac_ended_attempt as (
  now bigint,
  delivery_id text,
  webhook_id text,
  token text,
  jitter double precision,
  attempt_id text,
  number smallint,
  trigger text,
  started_at bigint,
  duration_ms integer,
  outcome text,
  status_code smallint,
  message text,
  url text,
  address text,
  timings json,
  -- JSON as text, so that nothing escaped in it is read
  response text,
  retry_after_ms bigint
);

-- Records attempts: Delivery.afterAttempt for delivery and webhook, command after command. Answers per command with 0
-- when the claim was lost, 1 when it is recorded, 2 when besides something may have become due, or will within a
-- second.
create function wac_complete(commands json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  delays constant bigint[] := '{1000, 5000, 25000, 120000, 600000, 3000000, 15000000}';
  given constant wac_ended_attempt[] := array(
    select a from json_populate_recordset(null::wac_ended_attempt, commands) a
  );
  at_time bigint;
  recorded bigint[];
  lowers boolean;
  paused text[];
  pauses bigint[];
  -- of order keys that one has ended of
  keys text[];
  key_webhooks text[];
  key_floors bigint[];
  key_times bigint[];
begin
  perform from webhook_health h
  where h.webhook_id = any (array(select distinct g.webhook_id from unnest(given) g))
  order by h.webhook_id
  for no key update;
  at_time := wac_now();

  with ended as (
    delete from delivery_claims k
    using (
      -- a claim ends with the first command
      select distinct on (g.delivery_id, g.token) g.* from unnest(given) with ordinality g
      order by g.delivery_id, g.token, g.ordinality
    ) g
    where k.delivery_id = g.delivery_id and k.webhook_id = g.webhook_id and k.token = g.token
    returning g.*, k.workspace_id, coalesce(g.now, at_time) as at
  ), counted as (
    select e.*, a.*, h.consecutive_failures,
      greatest(h.last_success_at, max(a.ended_at) filter (where a.succeeded) over so_far) as last_success_at,
      count(*) filter (where a.failed) over so_far as failures
    from ended e
    join webhook_health h on h.webhook_id = e.webhook_id
    cross join lateral (
      select e.started_at + e.duration_ms as ended_at,
        e.outcome = 'delivered' as succeeded,
        -- of a test it says nothing
        e.outcome <> 'delivered' and e.trigger not in ('test', 'probe') as failed
    ) a
    window so_far as (partition by e.webhook_id order by e.ordinality rows unbounded preceding)
  ), run as (
    -- failures in a row before and after each
    select c.*, f.before, case when c.succeeded then 0 when c.failed then f.before + 1 else f.before end as after
    from (
      select c.*, max(c.failures) filter (where c.succeeded) over (
        partition by c.webhook_id order by c.ordinality rows between unbounded preceding and 1 preceding
      ) as failures_at_success
      from counted c
    ) c
    cross join lateral (
      select c.failures - case when c.failed then 1 else 0 end
          - coalesce(c.failures_at_success, -c.consecutive_failures) as before
    ) f
  ), written as (
    update deliveries d set (
      status, attempt_count, round_attempts, resumed_at, first_attempt_at, last_attempt_at, next_attempt_at,
      completed_at
    ) = (
      select s.status, r.number, t.round_attempts,
        case when t.first_at >= w.resumed_at then w.resumed_at else d.resumed_at end, t.first_at, r.ended_at, s.next_at,
        case when s.status <> 'pending' then r.ended_at end
      from (
        -- none of the round that the next is of, if the webhook was resumed since
        select case when d.round_attempts = 0 or d.first_attempt_at < w.resumed_at then 1 else d.round_attempts + 1 end
            as round_attempts,
          case when d.round_attempts = 0 or d.first_attempt_at < w.resumed_at then r.started_at
            else d.first_attempt_at
          end as first_at
      ) t
      cross join lateral (
        select case
            when r.succeeded then 'delivered'
            when not r.failed or r.started_at >= t.first_at + 86400000 and r.last_success_at >= t.first_at
              then 'exhausted'
            else 'pending'
          end as status,
          case
            when not r.failed then null
            when r.started_at < t.first_at + 86400000 then least(
              r.ended_at + ceil(greatest(
                delays[least(t.round_attempts, 7)] * (1 + 0.1::double precision * r.jitter),
                least(coalesce(r.retry_after_ms, 0), 3600000)
              ))::bigint,
              t.first_at + 86400000
            )
            when coalesce(r.last_success_at < t.first_at, true) then r.ended_at
          end as next_at
      ) s
    )
    from run r join webhooks w on w.id = r.webhook_id
    where d.workspace_id = r.workspace_id and d.id = r.delivery_id
    returning r.*, d.status, d.order_key, d.first_attempt_at, d.next_attempt_at, w.paused_at, w.resumed_at,
      w.skipped_until, d.status = 'pending' and r.started_at >= d.first_attempt_at + 86400000 as pauses
  ), kept as (
    insert into attempts (delivery_id, number, id, workspace_id, trigger, started_at, duration_ms, outcome, status_code,
      message, url, address, timings, response, retry_after_ms)
    select e.delivery_id, e.number, e.attempt_id, e.workspace_id, e.trigger, e.started_at, e.duration_ms, e.outcome,
      e.status_code, e.message, e.url, e.address, e.timings, e.response::json, e.retry_after_ms
    -- not of ended: of a webhook that was removed while it was claimed, nothing is recorded
    from written e
  ), after as (
    select u.webhook_id,
      (array_agg(u.after order by u.ordinality desc))[1] as consecutive_failures,
      (array_agg(u.ended_at order by u.ordinality desc) filter (where u.failed and u.before = 0))[1] as failures_since,
      (array_agg(u.ended_at order by u.ordinality desc) filter (where u.failed))[1] as last_failure_at,
      (array_agg(u.message order by u.ordinality desc) filter (where u.failed))[1] as last_failure_message,
      max(u.ended_at) filter (where u.succeeded) as last_success_at,
      max(u.ended_at) filter (where u.succeeded and u.duration_ms >= 1000) as slow_at,
      (array_agg(u.ended_at order by u.ordinality desc) filter (where u.failed or u.succeeded))[1] as last_attempt_at,
      (array_agg(u.ended_at order by u.ordinality desc) filter (where u.succeeded and u.before >= 5))[1]
        as recovered_at,
      bool_or(u.pauses or u.paused_at is not null) as is_paused,
      -- one that was begun before a resume is due with its backlog
      min(
        case when u.first_attempt_at < u.resumed_at and u.next_attempt_at is not null then u.ended_at
          else u.next_attempt_at
        end
      ) as next_at,
      -- a slot that somebody may have waited for
      min(case when u.after >= 5 then u.ended_at + 1000 when u.before >= 5 then u.at end) as slot_at,
      min(u.at) as now
    from written u
    group by u.webhook_id
  ), healths as (
    update webhook_health h set
      consecutive_failures = a.consecutive_failures,
      failures_since = case when a.consecutive_failures > 0 then coalesce(a.failures_since, h.failures_since) end,
      last_failure_at = coalesce(a.last_failure_at, h.last_failure_at),
      last_failure_message = coalesce(a.last_failure_message, h.last_failure_message),
      last_success_at = greatest(a.last_success_at, h.last_success_at),
      slow_at = greatest(a.slow_at, h.slow_at),
      last_attempt_at = coalesce(a.last_attempt_at, h.last_attempt_at),
      recovered_at = coalesce(a.recovered_at, h.recovered_at),
      slots_taken = false,
      ready_at = case when not a.is_paused then
        least(h.ready_at, a.next_at, a.slot_at, case when h.slots_taken and a.consecutive_failures < 5 then a.now end)
      end,
      changes = h.changes + 1
    from after a
    where h.webhook_id = a.webhook_id
    returning h.ready_at, a.now, least(a.next_at, a.slot_at, a.now) as lowered
  )
  select
    coalesce(array_agg(u.ordinality), '{}'),
    array_agg(u.webhook_id order by u.ordinality) filter (where u.pauses),
    array_agg(u.ended_at order by u.ordinality) filter (where u.pauses),
    array_agg(u.order_key) filter (where e.ends),
    array_agg(u.webhook_id) filter (where e.ends),
    array_agg(u.skipped_until) filter (where e.ends),
    array_agg(u.at) filter (where e.ends),
    -- claimers look every second by themselves (WebhookScheduler)
    (select bool_or(h.ready_at < h.now + 1000 and h.ready_at >= h.lowered) from healths h)
  into recorded, paused, pauses, keys, key_webhooks, key_floors, key_times, lowers
  from written u cross join lateral (select u.status <> 'pending' and u.order_key is not null as ends) e;

  if paused <> '{}' then
    update webhooks w set paused_at = p.at
    from (
      select distinct on (p.webhook_id) p.webhook_id, p.at
      from unnest(paused, pauses) with ordinality as p (webhook_id, at, place)
      order by p.webhook_id, p.place
    ) p
    where w.id = p.webhook_id and w.paused_at is null;
  end if;

  -- whoever records a follower of something pending locks the webhook's health (wac_record_events), so that either they
  -- see that it has ended, or we see the follower
  if keys <> '{}' then
    with next as (
      select distinct on (n.workspace_id, n.id) n.workspace_id, n.id, k.at
      from unnest(keys, key_webhooks, key_times, key_floors) as k (key, webhook_id, at, skipped_until)
      cross join lateral (
        select d.workspace_id, d.id from deliveries d
        where d.order_key = k.key and d.webhook_id = k.webhook_id and d.status = 'pending'
          and d.position > k.skipped_until
        order by d.sequence limit 1
      ) n
    ), freed as (
      update deliveries d set next_attempt_at = n.at from next n
      where d.workspace_id = n.workspace_id and d.id = n.id
      returning d.webhook_id, n.at
    )
    update webhook_health h set ready_at = least(h.ready_at, f.at)
    from (select f.webhook_id, min(f.at) as at from freed f group by f.webhook_id) f
    join webhooks w on w.id = f.webhook_id
    where h.webhook_id = f.webhook_id and w.paused_at is null;
    lowers := lowers or found;
  end if;

  return (
    select json_agg(case when n <> all (recorded) then 0 when lowers then 2 else 1 end order by n)
    from generate_series(1, cardinality(given)) as n
  );
end
$$;

-- Gives claims back.
create function wac_release(claimer text, webhooks text[], released text[]) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  perform from webhook_health h where h.webhook_id = any (webhooks) order by h.webhook_id for no key update;

  with given as (
    delete from delivery_claims k using unnest(webhooks, released) as r (webhook_id, delivery_id)
    where k.webhook_id = r.webhook_id and k.delivery_id = r.delivery_id and k.token = claimer
    returning k.workspace_id, k.delivery_id, k.webhook_id
  ), due as (
    select g.webhook_id, min(d.next_attempt_at) as at
    from given g join deliveries d on d.workspace_id = g.workspace_id and d.id = g.delivery_id
    group by g.webhook_id
  )
  update webhook_health h
  set ready_at = least(h.ready_at, due.at, h.recovered_at, w.resumed_at), changes = h.changes + 1
  from due join webhooks w on w.id = due.webhook_id
  where h.webhook_id = due.webhook_id;
  if found then
    perform pg_notify('wac_deliveries', 'released');
  end if;
end
$$;

-- A page of events, in the order of their places and no further than what is settled, so that following the pages
-- skips nothing. It begins after the place of the event 'after' or, while there is none, of the last event that is
-- certainly older than 'since': processes' clocks agree to within an hour, so of two events that are further apart by
-- their times, the later one was written later too.
--
-- heldBack tells that events were left out though they are committed, of those written up to 'until' or, if that is
-- not given, up to now.
create function wac_list_events(command json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  workspace constant text := command ->> 'workspaceId';
  since constant bigint := command ->> 'since';
  wanted constant text[] := array(select json_array_elements_text(command -> 'types'));
  most constant bigint := command ->> 'limit';
  until bigint := command ->> 'until';
  settled bigint;
  begins bigint;
  items json;
  held_back boolean;
begin
  until := coalesce(until, (select p.last_value from positions p));
  settled := wac_settled_position();

  begins := coalesce(
    (select e.position from events e where e.id = command ->> 'after' and e.workspace_id = workspace),
    (
      select e.position from events e
      where e.workspace_id = workspace and e.created_at < since - 3600000
      order by e.created_at desc limit 1
    ),
    0
  );

  select coalesce(json_agg(wac_event(page) order by page.position), '[]') into items
  from (
    select e.* from unnest(wanted) as t (type) cross join lateral (
      select * from events e
      where e.workspace_id = workspace and e.type = t.type
        and e.position > begins and e.position <= settled
        -- not in the index's terms: a time's own index leads to other types, and out of order
        and coalesce(e.created_at >= since, true)
      order by e.position limit most
    ) e
    order by e.position limit most
  ) page;

  held_back := settled < until and exists (
    select from unnest(wanted) as t (type) cross join lateral (
      select from events e
      where e.workspace_id = workspace and e.type = t.type and e.position > settled and e.position <= until
      limit 1
    ) e
  );
  return json_build_object('items', items, 'heldBack', held_back, 'until', until);
end
$$;
`
