/**
 * Functions of messages, their idempotency keys, contacts and events. Each transition of the ports is one of them, and
 * takes a JSON array of commands to a JSON array of answers in the same order. They mirror pure functions of
 * `@wac/core`, which each names: two tellings of one rule, which the conformance suites and `messages-mirror.test.ts`
 * hold together. Numbers such as a retention are those of core; a change of one is a new migration.
 *
 * **Who waits for whom.** Every function takes its row locks in this order, and those of one table in the order of
 * their keys, so that none ever waits for another in a circle: `workspaces`, `messages`, `message_names`,
 * `phone_numbers` with `buckets` and `quota_usage`, `webhook_health`.
 * - The workspace's row makes its accepts come one after the other. That makes limits, quotas and keys exact. Whoever
 *   has locked it takes its numbers, buckets and quotas in any order: others lock rows of one of these tables alone,
 *   but for the sweep, which takes buckets that nobody holds once it has its quotas.
 * - A message's row holds its key: who changes or forgets a key has locked the message. Accept and the sweep, which
 *   come upon messages in another order, wait for none: what somebody else is at is theirs. Nobody waits for
 *   `message_deadlines`, to which rows are added, and from which the sweep takes what no other sweep is at.
 * Locks of workspaces leave their keys alone (`no key update`), so that foreign keys do not wait for them.
 *
 * Each statement of a function sees what was committed before it began, so whatever a lock guards is read in a
 * statement after the one that waited for it, or comes from the locked row itself.
 *
 * Plans are made for indexes, whatever the tables held when they were made: a table may be empty then. What is looked
 * up for each of many is a subquery that cannot be pulled up (`offset 0`), by all columns of one index.
 *
 * Statements work on all commands at once; to run one costs more than to carry out a command in it. What depends on the
 * commands before it in a batch is worked out in a loop, which does no more than that.
 */
import { announce } from "./0001_tables.ts"

const byIndexes = `set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off`

/**
 * Parts of a \`with\` that write the events of its \`told\`, and a delivery of each that the workspace's webhook wants.
 * They share a place.
 */
const recording = `events as (
    insert into events (id, workspace_id, type, created_at, order_key, sequence, data, position)
    select e.id, e.workspace_id, e.type, e.created_at, e.order_key, e.sequence, e.data, e.position from told e
  ), wanted as materialized (
    select e.*, w.id as webhook_id, w.envelope, w.paused_at
    from told e
    cross join lateral (
      select w.id, w.envelope, w.paused_at from webhooks w
      where w.workspace_id = e.workspace_id and e.type = any (w.event_types) offset 0
    ) w
  ), recorded as (
    insert into deliveries (id, workspace_id, webhook_id, event_id, event_type, envelope, order_key, sequence, status,
      next_attempt_at, created_at, position)
    select e.delivery_id, e.workspace_id, e.webhook_id, e.id, e.type, e.envelope, e.order_key, e.sequence, 'pending',
      case when not e.waits then e.created_at end, e.created_at, e.position
    from wanted e
  )`

/**
 * Tells claimers of deliveries. Not an empty payload: that is what a listener is told who may have missed something.
 */
const wake = "perform pg_notify('wac_deliveries', 'recorded')"

