/**
 * What providers have posted: kept before it is answered, processed after. The rows that its processing rewrites are
 * narrow; its bytes lie apart, and are written once.
 *
 * Nothing is notified: who keeps a post knows of it, and processes it; a notification would have every such commit wait
 * for the one before it. Others look every second, for what a process has left that died or stopped.
 */
export const sql = `
create table inbound_posts (
  provider text not null,
  digest bytea not null constraint inbound_posts_digest check (octet_length(digest) = 32),
  position bigint generated always as identity,
  size integer not null constraint inbound_posts_size check (size >= 0),
  received_at bigint not null,
  due_at bigint,
  token text,
  tries integer not null default 0,
  problem text constraint inbound_posts_problem check (problem in ('unreadable', 'storage', 'defect')),
  expires_at bigint,
  primary key (provider, digest),
  constraint inbound_posts_due_at check (due_at is not null or expires_at is not null),
  constraint inbound_posts_claim check (token is null or due_at is not null),
  constraint inbound_posts_tries check (tries >= 0 and (problem is null or tries > 0 and expires_at is not null))
);
create index inbound_posts_due on inbound_posts (provider, due_at, position) where due_at is not null;
create index inbound_posts_problems on inbound_posts (received_at) where problem is not null;
create index inbound_posts_expiry on inbound_posts (expires_at) where expires_at is not null;
comment on table inbound_posts is
  'What providers posted, by the SHA-256 of its bytes: what is posted again is known for as long as the row is there';
comment on column inbound_posts.position is 'The order of coming, for those that are due since the same millisecond';
comment on column inbound_posts.size is 'Bytes of its body, so that a claim takes no more of them than it may';
comment on column inbound_posts.tries is 'How often it has failed';
comment on column inbound_posts.due_at is
  'When it may be claimed, which a claim puts off to the end of its lease; null when it was processed or is unreadable';
comment on column inbound_posts.token is 'Of the claim under way, or of one whose lease has ended';
comment on column inbound_posts.problem is 'Why the last try failed; null again once it was processed';
comment on column inbound_posts.expires_at is
  'When it may be forgotten; null for one that was neither processed nor failed';
comment on index inbound_posts_problems is 'How many fail, and how many cannot be read';

create table inbound_post_bodies (
  provider text not null,
  digest bytea not null,
  body bytea not null,
  -- no foreign key: both rows are written in one step, and go in one
  primary key (provider, digest)
);
comment on table inbound_post_bodies is
  'The bytes as they came, also of what was processed: whatever we did not know is in them';

-- Keeps a post. False, and nothing changed, when it is known.
create function wac_keep_post(of_provider text, of_digest bytea, its_body bytea, at_time bigint) returns boolean
language plpgsql as $$
begin
  insert into inbound_posts (provider, digest, size, received_at, due_at)
  values (of_provider, of_digest, length(its_body), at_time, at_time)
  on conflict do nothing;
  if not found then
    return false;
  end if;
  insert into inbound_post_bodies (provider, digest, body) values (of_provider, of_digest, its_body);
  return true;
end
$$;

-- Claims what has been due for longest: at most max_posts, and no more once they hold max_bytes. Without sorting there
-- is one index for that, also where the statistics are of a time when nothing was kept.
create function wac_claim_posts(
  of_provider text, claim_token text, at_time bigint, lease_until bigint, max_posts integer, max_bytes bigint
) returns table (its_digest text, its_body bytea, came_at double precision, was_tried integer)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return query
  with due as materialized (
    select p.digest, p.due_at, p.position, p.size from inbound_posts p
    where p.provider = of_provider and p.due_at <= at_time
    order by p.due_at, p.position limit max_posts
    for update skip locked
  ), fitting as materialized (
    select d.digest, d.due_at, d.position
    from (select d.*, sum(d.size) over (order by d.due_at, d.position) - d.size as before from due d) d
    where d.before < max_bytes
  ), claimed as (
    update inbound_posts p set due_at = lease_until, token = claim_token
    from fitting f
    where p.provider = of_provider and p.digest = f.digest
    returning p.digest, p.received_at, p.tries, f.due_at, f.position
  )
  select encode(c.digest, 'hex'), b.body, c.received_at::double precision, c.tries
  from claimed c join inbound_post_bodies b on b.provider = of_provider and b.digest = c.digest
  order by c.due_at, c.position;
end
$$;

-- Forgets posts whose time is over. How many there were.
create function wac_sweep_posts(at_time bigint, max_posts integer) returns integer
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  forgotten integer;
begin
  with over as materialized (
    select p.provider, p.digest from inbound_posts p
    where p.expires_at <= at_time
    order by p.expires_at limit max_posts
    -- what is being ended at this moment is for the next sweep
    for update skip locked
  ), bodies as (
    delete from inbound_post_bodies b using over o where b.provider = o.provider and b.digest = o.digest
  ), posts as (
    delete from inbound_posts p using over o where p.provider = o.provider and p.digest = o.digest
    returning p.provider
  )
  select count(*) into forgotten from posts;
  return forgotten;
end
$$;

-- What waits, looking at a bounded number of rows.
create function wac_post_backlog(counted_exactly integer) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_sort = off
as $$
begin
  return (
    select json_build_object(
      'waiting', least(w.posts, counted_exactly),
      'oldestReceivedAt', w.oldest,
      'failing', least(f.failing, counted_exactly),
      'unreadable', least(u.unreadable, counted_exactly)
    )
    from (
      select count(*) as posts, min(p.received_at) as oldest from (
        select p.received_at from inbound_posts p where p.due_at is not null
        order by p.provider, p.due_at, p.position limit counted_exactly + 1
      ) p
    ) w, (
      select count(*) as failing from (
        select from inbound_posts p where p.problem is not null and p.due_at is not null
        order by p.received_at limit counted_exactly + 1
      ) p
    ) f, (
      select count(*) as unreadable from (
        select from inbound_posts p where p.problem is not null and p.due_at is null
        order by p.received_at limit counted_exactly + 1
      ) p
    ) u
  );
end
$$;
`
