/**
 * Functions of the stores that change several rows after having looked: each is one statement of its caller, and locks
 * before it looks, so that it sees what was committed before it got its turn.
 */
export const sql = `
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