export const sql = `
-- StorageTime: the time that instants are judged at which processes share. Commands bring one of their own (now) in
-- tests only. Who waits for locks reads it behind them.
create function wac_now() returns bigint
language sql volatile
return floor(extract(epoch from clock_timestamp()) * 1000)::bigint;

-- Time.iso, of the years 1 to 9999
create function wac_iso(at bigint) returns text
language sql stable strict
return to_char(timestamp 'epoch' + at * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- Message.ranks; failed is outside of them
create function wac_rank(status text) returns integer
language sql immutable
return case status when 'queued' then 0 when 'sending' then 1 when 'unknown' then 2 when 'sent' then 3
  when 'delivered' then 4 when 'read' then 5 end;

-- Whether somebody who knows has told how the send of a message ended.
create function wac_is_settled(status text, delivery_unknown boolean) returns boolean
language sql immutable
return status not in ('sending', 'unknown') and not delivery_unknown;

-- When silence, or the key's age, means something next; null when they mean nothing any more. Of what may follow a
-- claim its lease ends first, so that who ends it (settle, a report) need not tell message_deadlines.
create function wac_deadline(m messages) returns bigint
language sql immutable
return coalesce((m).expires_at, (m).lease_until, case (m).status
  when 'unknown' then (m).status_at + 600000
  when 'sending' then (m).status_at + 86400000
end);

-- Idempotency.judge: the verdict's tag, or the reason of the verdict Unknown. Without a message all of m is null.
create function wac_verdict(m messages, asked text, at_time bigint) returns text
language sql immutable
return case
  when (m).key is null or (m).expires_at <= at_time then 'Unbound'
  when (m).fingerprint <> asked then 'Conflict'
  when (m).answer is not null then 'Answered'
  when (m).lease_until > at_time then 'Running'
  -- Idempotency.settledByReport
  when (m).provider_message_id is not null and wac_is_settled((m).status, (m).delivery_unknown)
    and (m).status <> 'queued' then 'Answered'
  when (m).delivery_unknown then 'delivery_unknown'
  when (m).claim_token is null and (m).status = 'sending' then 'Released'
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
create function wac_told_verdict(m messages, verdict text) returns json
language sql stable
return case verdict
  when 'Answered' then json_build_object(
    '_tag', verdict, 'answer', coalesce((m).answer, wac_sent(m, (m).provider_message_id))
  )
  when 'Released' then json_build_object('_tag', verdict, 'lastFailure', (m).last_failure)
  when 'outcome_unknown' then json_build_object('_tag', 'Unknown', 'reason', verdict)
  when 'delivery_unknown' then json_build_object('_tag', 'Unknown', 'reason', verdict)
  else json_build_object('_tag', verdict)
end;

-- Message.Message
create function wac_message(m messages) returns json
language sql stable
return json_build_object(
  'id', (m).id,
  'workspaceId', (m).workspace_id,
  'apiKeyId', (m).api_key_id,
  'phoneNumberId', (m).phone_number_id,
  'from', (m).from_number,
  'content', (m).content,
  'status', (m).status,
  'statusAt', (m).status_at,
  'providerMessageId', (m).provider_message_id,
  'createdAt', (m).created_at,
  'sentAt', (m).sent_at,
  'deliveredAt', (m).delivered_at,
  'readAt', (m).read_at,
  'failedAt', (m).failed_at,
  'error', (m).error,
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
  waiting text[] := '{}';
  is_due boolean;
begin
  if exists (select from unnest(recorded) e where e.sequence > 1) then
    -- A predecessor may be ending at this moment. Whoever ends one holds the webhook's health: we wait for them, and
    -- see that it has ended, or they wait for us, and see its follower.
    select array_agg(distinct d.webhook_id) into busy
    from unnest(recorded) e
    cross join lateral (
      select w.id, w.skipped_until from webhooks w where w.workspace_id = e.workspace_id offset 0
    ) w
    cross join lateral (
      select d.webhook_id from deliveries d
      where d.order_key = e.order_key and d.webhook_id = w.id and d.status = 'pending'
        -- what is skipped is not waited for
        and d.position > w.skipped_until
      order by d.sequence limit 1
    ) d
    where e.sequence > 1;
    if busy is not null then
      perform from webhook_health h where h.webhook_id = any (busy) order by h.webhook_id for share;
    end if;
    waiting := array(
      select e.id
      from unnest(recorded) e
      cross join lateral (
        select w.id, w.event_types, w.skipped_until from webhooks w where w.workspace_id = e.workspace_id offset 0
      ) w
      where e.sequence > 1 and (
        exists (
          select from unnest(recorded) o
          where o.order_key = e.order_key and o.sequence < e.sequence and o.type = any (w.event_types)
        )
        -- not exists, which drops the order, and with it what leads to the index of order keys
        or (
          select d.id from deliveries d
          where d.order_key = e.order_key and d.webhook_id = w.id and d.status = 'pending'
            and d.position > w.skipped_until
          order by d.sequence limit 1
        ) is not null
      )
    );
  end if;

  with announced as materialized (
    ${announce}
  ), told as materialized (
    select e.*, e.id = any (waiting) as waits, nextval('positions') as position from announced, unnest(recorded) e
  ), ${recording}
  select bool_or(e.paused_at is null) into is_due from wanted e;
  -- Of what is held nobody need hear: the resume tells. What is recorded while it does is found by the next look.
  if is_due then
    ${wake};
  end if;
end
$$;

-- Event.ofTransition: the data of an event. Written as text, since fields come and go.
create function wac_transition(
  message_id text, provider_message_id text, content json, step text, at bigint, error json, sequence integer
) returns json
language sql stable
return (
  '{"message_id":' || to_json(message_id)
    || ',"provider_message_id":' || coalesce(to_json(provider_message_id)::text, 'null')
    || ',"to":' || (content -> 'to')
    || ',"status":"' || step || '","' || step || '_at":"' || wac_iso(at) || '"'
    || case when step = 'failed' then ',"error":' || coalesce(error::text, '{}') else '' end
    || coalesce(',"client_reference":' || (content -> 'clientReference')::text, '')
    || ',"sequence":' || sequence || '}'
)::json;

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

-- PhoneNumber.PhoneNumber
create function wac_phone_number(p phone_numbers) returns json
language sql stable
return json_build_object(
  'id', (p).id,
  'workspaceId', (p).workspace_id,
  'provider', (p).provider,
  'phoneNumber', (p).phone_number,
  'providerNumberId', (p).provider_number_id,
  'providerAccountId', (p).provider_account_id,
  'tier', (p).tier,
  'messagingLimit', (p).messaging_limit,
  'available', (p).available,
  'block', case when (p).block_reason is not null then json_build_object(
    'reason', (p).block_reason,
    'scope', (p).block_scope,
    'since', (p).blocked_since,
    'until', (p).blocked_until,
    'provider', (p).block_provider
  ) end,
  'learned', json_build_object(
    'tier', (p).learned_tier,
    'messagingLimit', (p).learned_messaging_limit,
    'quality', (p).learned_quality
  ),
  'credentialsVersion', (p).credentials_version,
  'isDefault', (p).is_default
);

-- PhoneNumber.tierOf
create function wac_tier(p phone_numbers) returns text
language sql immutable
return coalesce((p).tier, (p).learned_tier);

-- Template.Template
create function wac_template(t templates) returns json
language sql stable
return json_build_object(
  'id', (t).id,
  'workspaceId', (t).workspace_id,
  'providerAccountId', (t).provider_account_id,
  'providerTemplateId', (t).provider_template_id,
  'name', (t).name,
  'language', (t).language,
  'category', (t).category,
  'status', (t).status,
  'parameterFormat', (t).parameter_format,
  'components', (t).components,
  'variables', (t).variables,
  'unfillable', (t).unfillable,
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
  'key', (c).key,
  'customer', json_build_object('phone', (c).phone, 'userId', (c).user_id),
  'lastInboundAt', (c).last_inbound_at,
  'optedOut', (c).opted_out,
  'preferenceAt', (c).preference_at
);

-- What becomes of messages

-- What is told of a message: a report of upstream (Message.Report), or how its owner's send ended (SendEnd).
create type wac_step as (
  now bigint,
  message_id text,
  -- of an end: whose message, which claim, and the end by its tag
  workspace_id text,
  claim_token text,
  "end" text,
  -- of a report; texts that only upstream has seen come as text, and are not looked into: there may be in them what
  -- PostgreSQL cannot read
  provider_number_id text,
  reference text,
  status text,
  at bigint,
  provider_message_id text,
  error text,
  -- whether the error is Message.deliveryUnknown, by its reason
  concludes boolean,
  -- to be stored, as text for the same reason
  answer text,
  events text[],
  deliveries text[]
);

-- Message.apply with Event.ofTransitions, and what an end means for the claim. Of several steps of one message (or of
-- one claim) only the first is taken. Answers with the places of those that were, and the events, which are to be
-- recorded.
create function wac_move(steps wac_step[], out places bigint[], out told wac_recorded[])
language plpgsql
${byIndexes}
as $$
declare
  quota_workspaces text[];
  quota_months text[];
begin
  with held as materialized (
    -- ranks: sent is 3, delivered 4, read 5
    select s.*, m.workspace_id as owner, m.quota_month as spent_month, m.delivery_unknown as was_unknown, x.was_settled,
      x.reached, x.target, x.fails, x.moves,
      -- not before the step before it
      greatest(s.at, m.created_at, case when s.status <> 'sent' then m.sent_at end,
        case when s.status = 'read' then m.delivered_at end) as told_at,
      -- with a live claim the answer is its owner's to give; a key that has expired does not come back
      s."end" is null and not x.was_settled and (x.moves or x.fails and not s.concludes) and m.key is not null
        and coalesce(m.lease_until <= s.now, true) and coalesce(m.expires_at > s.now, true) as ends_claim,
      m.provider_message_id is distinct from s.provider_message_id and s.provider_message_id is not null as is_named
    from (
      select distinct on (s.message_id, s.claim_token) s.* from unnest(steps) with ordinality s
      order by s.message_id, s.claim_token, s.ordinality
    ) s
    cross join lateral (
      select m.* from messages m
      where m.id = s.message_id
        and (s."end" is null or m.claim_token = s.claim_token and m.workspace_id = s.workspace_id)
      for update
    ) m
    cross join lateral (
      select k.*, wac_is_settled(m.status, m.delivery_unknown) as was_settled,
        coalesce(s.status = 'failed' and (m.delivery_unknown or k.reached < 4), false) as fails,
        coalesce(s.status <> 'failed' and k.target > k.reached, false) as moves
      from (
        select case when m.delivery_unknown then 2 else wac_rank(m.status) end as reached, wac_rank(s.status) as target
        offset 0
      ) k
      offset 0
    ) x
  ), moved as (
    update messages m set
      status = case
        when h.fails or h.moves then h.status
        when h."end" = 'Unknown' and m.status = 'sending' then 'unknown'
        else m.status
      end,
      status_at = case
        when h.fails or h.moves or h."end" in ('NotSent', 'Unknown') and m.status = 'sending' then h.now
        else m.status_at
      end,
      provider_message_id = coalesce(m.provider_message_id, h.provider_message_id),
      sent_at = case
        when h.moves and h.reached < 3 or not h.moves and h.status = 'sent' then coalesce(m.sent_at, h.told_at)
        else m.sent_at
      end,
      delivered_at = case
        when h.moves and h.reached < 4 and h.target > 3 or not h.moves and h.status = 'delivered'
          then coalesce(m.delivered_at, h.told_at)
        else m.delivered_at
      end,
      read_at = case when h.status = 'read' then coalesce(m.read_at, h.told_at) else m.read_at end,
      failed_at = case when h.fails then h.told_at when h.moves then null else m.failed_at end,
      error = case when h.fails then h.error::json when h.moves then null else m.error end,
      delivery_unknown = case when h.fails then h.concludes else m.delivery_unknown and not h.moves end,
      sequence = m.sequence + case
        -- its workspace was told already that it failed; only the reason is known better now
        when h.fails then (not h.was_unknown)::integer
        when h.moves then h.target - greatest(h.reached, 2)
        else 0
      end,
      quota_month = case when h."end" = 'Refused' then null else m.quota_month end,
      claim_token = case when h."end" is null and not h.ends_claim then m.claim_token end,
      lease_until = case when h."end" is null and not h.ends_claim then m.lease_until end,
      answer = case
        when h."end" = 'Refused' then h.answer::json
        -- the name that its owner is told now, even if a report was first with another
        when h."end" = 'Accepted' and h.is_named and m.provider_message_id is not null
          then wac_sent(m, h.provider_message_id)
        else m.answer
      end,
      last_failure = case when h."end" = 'NotSent' then h.answer::json else m.last_failure end,
      expires_at = case
        when h.ends_claim or h."end" in ('Accepted', 'Refused') or h."end" is not null and h.was_settled
          then h.now + 86400000
        when h."end" is null then m.expires_at
      end
    from held h
    where m.id = h.message_id
    returning m.id, m.workspace_id, m.provider_message_id, m.content, m.error, m.sent_at, m.delivered_at, m.read_at,
      m.sequence, h.now, h.told_at, h.events, h.deliveries,
      case
        when h.fails and not h.was_unknown then '{failed}'::text[]
        when h.moves then ('{sent,delivered,read}'::text[])[greatest(h.reached, 2) - 1 : h.target - 2]
      end as told
  ), named as (
    -- the first to bear a name keeps it
    insert into message_names (provider_message_id, message_id)
    select h.provider_message_id, h.message_id from held h where h.is_named order by h.provider_message_id, h.ordinality
    on conflict do nothing
  )
  select
    (select array_agg(h.ordinality) from held h),
    (select array_agg(h.owner) from held h where h."end" = 'Refused' and h.spent_month is not null),
    (select array_agg(h.spent_month) from held h where h."end" = 'Refused' and h.spent_month is not null),
    array_agg(
      (
        m.events[t.place], m.deliveries[t.place], m.workspace_id, 'message.' || t.step, m.now, m.id,
        m.sequence - cardinality(m.told) + t.place,
        wac_transition(m.id, m.provider_message_id, m.content, t.step, t.at, m.error,
          (m.sequence - cardinality(m.told) + t.place)::integer)
      )::wac_recorded
    )
  into places, quota_workspaces, quota_months, told
  from moved m
  cross join lateral (
    select t.step, t.place, case t.step
      when 'sent' then m.sent_at when 'delivered' then m.delivered_at when 'read' then m.read_at else m.told_at
    end as at
    from unnest(m.told) with ordinality as t (step, place) offset 0
  ) t;

  if quota_months is not null then
    perform wac_give_quota_back(quota_workspaces, quota_months);
  end if;
end
$$;

-- settle

-- The common end: upstream took the send, and nobody has told of its message before. Message.apply has one outcome
-- then, so this is one statement, at half of what wac_move costs. False for all others, which it leaves to
-- wac_settle_any.
create function wac_settle(commands json) returns json
language plpgsql
${byIndexes}
as $$
declare
  at_time constant bigint := wac_now();
  answers boolean[] := array_fill(false, array[json_array_length(commands)]);
  places bigint[];
  place bigint;
  is_due boolean;
begin
  with settled as (
    update messages m set status = 'sent', status_at = s.now, provider_message_id = s.provider_message_id,
      sent_at = greatest(s.now, m.created_at), sequence = 1, claim_token = null, lease_until = null,
      expires_at = s.now + 86400000
    from (
      select coalesce(s.now, at_time) as now, s.workspace_id, s.message_id, s.claim_token, s.provider_message_id,
        s.event, s.delivery, s.place
      from rows from (json_to_recordset(commands)
        as (now bigint, workspace_id text, message_id text, claim_token text, provider_message_id text, event text,
          delivery text))
        with ordinality as s (now, workspace_id, message_id, claim_token, provider_message_id, event, delivery, place)
      order by s.message_id, s.place
      offset 0
    ) s
    where m.id = s.message_id
      -- not in the planner's terms: it would expect none, and read them all to see
      and case when m.status = 'sending' and m.provider_message_id is null and m.sequence = 0
        then m.claim_token = s.claim_token and m.workspace_id = s.workspace_id end
    returning m.id, m.workspace_id, m.provider_message_id, m.content, m.sent_at, m.status_at, s.place, s.event,
      s.delivery
  ), named as (
    -- the first to bear a name keeps it
    insert into message_names (provider_message_id, message_id)
    select m.provider_message_id, m.id from settled m order by m.provider_message_id, m.place
    on conflict do nothing
  ), announced as materialized (
    ${announce}
  ), told as materialized (
    select m.event as id, m.delivery as delivery_id, m.workspace_id, 'message.sent' as type, m.status_at as created_at,
      m.id as order_key, 1::smallint as sequence,
      wac_transition(m.id, m.provider_message_id, m.content, 'sent', m.sent_at, null, 1) as data,
      false as waits, nextval('positions') as position
    from announced, settled m
  ), ${recording}
  select (select array_agg(m.place) from settled m), (select bool_or(e.paused_at is null) from wanted e)
  into places, is_due;

  if is_due then
    ${wake};
  end if;
  foreach place in array coalesce(places, '{}') loop
    answers[place] := true;
  end loop;
  return array_to_json(answers);
end
$$;

create function wac_settle_any(commands json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  -- an end is of the time at which it is told, but for a refusal that says otherwise
  told_now constant wac_step := json_populate_record(
    null::wac_step, json_build_object('now', wac_now(), 'at', wac_now())
  );
  steps constant wac_step[] := array(select c from json_populate_recordset(told_now, commands) c);
  moved record;
begin
  select m.places, m.told into moved from wac_move(steps) m;
  if moved.told is not null then
    perform wac_record_events(moved.told);
  end if;
  return (
    select json_agg(coalesce(p.place = any (moved.places), false) order by p.place)
    from generate_series(1, cardinality(steps)) as p (place)
  );
end
$$;

create function wac_apply_reports(commands json) returns json
language plpgsql
${byIndexes}
as $$
declare
  at_time constant bigint := wac_now();
  targets text[];
  steps wac_step[];
  moved record;
  told wac_recorded[];
begin
  -- by our reference, then by the provider's name; of the number that is spoken of
  select array_agg(x.id order by c.ordinality), array_agg(
    (coalesce(c.now, at_time), x.id, null, null, null, null, null, c.status, c.at, c.provider_message_id, c.error, c.concludes, null,
      c.events, c.deliveries)::wac_step order by c.ordinality
  ) filter (where x.id is not null)
  into targets, steps
  from json_populate_recordset(null::wac_step, commands) with ordinality c
  left join lateral (
    select p.id from phone_numbers p where p.provider_number_id = c.provider_number_id offset 0
  ) p on true
  left join lateral (
    select t.id from messages t
    where t.id = c.reference and (c.provider_number_id is null or t.phone_number_id = p.id) offset 0
  ) a on true
  left join lateral (
    select t.id from message_names n join messages t on t.id = n.message_id
    where a.id is null and n.provider_message_id = c.provider_message_id
      and (c.provider_number_id is null or t.phone_number_id = p.id) offset 0
  ) b on true
  cross join lateral (select coalesce(a.id, b.id) as id offset 0) x;

  while cardinality(steps) > 0 loop
    select m.places, m.told into moved from wac_move(steps) m;
    exit when moved.places is null;
    told := told || moved.told;
    -- a message's next report sees what the one before it has changed
    steps := array(
      select steps[i] from generate_subscripts(steps, 1) as i where i <> all (moved.places)
    );
  end loop;
  -- once, since it locks webhooks' health, of all of them in order
  if told is not null then
    perform wac_record_events(told);
  end if;
  return (
    select json_agg(t.id is not null order by t.ordinality) from unnest(targets) with ordinality t (id, ordinality)
  );
end
$$;

-- abandon: rare, so step by step

create function wac_abandon(commands json) returns json
language plpgsql
${byIndexes}
as $$
declare
  r record;
  m messages;
  pair text;
begin
  perform from workspaces w
  where w.id = any (array(select c.workspace_id from json_to_recordset(commands) as c (workspace_id text)))
  order by w.id
  for no key update;
  perform from messages t
  where t.id = any (array(
    select k.id from json_to_recordset(commands) as c (workspace_id text, route text, key text)
    cross join lateral (
      select t.id from messages t where t.workspace_id = c.workspace_id and t.route = c.route and t.key = c.key offset 0
    ) k
  ))
  order by t.id
  for update;

  -- in the order of quotas, which are locked at the end
  for r in
    select coalesce(c.now, wac_now()) as now, t.t, c.customer,
      (coalesce(c.limits -> 'workspaceTiers' -> w.tier, c.limits -> 'workspace') -> 0)::double precision
        as workspace_refill,
      (coalesce(c.limits -> 'numberTiers' -> wac_tier(p.p), c.limits -> 'number') -> 0)::double precision
        as number_refill,
      (c.limits -> 'pair' -> 0)::double precision as pair_refill
    from json_to_recordset(commands)
      as c (now bigint, workspace_id text, route text, key text, customer text, claim_token text, limits jsonb)
    cross join lateral (
      select t from messages t
      where t.workspace_id = c.workspace_id and t.route = c.route and t.key = c.key and t.claim_token = c.claim_token
      offset 0
    ) t
    cross join lateral (select w.tier from workspaces w where w.id = c.workspace_id offset 0) w
    -- a number that was removed since has nothing to be given back to
    left join lateral (select p from phone_numbers p where p.id = (t.t).phone_number_id offset 0) p on true
    order by c.workspace_id, (t.t).quota_month, (t.t).id
  loop
    m := r.t;
    if m.status = 'sending' and m.tried_before is null then
      delete from messages t where t.id = m.id and t.claim_token = m.claim_token;
    else
      update messages t set claim_token = null, lease_until = null,
        status_at = case when m.status = 'sending' then m.tried_before else m.status_at end,
        expires_at = case when wac_is_settled(m.status, m.delivery_unknown) then r.now + 86400000 end
      where t.id = m.id and t.claim_token = m.claim_token;
    end if;
    -- the same command again
    continue when not found;
    insert into message_deadlines (workspace_id, due_at, message_ids)
    select t.workspace_id, wac_deadline(t), array[t.id] from messages t where t.id = m.id;

    -- RateLimit.giveBack
    update workspaces w set bucket_full_at = w.bucket_full_at - r.workspace_refill where w.id = m.workspace_id;
    update phone_numbers p set bucket_full_at = p.bucket_full_at - r.number_refill where p.id = m.phone_number_id;
    pair := 'pair:' || m.phone_number_id || ':' || r.customer;
    update buckets b set full_at = b.full_at - r.pair_refill where b.key = pair;
    -- the customer's place, unless they were written to again since
    update buckets b set counted_at = m.counted_before where b.key = pair and b.counted_at = m.counted_at;
    if found and m.counted_before is null then
      update phone_numbers p set customers_counted = p.customers_counted - 1 where p.id = m.phone_number_id;
    end if;
    if m.status = 'sending' and m.tried_before is null and m.quota_month is not null then
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
declare
  at_time constant bigint := wac_now();
begin
  return (
    select json_agg(wac_told_verdict(m.m, wac_verdict(m.m, c.fingerprint, coalesce(c.now, at_time))) order by c.ordinality)
    from rows from (json_to_recordset(commands)
      as (now bigint, workspace_id text, route text, key text, fingerprint text))
      with ordinality as c (now, workspace_id, route, key, fingerprint, ordinality)
    left join lateral (
      select m from messages m where m.workspace_id = c.workspace_id and m.route = c.route and m.key = c.key offset 0
    ) m on true
  );
end
$$;

-- One step of a sweep: looks at messages that may have something due, and draws as many conclusions that are told as
-- there are identifiers for events. It waits for nobody: what somebody else is at is theirs, or the next sweep's. more
-- tells that there may be more to do.
create function wac_sweep(command json) returns json
language plpgsql
${byIndexes}
as $$
declare
  at_time constant bigint := coalesce((command ->> 'now')::bigint, wac_now());
  event_ids constant text[] := array(select json_array_elements_text(command -> 'events'));
  delivery_ids constant text[] := array(select json_array_elements_text(command -> 'deliveries'));
  r record;
  filled integer;
  remembered integer;
begin
  with taken as (
    delete from message_deadlines a
    using (
      select o.due_at, o.workspace_id, o.id from message_deadlines o where o.due_at <= at_time
      order by o.due_at, o.workspace_id, o.id limit 16
      for update skip locked
    ) o
    where a.due_at = o.due_at and a.workspace_id = o.workspace_id and a.id = o.id
    returning a.*
  ), looked_at as materialized (
    select t.id as entry, t.workspace_id as owner, t.due_at, x.message_id, m.deadline, m.is_told
    from taken t
    cross join lateral unnest(t.message_ids) as x (message_id)
    cross join lateral (
      select wac_deadline(m) as deadline, m.expires_at is null and m.lease_until is null as is_told
      from messages m where m.id = x.message_id offset 0
    ) m
    where m.deadline is not null
    -- read without a lock: whatever gives one of them an earlier deadline adds a row of its own
  ), due as materialized (
    select l.entry, l.owner, l.due_at, l.message_id, l.place, d.*,
      wac_is_settled(d.status, d.delivery_unknown) as was_settled,
      -- what its deadline says (wac_deadline)
      case when d.expires_at is not null then 'forget' when d.lease_until is not null then 'release'
        when d.status = 'unknown' then 'conclude' else 'drop' end as step
    from (
      select l.*, count(*) filter (where l.is_told) over (rows unbounded preceding) as place
      from looked_at l where l.deadline <= at_time
      -- all of them, which the planner takes for few: else it may read every message to see which are due
      limit (select sum(cardinality(t.message_ids)) from taken t)
    ) l
    left join lateral (
      select m.* from messages m
      where m.id = l.message_id and wac_deadline(m) <= at_time
        and (m.expires_at is null and m.lease_until is null) = l.is_told
        and (not l.is_told or l.place <= cardinality(event_ids))
      for update skip locked
    ) d on true
  ), swept as (
    update messages m set
      status = case
        when d.step in ('conclude', 'drop') then 'failed'
        when d.step = 'release' and not d.was_settled then 'unknown'
        else m.status
      end,
      status_at = case
        when d.step in ('conclude', 'drop') then at_time
        when d.step = 'release' and not d.was_settled then m.lease_until
        else m.status_at
      end,
      failed_at = case when d.step in ('conclude', 'drop') then at_time else m.failed_at end,
      error = case d.step
        when 'conclude' then command -> 'deliveryUnknown'
        when 'drop' then command -> 'notSent'
        else m.error
      end,
      delivery_unknown = m.delivery_unknown or d.step = 'conclude',
      sequence = m.sequence + (d.step in ('conclude', 'drop'))::integer,
      quota_month = case when d.step <> 'drop' then m.quota_month end,
      claim_token = null,
      lease_until = null,
      expires_at = case when d.step = 'conclude' or d.step = 'release' and d.was_settled then at_time + 86400000 end,
      route = case when d.step not in ('forget', 'drop') then m.route end,
      key = case when d.step not in ('forget', 'drop') then m.key end,
      fingerprint = case when d.step not in ('forget', 'drop') then m.fingerprint end,
      answer = case when d.step not in ('forget', 'drop') then m.answer end,
      last_failure = case when d.step not in ('forget', 'drop') then m.last_failure end
    from due d
    where m.id = d.id
    returning m.id, m.workspace_id, m.provider_message_id, m.content, m.error, m.sequence, d.place, d.step,
      d.was_settled, d.quota_month as spent_month, d.entry, wac_deadline(m) as deadline
  ), looked_at_again as (
    insert into message_deadlines (workspace_id, due_at, message_ids)
    select a.workspace_id, min(a.due_at), array_agg(a.message_id)
    from (
      select l.entry, l.owner as workspace_id, l.deadline as due_at, l.message_id
      from looked_at l where l.deadline > at_time
      union all
      select s.entry, s.workspace_id, s.deadline, s.id from swept s where s.deadline is not null
      union all
      select d.entry, d.owner, d.due_at, d.message_id from due d where d.id is null
    ) a
    -- those that are due at about the same time together
    group by a.entry, a.workspace_id, a.due_at / 1000
  )
  select
    count(*) filter (where s.step = 'release' and not s.was_settled) as unknown,
    count(*) filter (where s.step in ('conclude', 'drop')) as failed,
    count(*) filter (where s.step in ('forget', 'drop')) as forgotten,
    (select coalesce(sum(cardinality(t.message_ids)), 0) from taken t) > (select count(*) from due d where d.id is null)
      as has_progressed,
    array_agg(s.workspace_id) filter (where s.step = 'drop' and s.spent_month is not null) as quota_workspaces,
    array_agg(s.spent_month) filter (where s.step = 'drop' and s.spent_month is not null) as quota_months,
    array_agg(
      (
        event_ids[s.place], delivery_ids[s.place], s.workspace_id, 'message.failed', at_time, s.id, s.sequence,
        wac_transition(s.id, s.provider_message_id, s.content, 'failed', at_time, s.error, s.sequence)
      )::wac_recorded
    ) filter (where s.step in ('conclude', 'drop')) as told
  into r
  from swept s;

  if r.quota_months is not null then
    perform wac_give_quota_back(r.quota_workspaces, r.quota_months);
  end if;
  -- a bucket that is full is as good as none; the clocks of processes may differ by a little
  delete from buckets a where a.key = any (array(
    select o.key from buckets o where o.full_at <= at_time - 60000 and o.counted_at is null
    order by o.full_at limit 1000
    for update skip locked
  ));
  get diagnostics filled = row_count;
  -- customers' messages that are too old to be told again (InboundMessage.rememberedUntil)
  delete from inbound_messages i
  using (
    select o.phone_number_id, o.provider_message_id from inbound_messages o where o.expires_at <= at_time
    order by o.expires_at limit 1000
    for update skip locked
  ) o
  where i.phone_number_id = o.phone_number_id and i.provider_message_id = o.provider_message_id;
  get diagnostics remembered = row_count;
  if r.told is not null then
    perform wac_record_events(r.told);
  end if;
  return json_build_object('unknown', r.unknown, 'failed', r.failed, 'forgotten', r.forgotten,
    'more', r.has_progressed or filled = 1000 or remembered = 1000);
end
$$;
`
