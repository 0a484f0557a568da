/**
 * Functions of messages, their idempotency keys, contacts and events. Each transition of the ports is one of them, and
 * takes a JSON array of commands to a JSON array of answers in the same order. They mirror pure functions of
 * `@wac/core`, which each names: two tellings of one rule, which the conformance suites and `messages-mirror.test.ts`
 * hold together. Numbers such as a retention are those of core; a change of one is a new migration.
 *
 * **Who waits for whom.** Every function takes its row locks in this order, and those of one table in the order of
 * their keys, so that none ever waits for another in a circle: `workspaces` (accept and abandon alone), `messages`,
 * `bindings`, `message_names`, `phone_numbers`, `buckets`, `messaging_ledger`, `quota_usage`, `webhook_health`.
 * - The workspace's row makes its accepts come one after the other. That makes limits, quotas and keys exact.
 * - A message's row guards the binding of its key: who changes or removes a binding has locked the message first.
 *   (A key that has expired is nobody's: it is removed without.)
 * Locks of workspaces leave their keys alone (`no key update`), so that foreign keys do not wait for them.
 *
 * Each statement of a function sees what was committed before it began, so whatever a lock guards is read in a
 * statement after the one that waited for it, or comes from the locked row itself.
 *
 * Plans are made for indexes, whatever the tables held when they were made: a table may be empty then.
 */
