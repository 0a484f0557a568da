/**
 * Functions of the stores that change several rows after having looked: each is one statement of its caller, and locks
 * before it looks, so that it sees what was committed before it got its turn.
 */
export const sql = `
-- Sees to it that every provider that a workspace has numbers with has a default one. The caller holds the workspace's
-- lock.
create function wac_keep_default_numbers(workspace text) returns void
language sql
begin atomic
  update phone_numbers set is_default = true where id = any (array(
    select min(p.id collate "C") from phone_numbers p
    where p.workspace_id = workspace group by p.provider having not bool_or(p.is_default)
  ));
end;

-- Adds a number to a workspace; false when it is known.
create function wac_add_phone_number(number json) returns boolean
language plpgsql as $$
declare
  n record;
begin
  select * into n from json_to_record(number)
    as p (id text, "workspaceId" text, provider text, "phoneNumber" text, "providerNumberId" text, "providerAccountId" text, tier text,
      "messagingLimit" integer, available boolean, learned json, "isDefault" boolean);
  -- a workspace has one default number of each provider, so one comes after the other
  perform from workspaces w where w.id = n."workspaceId" for no key update;
  insert into phone_numbers (id, workspace_id, provider, phone_number, provider_number_id, provider_account_id, tier,
    messaging_limit, available, learned_tier, learned_messaging_limit, learned_quality)
  values (n.id, n."workspaceId", n.provider, n."phoneNumber", n."providerNumberId", n."providerAccountId", n.tier,
    n."messagingLimit", n.available, n.learned ->> 'tier', (n.learned ->> 'messagingLimit')::integer,
    n.learned ->> 'quality')
  on conflict do nothing;
  if not found then
    return false;
  end if;
  if n."isDefault" then
    update phone_numbers set is_default = false
    where workspace_id = n."workspaceId" and provider = n.provider and is_default;
    update phone_numbers set is_default = true where id = n.id;
  end if;
  perform wac_keep_default_numbers(n."workspaceId");
  return true;
end
$$;

-- PhoneNumberStore.remove. Whoever records a contact or a customer's message of it waits for its row, and fails then.
create function wac_remove_phone_number(number text) returns boolean
language plpgsql as $$
declare
  gone phone_numbers;
begin
  perform from workspaces w
  where w.id = (select p.workspace_id from phone_numbers p where p.id = number)
  for no key update;
  select p.* into gone from phone_numbers p where p.id = number for update;
  if not found then
    return false;
  end if;
  delete from contacts c where c.phone_number_id = number;
  delete from inbound_messages i where i.phone_number_id = number;
  -- those that count no customer go by themselves once they are full
  delete from buckets b where b.phone_number_id = number and b.counted_at is not null;
  delete from phone_numbers p where p.id = number;
  delete from templates t
  where t.workspace_id = gone.workspace_id and t.provider_account_id = gone.provider_account_id and not exists (
    select from phone_numbers p
    where p.workspace_id = gone.workspace_id and p.provider_account_id = gone.provider_account_id
  );
  perform wac_keep_default_numbers(gone.workspace_id);
  return true;
end
$$;

-- PhoneNumberStore.assign
create function wac_assign_phone_number(number text, to_provider text, account text) returns void
language plpgsql as $$
declare
  workspace text;
begin
  select p.workspace_id into workspace from phone_numbers p where p.id = number;
  perform from workspaces w where w.id = workspace for no key update;
  update phone_numbers p set provider = to_provider, provider_account_id = account,
    is_default = p.is_default and not exists (
      select from phone_numbers o
      where o.workspace_id = workspace and o.provider = to_provider and o.is_default and o.id <> p.id
    )
  where p.id = number;
  perform wac_keep_default_numbers(workspace);
end
$$;

-- Gives a member another password and ends their sessions; how many, or null when there is no such member. The second
-- statement sees what a sign-in with the old password has committed while the first waited for the member's row.
create function wac_set_password(member text, hash text) returns integer
language plpgsql as $$
declare
  ended integer;
begin
  update members m set password_hash = hash where m.user_id = member;
  if not found then
    return null;
  end if;
  delete from sessions s where s.user_id = member;
  get diagnostics ended = row_count;
  return ended;
end
$$;

-- PhoneNumber.observe, for each of the numbers; how many they are
create function wac_observe_phone_numbers(ids text[], at_time bigint, change json) returns integer
language plpgsql as $$
declare
  block constant json := change -> 'block';
  -- PhoneNumber.blockMayBeLaterBy
  block_at constant bigint := at_time + case when json_typeof(block) = 'object' then 999 else 0 end;
begin
  -- who locks several numbers locks their workspaces first (0002)
  perform from workspaces w
  where w.id = any (array(select p.workspace_id from phone_numbers p where p.id = any (ids)))
  order by w.id
  for no key update;
  if block is not null then
    update phone_numbers p set
      block_reason = block ->> 'reason',
      block_scope = block ->> 'scope',
      -- SenderBlock.renewed
      blocked_since = least(
        (block ->> 'since')::bigint,
        case when p.block_reason = block ->> 'reason' then p.blocked_since end
      ),
      blocked_until = (block ->> 'until')::bigint,
      block_provider = (block ->> 'provider')::json,
      block_told_at = greatest(p.block_told_at, at_time)
    where p.id = any (ids) and coalesce(p.block_told_at <= block_at, true);
  elsif change -> 'lifts' is not null then
    update phone_numbers p set block_reason = null, block_scope = null, blocked_since = null, blocked_until = null,
      block_provider = null, block_told_at = at_time
    where p.id = any (ids) and coalesce(p.block_told_at <= at_time, true)
      and coalesce(p.block_reason = change ->> 'lifts', true);
  end if;
  if change -> 'tier' is not null then
    update phone_numbers p set learned_tier = change ->> 'tier', tier_told_at = at_time
    where p.id = any (ids) and coalesce(p.tier_told_at <= at_time, true);
  end if;
  if change -> 'messagingLimit' is not null then
    update phone_numbers p set learned_messaging_limit = (change ->> 'messagingLimit')::integer,
      messaging_limit_told_at = at_time
    where p.id = any (ids) and coalesce(p.messaging_limit_told_at <= at_time, true);
  end if;
  if change -> 'quality' is not null then
    update phone_numbers p set learned_quality = change ->> 'quality', quality_told_at = at_time
    where p.id = any (ids) and coalesce(p.quality_told_at <= at_time, true);
  end if;
  return cardinality(ids);
end
$$;

-- PhoneNumberStore.setCredentials
create function wac_set_credentials(number text, at_time bigint, credentials json) returns boolean
language plpgsql as $$
declare
  -- null, or of JSON's null, takes them away
  of_version constant text := credentials ->> 'version';
begin
  -- first, since it locks the workspace
  perform wac_observe_phone_numbers(array[number], at_time, '{"block":null}') from phone_numbers p
  where p.id = number and p.block_reason = 'credentials';
  update phone_numbers p set credentials_version = of_version where p.id = number;
  if not found then
    return false;
  end if;
  delete from phone_number_credentials c where c.phone_number_id = number;
  if of_version is not null then
    insert into phone_number_credentials (phone_number_id, key_id, nonce, ciphertext, base_url, api_version)
    values (number, credentials ->> 'keyId', decode(credentials ->> 'nonce', 'hex'),
      decode(credentials ->> 'ciphertext', 'hex'), credentials ->> 'baseUrl', credentials ->> 'apiVersion');
  end if;
  return true;
end
$$;

create function wac_create_workspace(command json) returns void
language plpgsql as $$
begin
  insert into workspaces (id, name, created_at, tier, monthly_quota, suspended)
  select w.id, w.name, w."createdAt", w.tier, w."monthlyQuota", w.suspended
  from json_to_record(command -> 'workspace')
    as w (id text, name text, "createdAt" bigint, tier text, "monthlyQuota" integer, suspended boolean);
  if not wac_add_phone_number(command -> 'phoneNumber') then
    raise unique_violation using message = 'the phone number belongs to a workspace already';
  end if;
end
$$;

create function wac_create_first_workspace(command json) returns boolean
language plpgsql as $$
begin
  if exists (select from workspaces) then
    return false;
  end if;
  -- racers wait here, and then see the winner's
  lock table workspaces in share row exclusive mode;
  if exists (select from workspaces) then
    return false;
  end if;
  perform wac_create_workspace(command);
  insert into members (user_id, workspace_id, email, password_hash, role, created_at)
  select m."userId", m."workspaceId", m.email, m."passwordHash", m.role, m."createdAt"
  from json_to_record(command -> 'owner')
    as m ("userId" text, "workspaceId" text, email text, "passwordHash" text, role text, "createdAt" bigint);
  return true;
end
$$;

-- Whether a field of a template was told after the listing had begun (Template.timeUnit).
create function wac_told_after(told jsonb, field text, listed_at bigint) returns boolean
language sql immutable
return coalesce((told ->> field)::bigint + 1000 > listed_at, false);

create function wac_replace_templates(workspace text, account text, listed_at bigint, listed json) returns void
language plpgsql as $$
declare
  accounts text[];
begin
  -- one sync of a workspace at a time; the row itself stays free for sends
  perform pg_advisory_xact_lock(hashtextextended('templates ' || workspace, 0));
  accounts := array(select p.provider_account_id from phone_numbers p where p.workspace_id = workspace);
  if account <> all (accounts) or exists (
    select from templates t
    where t.workspace_id = workspace and t.provider_account_id = account and t.synced_at > listed_at
  ) then
    return;
  end if;
  delete from templates t
  where t.workspace_id = workspace and case
    when t.provider_account_id <> account then t.provider_account_id <> all (accounts)
    else not exists (
      select from json_to_recordset(listed) as l (name text, language text)
      where l.name = t.name and l.language = t.language
    )
  end;
  insert into templates as t (id, workspace_id, provider_account_id, name, language, category, status, parameter_format,
    components, variables, unfillable, quality, rejection_reason, provider_template_id, synced_at)
  select l.id, workspace, account, l.name, l.language, l.category, l.status, l."parameterFormat", l.components,
    l.variables, l.unfillable, l.quality, l."rejectionReason", l."providerTemplateId", listed_at
  from json_to_recordset(listed) as l (id text, name text, language text, category text, status text,
    "parameterFormat" text, components json, variables text[], unfillable text, quality text, "rejectionReason" text,
    "providerTemplateId" text)
  on conflict (workspace_id, provider_account_id, name, language) do update set
    -- Template.relist
    category = case when wac_told_after(t.told, 'category', listed_at) then t.category else excluded.category end,
    status = case when wac_told_after(t.told, 'status', listed_at) then t.status else excluded.status end,
    parameter_format = excluded.parameter_format,
    components = excluded.components,
    variables = excluded.variables,
    unfillable = excluded.unfillable,
    quality = case when wac_told_after(t.told, 'quality', listed_at) then t.quality else excluded.quality end,
    rejection_reason = case when wac_told_after(t.told, 'rejectionReason', listed_at) then t.rejection_reason
      else excluded.rejection_reason end,
    told = (
      select coalesce(jsonb_object_agg(f.key, f.value), '{}') from jsonb_each(t.told) f
      where wac_told_after(t.told, f.key, listed_at)
    ),
    provider_template_id = excluded.provider_template_id,
    synced_at = excluded.synced_at;
end
$$;

-- Whether what upstream tells of a template's field is news (Template.observe).
create function wac_is_news(t templates, field text, command json) returns boolean
language sql immutable
return command -> 'change' -> field is not null
  and (command ->> 'at')::bigint + 1000 > (t).synced_at
  and (command ->> 'at')::bigint >= coalesce(((t).told ->> field)::bigint, (command ->> 'at')::bigint);

create function wac_update_template(command json) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  many integer;
begin
  update templates t set
    status = case when wac_is_news(t, 'status', command) then command -> 'change' ->> 'status' else t.status end,
    category = case when wac_is_news(t, 'category', command) then command -> 'change' ->> 'category'
      else t.category end,
    quality = case when wac_is_news(t, 'quality', command) then command -> 'change' ->> 'quality' else t.quality end,
    rejection_reason = case
      when wac_is_news(t, 'rejectionReason', command) then command -> 'change' ->> 'rejectionReason'
      else t.rejection_reason
    end,
    told = t.told || (
      select coalesce(jsonb_object_agg(f.name, command -> 'at'), '{}')
      from unnest(array['status', 'category', 'quality', 'rejectionReason']) as f (name)
      where wac_is_news(t, f.name, command)
    )
  where t.workspace_id = any (array(
    select p.workspace_id from phone_numbers p where p.provider_account_id = command ->> 'providerAccountId'
  )) and t.provider_account_id = command ->> 'providerAccountId' and t.name = command ->> 'name'
    and t.language = command ->> 'language';
  get diagnostics many = row_count;
  return many;
end
$$;

-- Token buckets, as in RateLimit.ts. The state of a workspace's and a number's bucket is on their rows, where accept
-- keeps it; all others are in buckets. Answers, per command, with when it was judged, and each bucket's state before
-- its token was asked for.
create function wac_spend_tokens(commands json) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  keys text[] := array(
    select distinct b.key
    from json_to_recordset(commands) as c (buckets json), json_to_recordset(c.buckets) as b (key text)
    order by 1
  );
  workspace_ids text[] := array(select substr(k, 11) from unnest(keys) k where starts_with(k, 'workspace:'));
  number_ids text[] := array(select substr(k, 14) from unnest(keys) k where starts_with(k, 'phone_number:'));
  other_keys text[] := array(
    select k from unnest(keys) k where not starts_with(k, 'workspace:') and not starts_with(k, 'phone_number:')
  );
  -- by key, as this batch has left them so far
  state jsonb := '{}';
  found jsonb;
  taken jsonb;
  command record;
  bucket record;
  at_time double precision;
  kept double precision;
  before double precision;
  next double precision;
  allowed boolean;
  answer double precision[];
  answers json[] := '{}';
begin
  -- locks are taken in the order of 0002, and of each kind in that of the keys
  select jsonb_object_agg('workspace:' || id, bucket_full_at) into found from (
    select id, bucket_full_at from workspaces where id = any (workspace_ids) order by id for no key update
  ) locked;
  state := state || coalesce(found, '{}');
  select jsonb_object_agg('phone_number:' || id, bucket_full_at) into found from (
    select id, bucket_full_at from phone_numbers where id = any (number_ids) order by id for no key update
  ) locked;
  state := state || coalesce(found, '{}');
  with locked as (
    -- one that is there is written as it is: between two statements the sweep might take it away
    insert into buckets as b (key, full_at) select k, 0 from unnest(other_keys) k order by k
    on conflict (key) do update set full_at = b.full_at
    returning b.key, b.full_at
  )
  select jsonb_object_agg(key, full_at) into found from locked;
  state := state || coalesce(found, '{}');

  at_time := wac_now();
  for command in
    select coalesce(c.now, at_time) as now, c.buckets
    from json_to_recordset(commands) as c (now double precision, buckets json)
  loop
    taken := state;
    allowed := true;
    answer := '{}';
    for bucket in
      select * from json_to_recordset(command.buckets)
        as b (key text, "interval" double precision, capacity double precision)
    loop
      -- what is stored is bounded even if a bucket refuses; what this command has taken so far is not stored yet
      kept := coalesce((state ->> bucket.key)::double precision, 0);
      if wac_bounded(kept, command.now, bucket."interval", bucket.capacity) < kept then
        state := state
          || jsonb_build_object(bucket.key, wac_bounded(kept, command.now, bucket."interval", bucket.capacity));
      end if;
      before := wac_bounded(
        coalesce((taken ->> bucket.key)::double precision, 0), command.now, bucket."interval", bucket.capacity
      );
      answer := answer || before;
      next := greatest(before, command.now) + bucket."interval";
      if next - command.now - bucket."interval" * bucket.capacity > 0 then
        allowed := false;
        taken := taken || jsonb_build_object(bucket.key, before);
      else
        taken := taken || jsonb_build_object(bucket.key, next);
      end if;
    end loop;
    answers := answers || json_build_object('at', command.now, 'before', answer);
    if allowed then
      state := taken;
    end if;
  end loop;

  update workspaces set bucket_full_at = (state ->> ('workspace:' || id))::double precision
  where id = any (workspace_ids) and bucket_full_at <> (state ->> ('workspace:' || id))::double precision;
  update phone_numbers set bucket_full_at = (state ->> ('phone_number:' || id))::double precision
  where id = any (number_ids) and bucket_full_at <> (state ->> ('phone_number:' || id))::double precision;
  update buckets set full_at = (state ->> key)::double precision
  where key = any (other_keys) and full_at <> (state ->> key)::double precision;
  return array_to_json(answers);
end
$$;

-- One token back to each, in the order of wac_spend_tokens. A bucket that is fuller than full counts as full.
create function wac_give_tokens_back(spent json) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  bucket record;
begin
  for bucket in
    select b.key, sum(b."interval") as intervals
    from json_to_recordset(spent) as b (key text, "interval" double precision)
    group by b.key
    order by not starts_with(b.key, 'workspace:'), not starts_with(b.key, 'phone_number:'), b.key
  loop
    if starts_with(bucket.key, 'workspace:') then
      update workspaces w set bucket_full_at = w.bucket_full_at - bucket.intervals where w.id = substr(bucket.key, 11);
    elsif starts_with(bucket.key, 'phone_number:') then
      update phone_numbers p set bucket_full_at = p.bucket_full_at - bucket.intervals
      where p.id = substr(bucket.key, 14);
    else
      update buckets b set full_at = b.full_at - bucket.intervals where b.key = bucket.key;
    end if;
  end loop;
end
$$;
`
