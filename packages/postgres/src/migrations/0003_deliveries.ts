/**
 * Functions that choose deliveries: what is due, what waits, what is to be written as skipped. Each is one statement of its
 * caller, and decides nothing: numbers of rules are parameters, or columns that were derived by them (`webhook_health`).
 *
 * Who changes what is of webhooks waits for rows in one order: webhook_health by webhook, and what is of a webhook only
 * behind its health; but for those who change a webhook's own row or its secrets alone. A claim waits for no row at all.
 * Each statement sees what was committed before it began, so what must be seen is read after the lock behind which it may
 * have changed.
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

-- Writes out what a resume or a removal has skipped: up to so many deliveries of one webhook.
create function wac_tidy_skipped(at_time bigint, most integer, clock_spread bigint) returns integer
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
      if s.until < 9223372036854775807 or s.skipped_at < at_time - clock_spread then
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
-- to, tell since when, and how many of them have at least so many waiting; above the number counted exactly the index's last
-- analysis tells how many there are.
create function wac_backlog(at_time bigint, sizes bigint[], counted_exactly integer) returns json
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
    select from deliveries d where d.status = 'pending' limit counted_exactly + 1
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
      where h.opens_at is not null and w.paused_at is null
    ),
    'pending', case when counted <= counted_exactly then counted else greatest(counted, (
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
  -- Webhook.maxDraining, and Webhook.drainGap in milliseconds
  max_draining constant integer := command ->> 'maxDraining';
  drain_gap constant bigint := command ->> 'drainGap';
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
        h.opens_at is not null as failing, h.opens_at as gap_end, h.slots as capacity,
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
        case when c.drain_at <= at_time then greatest(least(f.slots, max_draining - c.draining), 0) else 0 end as drain_slots
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
        greatest(t.drain_at, at_time) + drain_gap * count(*) filter (where t.taken and t.line = 1) as drain_at
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
          and (s.in_flight >= s.capacity or s.draining >= max_draining and s.backlog_head is not null) as taken,
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
              case when s.draining < max_draining
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
-- certainly older than 'since': further apart by its time than processes' clocks may be.
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
  clock_spread constant bigint := command ->> 'clockSpread';
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
      where e.workspace_id = workspace and e.created_at < since - clock_spread
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