export const sql = `
-- Time.iso, of the years 1 to 9999
create function wac_iso(at bigint) returns text
language sql stable strict
return to_char(timestamp 'epoch' + at * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- Message.ranks; failed is outside of them
create function wac_rank(status text) returns integer
language sql immutable
return case status when 'queued' then 0 when 'sending' then 1 when 'unknown' then 2 when 'sent' then 3
  when 'delivered' then 4 when 'read' then 5 end;

-- ServiceWindow.isOpen
create function wac_window_is_open(last_inbound_at bigint, at_time bigint) returns boolean
language sql immutable
return coalesce(last_inbound_at <= at_time and at_time < last_inbound_at + 86400000, false);

-- Whether somebody who knows has told how the send of a message ended.
create function wac_is_settled(m messages) returns boolean
language sql immutable
return (m).status not in ('sending', 'unknown') and not (m).delivery_unknown;

-- Idempotency.judge: the verdict's tag, or the reason of the verdict Unknown. Without a binding all of b is null.
create function wac_verdict(b bindings, m messages, asked text, at_time bigint) returns text
language sql immutable
return case
  when (b).message_id is null or (m).id is null or (b).expires_at <= at_time then 'Unbound'
  when (b).fingerprint <> asked then 'Conflict'
  when (b).answer is not null then 'Answered'
  when (b).lease_until > at_time then 'Running'
  -- Idempotency.settledByReport
  when (m).provider_message_id is not null and wac_is_settled(m) and (m).status <> 'queued' then 'Answered'
  when (m).delivery_unknown then 'delivery_unknown'
  when (b).claim_token is null and (m).status = 'sending' then 'Released'
  else 'outcome_unknown'
end;

-- Idempotency.sent
create function wac_sent(m messages, provider_message_id text) returns json
language sql stable
return json_build_object(
  '_tag', 'Sent',
  'messageId', (m).id,
  'providerMessageId', provider_message_id,
  'workspaceId', (m).workspace_id,
  'apiKeyId', (m).api_key_id
);

-- Idempotency.Verdict
create function wac_told_verdict(b bindings, m messages, verdict text) returns json
language sql stable
return case verdict
  when 'Answered' then json_build_object(
    '_tag', verdict, 'answer', coalesce((b).answer, wac_sent(m, (m).provider_message_id))
  )
  when 'Released' then json_build_object('_tag', verdict, 'lastFailure', (b).last_failure)
  when 'outcome_unknown' then json_build_object('_tag', 'Unknown', 'reason', verdict)
  when 'delivery_unknown' then json_build_object('_tag', 'Unknown', 'reason', verdict)
  else json_build_object('_tag', verdict)
end;

-- Message.Message
create function wac_message(m messages, c message_contents) returns json
language sql stable
return json_build_object(
  'id', (m).id,
  'workspaceId', (m).workspace_id,
  'apiKeyId', (m).api_key_id,
  'phoneNumberId', (m).phone_number_id,
  'from', (c).from_number,
  'content', (c).content,
  'status', (m).status,
  'statusAt', (m).status_at,
  'providerMessageId', (m).provider_message_id,
  'createdAt', (m).created_at,
  'sentAt', (m).sent_at,
  'deliveredAt', (m).delivered_at,
  'readAt', (m).read_at,
  'failedAt', (m).failed_at,
  'error', (c).error,
  'sequence', (m).sequence
);

-- Events and their deliveries

create type wac_recorded as (
  id text,
  delivery_id text,
  workspace_id text,
  type text,
  created_at bigint,
  order_key text,
  sequence smallint,
  data json
);

-- Records events, in the step that makes the changes they tell of, each with a delivery if the workspace's webhook
-- wants its type. Within an order key they come in the order of their sequence; the caller holds the message's lock.
create function wac_record_events(recorded wac_recorded[]) returns void
language plpgsql as $$
declare
  busy text[];
begin
  -- once for all places that are drawn here
  perform wac_announce();
  insert into events (id, workspace_id, type, created_at, order_key, sequence, data, position)
  select e.id, e.workspace_id, e.type, e.created_at, e.order_key, e.sequence, e.data, nextval('positions')
  from unnest(recorded) e;

  -- A predecessor may be ending at this moment. Whoever ends one holds the webhook's health: we wait for them, and see
  -- that it has ended, or they wait for us, and see its follower.
  select array_agg(distinct d.webhook_id) into busy
  from unnest(recorded) e
  cross join lateral (select w.id from webhooks w where w.workspace_id = e.workspace_id offset 0) w
  cross join lateral (
    select d.webhook_id from deliveries d
    where d.order_key = e.order_key and d.webhook_id = w.id and d.status = 'pending'
    order by d.sequence limit 1
  ) d
  where e.sequence > 1;
  if busy is not null then
    perform from webhook_health h where h.webhook_id = any (busy) order by h.webhook_id for share;
  end if;

  insert into deliveries (id, workspace_id, webhook_id, event_id, event_type, envelope, order_key, sequence, status,
    next_attempt_at, created_at, position)
  select e.delivery_id, e.workspace_id, w.id, e.id, e.type, w.envelope, e.order_key, e.sequence, 'pending',
    case when not (
      e.order_key is not null and lag(e.order_key) over (order by e.order_key, e.sequence) is not distinct from e.order_key
      or e.sequence > 1 and exists (
        select from deliveries d
        where d.order_key = e.order_key and d.webhook_id = w.id and d.status = 'pending'
        order by d.sequence limit 1
      )
    ) then e.created_at end,
    e.created_at, nextval('positions')
  from unnest(recorded) e
  cross join lateral (
    select w.id, w.envelope from webhooks w
    where w.workspace_id = e.workspace_id and e.type = any (w.event_types) offset 0
  ) w;
  if found then
    -- not an empty payload: that is what a listener is told who may have missed something
    perform pg_notify('wac_deliveries', 'recorded');
  end if;
end
$$;

-- Event.ofTransition: of a message as it is after all of its steps. Written as text, since fields come and go.
create function wac_event_of(
  m messages, error json, content json, step text, at bigint, id text, delivery_id text, created_at bigint,
  sequence integer
) returns wac_recorded
language plpgsql stable as $$
begin
  return (
    id, delivery_id, m.workspace_id, 'message.' || step, created_at, m.id, sequence,
    '{"message_id":' || to_json(m.id)
      || ',"provider_message_id":' || coalesce(to_json(m.provider_message_id)::text, 'null')
      || ',"to":' || (content -> 'to')::text
      || ',"status":"' || step || '","' || step || '_at":"' || wac_iso(at) || '"'
      || case when step = 'failed' then ',"error":' || coalesce(error::text, '{}') else '' end
      || coalesce(',"client_reference":' || (content -> 'clientReference')::text, '')
      || ',"sequence":' || sequence || '}'
  )::wac_recorded;
end
$$;

-- A message after a step of its life.
create type wac_moved as (
  message messages,
  error json,
  told wac_recorded[]
);

-- What upstream says became of a message (Message.Report), and identifiers for the events that it makes. Texts that
-- only upstream has seen come as text, and are not looked into: there may be in them what PostgreSQL cannot read.
create type wac_report as (
  now bigint,
  reference text,
  status text,
  at bigint,
  provider_message_id text,
  error text,
  -- whether the error is Message.deliveryUnknown, by its reason
  concludes boolean,
  events text[],
  deliveries text[]
);

-- Message.apply, and Event.ofTransitions
create function wac_apply(m messages, error json, content json, report wac_report) returns wac_moved
language plpgsql stable as $$
declare
  moved wac_moved;
  reopened constant boolean := m.delivery_unknown;
  reached integer := case when reopened then 2 else wac_rank(m.status) end;
  target constant integer := wac_rank(report.status);
  steps text[] := '{}';
  times bigint[] := '{}';
begin
  m.provider_message_id := coalesce(m.provider_message_id, report.provider_message_id);
  if report.status = 'failed' then
    if reopened or reached < 4 then
      m.status := 'failed';
      m.status_at := report.now;
      m.failed_at := report.at;
      m.delivery_unknown := report.concludes;
      error := report.error::json;
      -- its workspace was told already that it failed; only the reason is known better now
      if not reopened then
        steps := '{failed}';
        times := array[report.at];
      end if;
    end if;
  elsif reached is null or target <= reached then
    case report.status
      when 'sent' then m.sent_at := coalesce(m.sent_at, report.at);
      when 'delivered' then m.delivered_at := coalesce(m.delivered_at, report.at);
      when 'read' then m.read_at := coalesce(m.read_at, report.at);
    end case;
  else
    if reopened then
      m.delivery_unknown := false;
      m.failed_at := null;
      error := null;
    end if;
    m.status := report.status;
    m.status_at := report.now;
    if reached < 3 then
      m.sent_at := coalesce(m.sent_at, report.at);
      steps := steps || text 'sent';
      times := times || m.sent_at;
    end if;
    if reached < 4 and target >= 4 then
      m.delivered_at := coalesce(m.delivered_at, report.at);
      steps := steps || text 'delivered';
      times := times || m.delivered_at;
    end if;
    if target = 5 then
      m.read_at := coalesce(m.read_at, report.at);
      steps := steps || text 'read';
      times := times || m.read_at;
    end if;
  end if;
  moved.told := '{}';
  for i in 1 .. cardinality(steps) loop
    moved.told[i] := wac_event_of(m, error, content, steps[i], times[i], report.events[i], report.deliveries[i],
      report.now, m.sequence + i);
  end loop;
  m.sequence := m.sequence + cardinality(steps);
  moved.message := m;
  moved.error := error;
  return moved;
end
$$;

-- Writes messages as they have become.
create function wac_keep_messages(moved messages[]) returns void
language plpgsql as $$
declare
  ids constant text[] := array(select k.id from unnest(moved) k);
begin
  update messages m set
    status = k.status,
    status_at = k.status_at,
    provider_message_id = k.provider_message_id,
    sent_at = k.sent_at,
    delivered_at = k.delivered_at,
    read_at = k.read_at,
    failed_at = k.failed_at,
    delivery_unknown = k.delivery_unknown,
    sequence = k.sequence,
    quota_month = k.quota_month
  from unnest(moved) k
  where m.id = k.id and m.id = any (ids);
end
$$;

-- Gives a message's quota back to the month that it was taken from.
create function wac_give_quota_back(workspace_ids text[], months text[]) returns void
language sql
begin atomic
  update quota_usage q set used = q.used - g.given
  from (
    select t.workspace_id, t.month, count(*) as given
    from unnest(workspace_ids, months) as t (workspace_id, month)
    group by 1, 2
    order by 1, 2
  ) g
  where q.workspace_id = g.workspace_id and q.month = g.month;
end;

-- accept

create type wac_send as (
  now bigint,
  workspace_id text,
  route text,
  key text,
  fingerprint text,
  api_key_id text,
  message_id text,
  claim_token text,
  lease_until bigint,
  content json,
  customer text,
  -- as the message names it; null for the default number
  sender text,
  -- null for a text
  template text,
  language text,
  given_values integer,
  -- rate limits as [interval, capacity]
  limits text
);

-- A send that is claimed: what is written of it.
create type wac_claim as (
  send wac_send,
  -- the message of a try before this one
  before messages,
  phone_number_id text,
  from_number text,
  counted_at bigint,
  counted_before bigint,
  quota_month text
);

-- PhoneNumber.PhoneNumber
create function wac_phone_number(p phone_numbers) returns json
language sql stable
return json_build_object(
  'id', (p).id,
  'workspaceId', (p).workspace_id,
  'phoneNumber', (p).phone_number,
  'providerNumberId', (p).provider_number_id,
  'tier', (p).tier,
  'messagingLimit', (p).messaging_limit,
  'available', (p).available,
  'isDefault', (p).is_default
);

-- Template.Template
create function wac_template(t templates) returns json
language sql stable
return json_build_object(
  'id', (t).id,
  'workspaceId', (t).workspace_id,
  'providerTemplateId', (t).provider_template_id,
  'name', (t).name,
  'language', (t).language,
  'category', (t).category,
  'status', (t).status,
  'parameterFormat', (t).parameter_format,
  'components', (t).components,
  'variables', (t).variables,
  'quality', (t).quality,
  'rejectionReason', (t).rejection_reason,
  'syncedAt', (t).synced_at
);

-- Contact.Contact
create function wac_contact(c contacts) returns json
language sql stable
return json_build_object(
  'workspaceId', (c).workspace_id,
  'phoneNumberId', (c).phone_number_id,
  'customer', (c).customer,
  'lastInboundAt', (c).last_inbound_at,
  'optedOut', (c).opted_out
);

-- RateLimit.take: the bucket's new state, or null when it has no token
create function wac_take(full_at double precision, at double precision, refill double precision, capacity double precision)
returns double precision
language sql immutable
return case
  when greatest(full_at, at) + refill - at - refill * capacity <= 0 then greatest(full_at, at) + refill
end;

-- Lets go of customers who no longer count, as many as do not take long. Answers with who they are.
create function wac_prune_ledger(number text, counted_until bigint, kept text[]) returns text[]
language sql
begin atomic
  with old as (
    select l.customer from messaging_ledger l
    where l.phone_number_id = number and l.counted_at > 0 and l.counted_at <= counted_until and l.customer <> all (kept)
    order by l.counted_at limit 1000
  ), gone as (
    delete from messaging_ledger l using old
    where l.phone_number_id = number and l.customer = old.customer
    returning l.customer
  )
  select coalesce(array_agg(g.customer), '{}') from gone g;
end;

-- Everything is worked out first, send after send, each seeing what those before it will have spent; then it is
-- written, table after table. Sends are gone through by workspace, number and recipient, so that the state of a bucket
-- that was spent already is the last one noted.
create function wac_accept(commands json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  sends wac_send[];
  has_twins boolean;
  locked text[];
  s wac_send;
  r record;
  answers json[];
  verdict text;
  twin wac_send;
  again boolean;
  -- the last number and template, as they are told
  number_id text;
  number json;
  template_id text;
  template json;
  -- states of buckets: before, and after taking a token
  workspace_at double precision;
  workspace_next double precision;
  number_at double precision;
  number_next double precision;
  pair_at double precision;
  pair_next double precision;
  pair_key text;
  -- policy
  is_open boolean;
  quota double precision;
  quota_at integer;
  used integer;
  customer_limit double precision;
  counted integer;
  counted_at bigint;
  is_counted boolean;
  gone text[];
  pruned text[] := '{}';
  pruned_number text;
  -- what is written in the end
  claims wac_claim[] := '{}';
  replaced text[] := '{}';
  workspaces_spent text[] := '{}';
  workspace_fulls double precision[] := '{}';
  numbers_spent text[] := '{}';
  number_fulls double precision[] := '{}';
  number_counts integer[] := '{}';
  pairs_spent text[] := '{}';
  pair_fulls double precision[] := '{}';
  noted_numbers text[] := '{}';
  noted_customers text[] := '{}';
  noted_times bigint[] := '{}';
  quotas text[] := '{}';
  quota_workspaces text[] := '{}';
  quota_months text[] := '{}';
  quota_counts integer[] := '{}';
begin
  sends := array(select c from json_populate_recordset(null::wac_send, commands) c);
  select count(*) > count(distinct (c.workspace_id, c.route, c.key)) into has_twins from unnest(sends) c;
  answers := array_fill(null::json, array[cardinality(sends)]);

  perform from workspaces w
  where w.id = any (array(select distinct c.workspace_id from unnest(sends) c))
  order by w.id
  for no key update;

  -- keys that may be claimed although they are bound: of a try that certainly sent nothing, or expired
  select array_agg(b.message_id) into locked
  from unnest(sends) c
  cross join lateral (
    select b.message_id from bindings b
    where b.workspace_id = c.workspace_id and b.route = c.route and b.key = c.key
      and (b.answer is null and b.claim_token is null or b.expires_at <= c.now)
    offset 0
  ) b;
  if locked is not null then
    perform from messages m where m.id = any (locked) order by m.id for update;
  end if;

  for r in
    with limits as materialized (
      select l.text, l.text::jsonb as value from (select distinct c.limits as text from unnest(sends) c) l
    )
    select c.ordinality, x.month, w.id is not null and k.id is not null as is_known, k.revoked_at, k.expires_at,
      w.suspended, w.tier, w.bucket_full_at, coalesce(w.monthly_quota, (l.value ->> 'monthlyQuota')::double precision) as quota,
      b.b, m.m, p.p, t.t, n.n, wac_verdict(b.b, m.m, c.fingerprint, c.now) as verdict,
      x.pair_key, coalesce(a.full_at, 0) as pair_full_at, g.counted_at, coalesce(q.used, 0) as used,
      coalesce((p.p).messaging_limit, (l.value ->> 'messagingLimit')::double precision) as messaging_limit,
      (y.workspace -> 0)::double precision as workspace_refill, (y.workspace -> 1)::double precision as workspace_capacity,
      (y.number -> 0)::double precision as number_refill, (y.number -> 1)::double precision as number_capacity,
      (y.pair -> 0)::double precision as pair_refill, (y.pair -> 1)::double precision as pair_capacity
    -- each of the subqueries is looked up by its key, send after send
    from unnest(sends) with ordinality c
    join limits l on l.text = c.limits
    left join lateral (select w.* from workspaces w where w.id = c.workspace_id offset 0) w on true
    left join lateral (
      select k.* from api_keys k where k.id = c.api_key_id and k.workspace_id = c.workspace_id offset 0
    ) k on true
    left join lateral (
      select b from bindings b where b.workspace_id = c.workspace_id and b.route = c.route and b.key = c.key offset 0
    ) b on true
    left join lateral (select m from messages m where m.id = (b.b).message_id offset 0) m on true
    left join lateral (
      select p from phone_numbers p where c.sender is null and p.workspace_id = c.workspace_id and p.is_default
      union all
      select p from phone_numbers p where p.workspace_id = c.workspace_id and p.phone_number = c.sender
      union all
      select p from phone_numbers p where p.id = c.sender and p.workspace_id = c.workspace_id
      limit 1
    ) p on true
    left join lateral (
      select t from templates t
      where t.workspace_id = c.workspace_id and t.name = c.template and t.language = c.language offset 0
    ) t on true
    cross join lateral (
      select (p.p).id as number_id, 'pair:' || (p.p).id || ':' || c.customer as pair_key, left(wac_iso(c.now), 7) as month
      offset 0
    ) x
    left join lateral (
      select n from contacts n where n.phone_number_id = x.number_id and n.customer = c.customer offset 0
    ) n on true
    left join lateral (select a.full_at from buckets a where a.key = x.pair_key offset 0) a on true
    left join lateral (
      select g.counted_at from messaging_ledger g
      where g.phone_number_id = x.number_id and g.customer = c.customer offset 0
    ) g on true
    left join lateral (
      select q.used from quota_usage q where q.workspace_id = c.workspace_id and q.month = x.month offset 0
    ) q on true
    cross join lateral (
      select coalesce(l.value -> 'workspaceTiers' -> w.tier, l.value -> 'workspace') as workspace,
        coalesce(l.value -> 'numberTiers' -> (p.p).tier, l.value -> 'number') as number,
        l.value -> 'pair' as pair
    ) y
    order by c.workspace_id collate "C", x.number_id collate "C", c.customer collate "C", c.ordinality
  loop
    s := sends[r.ordinality];

    -- ApiKey.refusal, Workspace.suspension
    if not r.is_known then
      answers[r.ordinality] := '{"_tag":"Stranger"}';
      continue;
    end if;
    if r.revoked_at is not null or r.expires_at <= s.now or r.suspended then
      answers[r.ordinality] := json_build_object('_tag', 'Barred', 'revokedAt', r.revoked_at, 'expiresAt', r.expires_at,
        'suspended', r.suspended);
      continue;
    end if;

    workspace_at := case when workspaces_spent[cardinality(workspaces_spent)] = s.workspace_id
      then workspace_fulls[cardinality(workspaces_spent)] else r.bucket_full_at end;
    workspace_next := wac_take(workspace_at, s.now, r.workspace_refill, r.workspace_capacity);
    if workspace_next is null then
      answers[r.ordinality] := json_build_object('_tag', 'Limited', 'tier', r.tier, 'workspaceFullAt', workspace_at);
      continue;
    end if;

    verdict := r.verdict;
    if verdict in ('Unbound', 'Released') then
      if has_twins then
        select (c.send).* into twin from unnest(claims) c
        where (c.send).workspace_id = s.workspace_id and (c.send).route = s.route and (c.send).key = s.key;
        if twin.key is not null then
          verdict := case when twin.fingerprint <> s.fingerprint then 'Conflict' when twin.lease_until > s.now then 'Running'
            else 'outcome_unknown' end;
        end if;
      end if;
      -- it was let go of only after we locked: we came before that
      if (r.b).message_id is not null and (locked is null or (r.b).message_id <> all (locked)) then
        verdict := 'Running';
      end if;
    end if;
    if verdict not in ('Unbound', 'Released') then
      if workspaces_spent[cardinality(workspaces_spent)] is distinct from s.workspace_id then
        workspaces_spent := workspaces_spent || s.workspace_id;
      end if;
      workspace_fulls[cardinality(workspaces_spent)] := workspace_next;
      answers[r.ordinality] := json_build_object('_tag', 'Judged', 'tier', r.tier, 'workspaceFullAt', workspace_at,
        'verdict', wac_told_verdict(r.b, r.m, verdict));
      continue;
    end if;
    again := verdict = 'Released';

    if (r.p).id is distinct from number_id then
      number_id := (r.p).id;
      number := case when number_id is not null then wac_phone_number(r.p) end;
    end if;
    if (r.t).id is distinct from template_id then
      template_id := (r.t).id;
      template := case when template_id is not null then wac_template(r.t) end;
    end if;

    -- Policy.refusal
    is_open := wac_window_is_open((r.n).last_inbound_at, s.now);
    quota := case when not again or (r.m).quota_month is null then r.quota end;
    quota_at := array_position(quotas, s.workspace_id || r.month);
    used := r.used + coalesce(quota_counts[quota_at], 0);
    customer_limit := r.messaging_limit;
    counted := (r.p).customers_counted + case when numbers_spent[cardinality(numbers_spent)] = number_id
      then number_counts[cardinality(numbers_spent)] else 0 end;
    counted_at := case
      when noted_numbers[cardinality(noted_numbers)] = number_id and noted_customers[cardinality(noted_numbers)] = s.customer
        then noted_times[cardinality(noted_numbers)]
      when pruned_number = number_id and s.customer = any (pruned) then null
      else r.counted_at
    end;
    is_counted := coalesce(counted_at > s.now - 86400000, false);
    if not is_open and not is_counted and counted >= customer_limit then
      -- some of them may not count any longer
      gone := wac_prune_ledger(number_id, s.now - 86400000, array(
        select d.customer from unnest(noted_numbers, noted_customers) as d (number, customer) where d.number = number_id
      ));
      if gone <> '{}' then
        if numbers_spent[cardinality(numbers_spent)] is distinct from number_id then
          numbers_spent := numbers_spent || number_id;
          number_fulls := number_fulls || (r.p).bucket_full_at;
          number_counts := number_counts || 0;
        end if;
        number_counts[cardinality(numbers_spent)] := number_counts[cardinality(numbers_spent)] - cardinality(gone);
        counted := counted - cardinality(gone);
        pruned := case when pruned_number = number_id then pruned || gone else gone end;
        pruned_number := number_id;
        if s.customer = any (gone) then
          counted_at := null;
        end if;
        if counted >= customer_limit and cardinality(gone) = 1000 then
          select count(*) into counted from (
            select l.customer from messaging_ledger l
            where l.phone_number_id = number_id and l.counted_at > 0 and l.counted_at > s.now - 86400000
            union
            select d.customer from unnest(noted_numbers, noted_customers) as d (number, customer) where d.number = number_id
            limit customer_limit
          ) live;
        end if;
      end if;
    end if;
    if number_id is null or not (r.p).available
      or s.template is not null and (
        template_id is null or (r.t).status <> 'approved' or cardinality((r.t).variables) <> s.given_values
      )
      or coalesce((r.n).opted_out and (s.template is null or (r.t).category = 'marketing'), false)
      or s.template is null and not is_open
      or coalesce(used >= quota, false)
      or not is_open and not is_counted and coalesce(counted >= customer_limit, false)
    then
      answers[r.ordinality] := json_build_object('_tag', 'Refused', 'tier', r.tier, 'workspaceFullAt', workspace_at,
        'sender', number, 'template', template,
        'contact', case when (r.n).customer is not null then wac_contact(r.n) end,
        'quota', quota, 'quotaUsed', used, 'messagingLimit', customer_limit, 'customersCounted', counted,
        'customerCounted', is_counted);
      continue;
    end if;

    number_at := case when numbers_spent[cardinality(numbers_spent)] = number_id
      then number_fulls[cardinality(numbers_spent)] else (r.p).bucket_full_at end;
    number_next := wac_take(number_at, s.now, r.number_refill, r.number_capacity);
    pair_at := case when pairs_spent[cardinality(pairs_spent)] = r.pair_key
      then pair_fulls[cardinality(pairs_spent)] else r.pair_full_at end;
    pair_next := wac_take(pair_at, s.now, r.pair_refill, r.pair_capacity);
    if number_next is null or pair_next is null then
      answers[r.ordinality] := json_build_object('_tag', 'Limited', 'tier', r.tier, 'workspaceFullAt', workspace_at,
        'sender', number, 'numberFullAt', number_at, 'pairFullAt', pair_at);
      continue;
    end if;

    if workspaces_spent[cardinality(workspaces_spent)] is distinct from s.workspace_id then
      workspaces_spent := workspaces_spent || s.workspace_id;
    end if;
    workspace_fulls[cardinality(workspaces_spent)] := workspace_next;
    if numbers_spent[cardinality(numbers_spent)] is distinct from number_id then
      numbers_spent := numbers_spent || number_id;
      number_counts := number_counts || 0;
    end if;
    number_fulls[cardinality(numbers_spent)] := number_next;
    if pairs_spent[cardinality(pairs_spent)] is distinct from r.pair_key then
      pairs_spent := pairs_spent || r.pair_key;
    end if;
    pair_fulls[cardinality(pairs_spent)] := pair_next;
    if not is_open then
      if counted_at is null then
        number_counts[cardinality(numbers_spent)] := number_counts[cardinality(numbers_spent)] + 1;
      end if;
      if noted_numbers[cardinality(noted_numbers)] is distinct from number_id
        or noted_customers[cardinality(noted_numbers)] is distinct from s.customer
      then
        noted_numbers := noted_numbers || number_id;
        noted_customers := noted_customers || s.customer;
      end if;
      noted_times[cardinality(noted_numbers)] := s.now;
    end if;
    if not again or (r.m).quota_month is null then
      if quota_at is null then
        quotas := quotas || (s.workspace_id || r.month);
        quota_at := cardinality(quotas);
        quota_workspaces[quota_at] := s.workspace_id;
        quota_months[quota_at] := r.month;
        quota_counts[quota_at] := 0;
      end if;
      quota_counts[quota_at] := quota_counts[quota_at] + 1;
    end if;
    if not again and (r.b).message_id is not null then
      replaced := replaced || (r.b).message_id;
    end if;
    claims[cardinality(claims) + 1] := (
      s,
      case when again then r.m end,
      number_id,
      (r.p).phone_number,
      case when not is_open then s.now end,
      case when not is_open then counted_at end,
      case when again then coalesce((r.m).quota_month, r.month) else r.month end
    )::wac_claim;
    answers[r.ordinality] := json_build_object('_tag', 'Claimed', 'tier', r.tier, 'workspaceFullAt', workspace_at,
      'sender', number, 'numberFullAt', number_at, 'pairFullAt', pair_at, 'template', template,
      'contact', case when (r.n).customer is not null then wac_contact(r.n) end,
      'before', case when again then (select wac_message(r.m, e) from message_contents e where e.message_id = (r.m).id) end);
  end loop;

  if cardinality(claims) > 0 then
    if replaced <> '{}' then
      delete from bindings b where b.message_id = any (replaced);
    end if;
    insert into messages (id, workspace_id, api_key_id, phone_number_id, status, status_at, created_at, quota_month)
    select (c.send).message_id, (c.send).workspace_id, (c.send).api_key_id, c.phone_number_id, 'sending', (c.send).now,
      (c.send).now, c.quota_month
    from unnest(claims) c where (c.before).id is null;
    insert into message_contents (message_id, workspace_id, from_number, content)
    select (c.send).message_id, (c.send).workspace_id, c.from_number, (c.send).content
    from unnest(claims) c where (c.before).id is null;
    insert into bindings (workspace_id, route, key, fingerprint, message_id, claim_token, lease_until, counted_at,
      counted_before)
    select (c.send).workspace_id, (c.send).route, (c.send).key, (c.send).fingerprint, (c.send).message_id,
      (c.send).claim_token, (c.send).lease_until, c.counted_at, c.counted_before
    from unnest(claims) c where (c.before).id is null;
    if locked is not null then
      update messages m set status = 'sending', status_at = (c.send).now, api_key_id = (c.send).api_key_id,
        quota_month = c.quota_month
      from unnest(claims) c where m.id = (c.before).id and m.id = any (locked);
      update bindings b set claim_token = (c.send).claim_token, lease_until = (c.send).lease_until,
        counted_at = c.counted_at, counted_before = c.counted_before, tried_before = (c.before).status_at
      from unnest(claims) c where b.message_id = (c.before).id and b.message_id = any (locked);
    end if;
  end if;

  update workspaces w set bucket_full_at = u.full_at
  from unnest(workspaces_spent, workspace_fulls) as u (id, full_at)
  where w.id = u.id and w.id = any (workspaces_spent);
  if numbers_spent <> '{}' then
    update phone_numbers p set bucket_full_at = u.full_at, customers_counted = p.customers_counted + u.counted
    from unnest(numbers_spent, number_fulls, number_counts) as u (id, full_at, counted)
    where p.id = u.id and p.id = any (numbers_spent);
    insert into buckets as b (key, full_at) select u.key, u.full_at from unnest(pairs_spent, pair_fulls) as u (key, full_at)
    on conflict (key) do update set full_at = excluded.full_at;
    insert into messaging_ledger as l (phone_number_id, customer, counted_at)
    select u.number, u.customer, u.at from unnest(noted_numbers, noted_customers, noted_times) as u (number, customer, at)
    on conflict (phone_number_id, customer) do update set counted_at = excluded.counted_at;
    insert into quota_usage as q (workspace_id, month, used)
    select u.workspace_id, u.month, u.count
    from unnest(quota_workspaces, quota_months, quota_counts) as u (workspace_id, month, count)
    order by 1, 2
    on conflict (workspace_id, month) do update set used = q.used + excluded.used;
  end if;
  return array_to_json(answers);
end
$$;

-- settle

create type wac_settlement as (
  workspace_id text,
  message_id text,
  claim_token text,
  -- MessageStore.SendEnd, by its tag
  "end" text,
  report wac_report,
  -- as text, like the errors of reports
  answer text
);

create function wac_settle(commands json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  answers boolean[] := array_fill(false, array[json_array_length(commands)]);
  r record;
  m messages;
  moved wac_moved;
  done text := '';
  answer json;
  failure json;
  expiry bigint;
  -- what is written in the end
  settled messages[] := '{}';
  ids text[] := '{}';
  bound_answers json[] := '{}';
  failures json[] := '{}';
  expiries bigint[] := '{}';
  failed text[] := '{}';
  errors json[] := '{}';
  names text[] := '{}';
  named text[] := '{}';
  told wac_recorded[] := '{}';
  quota_workspaces text[] := '{}';
  quota_months text[] := '{}';
begin
  for r in
    select c.ordinality, c."end", c.report, c.answer, t.t, e.content
    from (
      select * from json_populate_recordset(null::wac_settlement, commands) with ordinality c
      order by c.message_id, c.ordinality
    ) c
    cross join lateral (
      select t from messages t where t.id = c.message_id and t.workspace_id = c.workspace_id for update
    ) t
    cross join lateral (
      select from bindings b where b.message_id = c.message_id and b.claim_token = c.claim_token for update
    ) b
    cross join lateral (select e.content from message_contents e where e.message_id = c.message_id offset 0) e
  loop
    -- the claim went with the command before
    continue when done = (r.t).id;
    m := r.t;
    done := m.id;
    answers[r.ordinality] := true;
    answer := null;
    failure := null;
    if r."end" in ('Accepted', 'Refused') then
      if (r.report).provider_message_id is distinct from m.provider_message_id then
        names := names || (r.report).provider_message_id;
        named := named || m.id;
      end if;
      moved := wac_apply(m, null, r.content, r.report);
      m := moved.message;
      told := told || moved.told;
      expiry := (r.report).now + 86400000;
      if r."end" = 'Accepted' then
        -- the name that its owner is told now, even if a report was first with another
        answer := wac_sent(m, (r.report).provider_message_id);
      else
        answer := r.answer::json;
        if m.quota_month is not null then
          quota_workspaces := quota_workspaces || m.workspace_id;
          quota_months := quota_months || m.quota_month;
          m.quota_month := null;
        end if;
      end if;
      if m.status = 'failed' and (r.t).status <> 'failed' then
        failed := failed || m.id;
        errors := errors || moved.error;
      end if;
    else
      if m.status = 'sending' then
        m.status := case r."end" when 'Unknown' then 'unknown' else 'sending' end;
        m.status_at := (r.report).now;
      end if;
      failure := r.answer::json;
      expiry := case when wac_is_settled(m) then (r.report).now + 86400000 end;
    end if;
    settled := settled || m;
    ids := ids || m.id;
    bound_answers := bound_answers || answer;
    failures := failures || failure;
    expiries := expiries || expiry;
  end loop;

  if ids <> '{}' then
    perform wac_keep_messages(settled);
    update bindings b set claim_token = null, lease_until = null, answer = u.answer,
      last_failure = coalesce(u.failure, b.last_failure), expires_at = u.expiry
    from unnest(ids, bound_answers, failures, expiries) as u (id, answer, failure, expiry)
    where b.message_id = u.id and b.message_id = any (ids);
    if failed <> '{}' then
      update message_contents e set error = u.error from unnest(failed, errors) as u (id, error)
      where e.message_id = u.id and e.message_id = any (failed);
    end if;
    insert into message_names (provider_message_id, message_id)
    select u.name, u.id from unnest(names, named) with ordinality as u (name, id, place) where u.name is not null
    order by u.name, u.place
    on conflict do nothing;
    if quota_months <> '{}' then
      perform wac_give_quota_back(quota_workspaces, quota_months);
    end if;
    if cardinality(told) > 0 then
      perform wac_record_events(told);
    end if;
  end if;
  return array_to_json(answers);
end
$$;

-- applyReport

create function wac_apply_reports(commands json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  reports wac_report[];
  targets text[];
  r record;
  -- the message whose reports are being gone through, as it is after those before
  m messages;
  error json;
  moved wac_moved;
  -- what is written in the end
  applied messages[] := '{}';
  failed text[] := '{}';
  errors json[] := '{}';
  unclaimed text[] := '{}';
  expiries bigint[] := '{}';
  names text[] := '{}';
  named text[] := '{}';
  told wac_recorded[] := '{}';
begin
  reports := array(select c from json_populate_recordset(null::wac_report, commands) c);

  -- by our reference, then by the provider's name
  select array_agg(coalesce(a.id, b.id) order by c.ordinality) into targets
  from unnest(reports) with ordinality c
  left join lateral (select t.id from messages t where t.id = c.reference offset 0) a on true
  left join lateral (
    select t.id from message_names n join messages t on t.id = n.message_id
    where a.id is null and n.provider_message_id = c.provider_message_id offset 0
  ) b on true;
  perform from messages t where t.id = any (targets) order by t.id for update;

  for r in
    select c.ordinality, t.t, b.b, e.content, e.error
    from unnest(targets) with ordinality c (id, ordinality)
    cross join lateral (select t from messages t where t.id = c.id offset 0) t
    cross join lateral (select e.content, e.error from message_contents e where e.message_id = c.id offset 0) e
    left join lateral (select b from bindings b where b.message_id = c.id offset 0) b on true
    order by c.id, c.ordinality
  loop
    if m.id is distinct from (r.t).id then
      m := r.t;
      error := r.error;
      applied := applied || m;
    end if;
    if reports[r.ordinality].provider_message_id is distinct from m.provider_message_id then
      names := names || reports[r.ordinality].provider_message_id;
      named := named || m.id;
    end if;
    moved := wac_apply(m, error, r.content, reports[r.ordinality]);
    told := told || moved.told;
    if moved.error is not null or error is not null then
      error := moved.error;
      if failed[cardinality(failed)] is distinct from m.id then
        failed := failed || m.id;
      end if;
      errors[cardinality(failed)] := error;
    end if;
    -- with a live claim the answer is its owner's to give; a key that has expired does not come back
    if not wac_is_settled(m) and wac_is_settled(moved.message) and (r.b).message_id is not null
      and coalesce((r.b).lease_until <= reports[r.ordinality].now, true)
      and coalesce((r.b).expires_at > reports[r.ordinality].now, true)
    then
      unclaimed := unclaimed || m.id;
      expiries := expiries || (reports[r.ordinality].now + 86400000);
    end if;
    m := moved.message;
    applied[cardinality(applied)] := m;
  end loop;

  if cardinality(applied) > 0 then
    perform wac_keep_messages(applied);
    update bindings b set claim_token = null, lease_until = null, expires_at = u.expiry
    from unnest(unclaimed, expiries) as u (id, expiry)
    where b.message_id = u.id and b.message_id = any (unclaimed);
    if failed <> '{}' then
      update message_contents e set error = u.error from unnest(failed, errors) as u (id, error)
      where e.message_id = u.id and e.message_id = any (failed);
    end if;
    insert into message_names (provider_message_id, message_id)
    select u.name, u.id from unnest(names, named) with ordinality as u (name, id, place) where u.name is not null
    order by u.name, u.place
    on conflict do nothing;
    if cardinality(told) > 0 then
      perform wac_record_events(told);
    end if;
  end if;
  return (select json_agg(c.id is not null order by c.ordinality) from unnest(targets) with ordinality c (id, ordinality));
end
$$;

-- abandon: rare, so step by step

create function wac_abandon(commands json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  r record;
  m messages;
begin
  perform from workspaces w
  where w.id = any (array(select c.workspace_id from json_to_recordset(commands) as c (workspace_id text)))
  order by w.id
  for no key update;
  perform from messages t
  where t.id = any (array(select c.message_id from json_to_recordset(commands) as c (message_id text)))
  order by t.id
  for update;

  -- in the order of quotas, which are locked at the end
  for r in
    select c.now, c.claim_token, t.t, b.b, e.content ->> 'to' as customer,
      (coalesce(c.limits -> 'workspaceTiers' -> w.tier, c.limits -> 'workspace') -> 0)::double precision as workspace_refill,
      (coalesce(c.limits -> 'numberTiers' -> p.tier, c.limits -> 'number') -> 0)::double precision as number_refill,
      (c.limits -> 'pair' -> 0)::double precision as pair_refill
    from json_to_recordset(commands) as c (now bigint, workspace_id text, message_id text, claim_token text, limits jsonb)
    cross join lateral (
      select t from messages t where t.id = c.message_id and t.workspace_id = c.workspace_id offset 0
    ) t
    cross join lateral (
      select b from bindings b where b.message_id = c.message_id and b.claim_token = c.claim_token offset 0
    ) b
    cross join lateral (select e.content from message_contents e where e.message_id = c.message_id offset 0) e
    cross join lateral (select w.tier from workspaces w where w.id = c.workspace_id offset 0) w
    cross join lateral (select p.tier from phone_numbers p where p.id = (t.t).phone_number_id offset 0) p
    order by c.workspace_id, (t.t).quota_month, c.message_id
  loop
    m := r.t;
    if m.status <> 'sending' then
      update bindings b set claim_token = null, lease_until = null,
        expires_at = case when wac_is_settled(m) then r.now + 86400000 end
      where b.message_id = m.id and b.claim_token = r.claim_token;
    elsif (r.b).tried_before is not null then
      update messages t set status_at = (r.b).tried_before where t.id = m.id;
      update bindings b set claim_token = null, lease_until = null
      where b.message_id = m.id and b.claim_token = r.claim_token;
    else
      delete from bindings b where b.message_id = m.id and b.claim_token = r.claim_token;
      if found then
        delete from messages t where t.id = m.id;
        delete from message_contents e where e.message_id = m.id;
      end if;
    end if;
    -- the same command again
    continue when not found;

    -- RateLimit.giveBack
    update workspaces w set bucket_full_at = w.bucket_full_at - r.workspace_refill where w.id = m.workspace_id;
    update phone_numbers p set bucket_full_at = p.bucket_full_at - r.number_refill where p.id = m.phone_number_id;
    update buckets a set full_at = a.full_at - r.pair_refill
    where a.key = 'pair:' || m.phone_number_id || ':' || r.customer;
    -- the customer's place, unless they were written to again since
    if (r.b).counted_before is not null then
      update messaging_ledger l set counted_at = (r.b).counted_before
      where l.phone_number_id = m.phone_number_id and l.customer = r.customer and l.counted_at = (r.b).counted_at;
    elsif (r.b).counted_at is not null then
      delete from messaging_ledger l
      where l.phone_number_id = m.phone_number_id and l.customer = r.customer and l.counted_at = (r.b).counted_at;
      if found then
        update phone_numbers p set customers_counted = p.customers_counted - 1 where p.id = m.phone_number_id;
      end if;
    end if;
    if m.status = 'sending' and (r.b).tried_before is null and m.quota_month is not null then
      perform wac_give_quota_back(array[m.workspace_id], array[m.quota_month]);
    end if;
  end loop;
  return (select json_agg(true) from json_array_elements(commands));
end
$$;

-- lookUp
create function wac_look_up(commands json) returns json
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return (
    select json_agg(wac_told_verdict(b.b, m.m, wac_verdict(b.b, m.m, c.fingerprint, c.now)) order by c.ordinality)
    from rows from (json_to_recordset(commands) as (now bigint, workspace_id text, route text, key text, fingerprint text))
      with ordinality as c (now, workspace_id, route, key, fingerprint, ordinality)
    left join lateral (
      select b from bindings b where b.workspace_id = c.workspace_id and b.route = c.route and b.key = c.key offset 0
    ) b on true
    left join lateral (select m from messages m where m.id = (b.b).message_id offset 0) m on true
  );
end
$$;

-- One step of a sweep, over as many messages as there are identifiers for events. It waits for nobody: what somebody
-- else is at is theirs, or the next sweep's. more tells that there may be more to do.
create function wac_sweep(command json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  at_time constant bigint := command ->> 'now';
  event_ids constant text[] := array(select json_array_elements_text(command -> 'events'));
  delivery_ids constant text[] := array(select json_array_elements_text(command -> 'deliveries'));
  candidates text[];
  r record;
  m messages;
  step integer := 0;
  conclusion json;
  became_unknown integer := 0;
  forgotten integer := 0;
  expired integer;
  filled integer;
  moved messages[] := '{}';
  freed text[] := '{}';
  expiries bigint[] := '{}';
  dropped text[] := '{}';
  failed text[] := '{}';
  errors json[] := '{}';
  told wac_recorded[] := '{}';
  quota_workspaces text[] := '{}';
  quota_months text[] := '{}';
begin
  select array_agg(d.id) into candidates from (
    (
      select b.message_id as id from bindings b where b.lease_until <= at_time
      order by b.lease_until limit cardinality(event_ids)
    )
    union all
    (
      select o.id from messages o where o.status = 'unknown' and o.status_at <= at_time - 600000
      order by o.status_at limit cardinality(event_ids)
    )
    union all
    (
      select o.id from messages o where o.status = 'sending' and o.status_at <= at_time - 86400000
      order by o.status_at limit cardinality(event_ids)
    )
    limit cardinality(event_ids)
  ) d;
  select array_agg(d.id) into candidates from (
    select o.id from messages o where o.id = any (candidates) for update skip locked
  ) d;

  for r in
    select o, b, e.content
    from messages o
    join bindings b on b.message_id = o.id
    join message_contents e on e.message_id = o.id
    where o.id = any (candidates) and b.message_id = any (candidates) and e.message_id = any (candidates)
      and b.expires_at is null
  loop
    m := r.o;
    if (r.b).claim_token is not null then
      continue when (r.b).lease_until > at_time;
      if not wac_is_settled(m) then
        m.status := 'unknown';
        m.status_at := (r.b).lease_until;
        moved := moved || m;
        became_unknown := became_unknown + 1;
      end if;
      freed := freed || m.id;
      expiries := expiries || case when wac_is_settled(m) then at_time + 86400000 end;
      continue;
    end if;
    if m.status = 'unknown' and m.status_at <= at_time - 600000 then
      conclusion := command ->> 'deliveryUnknown';
      m.delivery_unknown := true;
      freed := freed || m.id;
      expiries := expiries || (at_time + 86400000);
    elsif m.status = 'sending' and m.status_at <= at_time - 86400000 then
      conclusion := command ->> 'notSent';
      dropped := dropped || m.id;
      if m.quota_month is not null then
        quota_workspaces := quota_workspaces || m.workspace_id;
        quota_months := quota_months || m.quota_month;
        m.quota_month := null;
      end if;
    else
      continue;
    end if;
    step := step + 1;
    m.status := 'failed';
    m.status_at := at_time;
    m.failed_at := at_time;
    told[step] := wac_event_of(m, conclusion, r.content, 'failed', at_time, event_ids[step], delivery_ids[step], at_time,
      m.sequence + 1);
    m.sequence := m.sequence + 1;
    moved := moved || m;
    failed := failed || m.id;
    errors := errors || conclusion;
  end loop;

  if cardinality(moved) > 0 then
    perform wac_keep_messages(moved);
  end if;
  update bindings b set claim_token = null, lease_until = null, expires_at = u.expiry
  from unnest(freed, expiries) as u (id, expiry)
  where b.message_id = u.id and b.message_id = any (freed);
  delete from bindings b where b.message_id = any (dropped);
  update message_contents e set error = u.error from unnest(failed, errors) as u (id, error)
  where e.message_id = u.id and e.message_id = any (failed);
  delete from bindings b where b.message_id = any (array(
    select o.message_id from bindings o where o.expires_at <= at_time order by o.expires_at limit 1000
    for update skip locked
  ));
  get diagnostics expired = row_count;
  -- a bucket that is full is as good as none; the clocks of processes may differ by a little
  delete from buckets a where a.key = any (array(
    select o.key from buckets o where o.full_at <= at_time - 60000 order by o.full_at limit 1000
    for update skip locked
  ));
  get diagnostics filled = row_count;
  perform wac_give_quota_back(quota_workspaces, quota_months);
  if step > 0 then
    perform wac_record_events(told);
  end if;
  return json_build_object(
    'unknown', became_unknown,
    'failed', step,
    'forgotten', cardinality(dropped) + expired,
    'more', cardinality(freed) + cardinality(dropped) > 0 or expired = 1000 or filled = 1000
  );
end
$$;

-- Contacts

-- Event.ofInbound
create function wac_inbound_data(message_id text, provider_message_id text, customer text, number text, type text,
  content text, at bigint, late boolean) returns json
language sql stable
return (
  '{"message_id":' || to_json(message_id)
    || ',"provider_message_id":' || to_json(provider_message_id)
    || ',"from":' || to_json(customer)
    || ',"to":' || to_json(number)
    || ',"type":' || to_json(type)
    || ',' || to_json(type) || ':' || content
    || ',"received_at":"' || wac_iso(at) || '"'
    || ',"late":' || late || '}'
)::json;

create type wac_inbound as (
  now bigint,
  provider_number_id text,
  provider_message_id text,
  customer text,
  at bigint,
  type text,
  -- as text: there may be in it what PostgreSQL cannot read
  content text,
  preference text,
  late boolean,
  message_id text,
  event text,
  delivery text
);

-- recordInbound
create function wac_record_inbound(commands json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  heard wac_inbound[];
  numbers text[];
  fresh text[];
  told wac_recorded[];
begin
  heard := array(select c from json_populate_recordset(null::wac_inbound, commands) c);
  select array_agg(p.id order by c.ordinality) into numbers
  from unnest(heard) with ordinality c
  left join lateral (select p.id from phone_numbers p where p.provider_number_id = c.provider_number_id offset 0) p on true;

  with recorded as (
    insert into inbound_messages (workspace_id, phone_number_id, provider_message_id, message_id, recorded_at)
    select p.workspace_id, p.id, c.provider_message_id, c.message_id, c.now
    from unnest(heard) with ordinality c join phone_numbers p on p.id = numbers[c.ordinality]
    where p.id = any (numbers)
    order by p.id, c.provider_message_id, c.ordinality
    on conflict do nothing
    returning message_id
  )
  select array_agg(i.message_id) into fresh from recorded i;

  if fresh is not null then
    insert into contacts as n (workspace_id, phone_number_id, customer, last_inbound_at)
    -- ServiceWindow.openedAt
    select p.workspace_id, p.id, c.customer, max(least(c.at, c.now))
    from unnest(heard) with ordinality c join phone_numbers p on p.id = numbers[c.ordinality]
    where p.id = any (numbers) and c.message_id = any (fresh)
    group by p.id, c.customer
    order by p.id, c.customer
    on conflict (phone_number_id, customer) do update set
      last_inbound_at = greatest(n.last_inbound_at, excluded.last_inbound_at);
    update contacts n set opted_out = u.opted_out
    from (
      select numbers[c.ordinality] as number, c.customer,
        (array_agg(c.preference order by c.ordinality desc))[1] = 'opt_out' as opted_out
      from unnest(heard) with ordinality c
      where c.message_id = any (fresh) and c.preference is not null
      group by 1, 2
    ) u
    where n.phone_number_id = u.number and n.customer = u.customer;

    select array_agg(
      (
        c.event, c.delivery, p.workspace_id, 'message.received', c.now, null, null,
        wac_inbound_data(c.message_id, c.provider_message_id, c.customer, p.phone_number, c.type, c.content, c.at, c.late)
      )::wac_recorded
      order by c.ordinality
    ) into told
    from unnest(heard) with ordinality c join phone_numbers p on p.id = numbers[c.ordinality]
    where p.id = any (numbers) and c.message_id = any (fresh);
    perform wac_record_events(told);
  end if;

  return (
    select json_agg(
      case when numbers[c.ordinality] is null then 'unknown_number' when c.message_id = any (fresh) then 'recorded'
        else 'duplicate' end
      order by c.ordinality
    )
    from unnest(heard) with ordinality c
  );
end
$$;
`
