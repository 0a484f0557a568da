/**
 * The outbox (contract §16): messages that hosts enqueue in transactions of their own, and the function by which they
 * do. Its body is parsed here, so it names what it uses by identity: no `search_path` and no later name of the schema
 * changes what it does.
 */
export const sql = `
create table outbox (
  place bigint generated always as identity,
  message_id text primary key,
  workspace_id text not null,
  key text not null,
  message jsonb,
  erased bytea,
  send_at timestamptz,
  send_until timestamptz,
  enqueued_at timestamptz not null default clock_timestamp(),
  due_at bigint not null default 0,
  tries amount not null default 0,
  claim_token text,
  moved_at bigint,
  constraint outbox_key unique (workspace_id, key),
  constraint outbox_key_form check (key ~ '^[\\x21-\\x7e]{1,255}$'),
  constraint outbox_erased check ((message is null) = (erased is not null)),
  constraint outbox_claim check (claim_token is null or moved_at is null)
);
create index outbox_waiting on outbox (place) where moved_at is null;
create index outbox_claimed on outbox (workspace_id, due_at) where claim_token is not null;
create index outbox_moved on outbox (moved_at) where moved_at is not null;
-- it is read from its low end, past the entries of what was moved since
alter table outbox set (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);
comment on table outbox is
  'Messages that hosts enqueued in their own transactions; a row stays as long as the key, for enqueue() to find';
comment on column outbox.place is 'The order of arrival';
comment on column outbox.message is 'As POST /v1/messages takes it; null once its customer was erased';
comment on column outbox.erased is 'SHA-256 of the text of the erased message, by which a repetition is still known';
comment on column outbox.due_at is 'Not looked at before; while claimed, the end of the lease';
comment on column outbox.tries is 'How often it was tried in vain to move it';
comment on column outbox.moved_at is 'When it became a message: queued, or failed';

create function outbox_raise(code text, reason text) returns text
language plpgsql volatile parallel unsafe
set search_path to pg_catalog, pg_temp
as $raise$
begin
  raise exception using errcode = code, message = reason;
end
$raise$;
comment on function outbox_raise(text, text) is 'Raises an error of enqueue()';

create function enqueue(
  workspace_id text,
  idempotency_key text,
  message jsonb,
  send_at timestamptz default null,
  send_until timestamptz default null
) returns text
language sql volatile parallel unsafe security invoker
set search_path to pg_catalog, pg_temp
begin atomic
  select outbox_raise('22023', 'the message must be a JSON object with "to" and "type"')
  where jsonb_typeof($3) is distinct from 'object' or not ($3 ? 'to' and $3 ? 'type');

  -- a transaction waits here for another one with the same key
  with entropy as materialized (
    select sha256(uuid_send(gen_random_uuid())) as bytes,
      floor(extract(epoch from clock_timestamp()) * 1000000)::bigint as micros
  ), added as (
    insert into outbox as o (message_id, workspace_id, key, message, send_at, send_until)
    select 'msg_' || (
      select string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', digit + 1, 1), '' order by i)
      from (
        select i, case
          -- milliseconds, then microseconds, so that the messages of a millisecond keep their order
          when i < 10 then ((micros / 1000) >> (5 * (9 - i))) & 31
          when i < 12 then ((micros % 1000) >> (5 * (11 - i))) & 31
          else get_byte(bytes, i) & 31
        end::integer as digit
        from generate_series(0, 25) as digits (i)
      ) as digits
    ), $1, $2, $3, $4, $5
    from entropy
    on conflict on constraint outbox_key do nothing
    returning 1
  )
  select pg_notify(
    case
      when n.nspname = 'public' then 'wac_outbox'
      when octet_length(n.nspname || ':wac_outbox') <= 63 then n.nspname || ':wac_outbox'
      else left(encode(sha256(convert_to(n.nspname || ':wac_outbox', 'UTF8')), 'hex'), 63)
    end,
    ''
  )
  from added, pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.oid = 'outbox'::regclass;

  -- a statement of its own sees what it may have waited for
  select coalesce(
    (
      select case
        when coalesce(o.message = $3, o.erased = sha256(convert_to($3::text, 'UTF8')))
          and o.send_at is not distinct from $4 and o.send_until is not distinct from $5
        then o.message_id
        else outbox_raise('23505', 'the idempotency key was already used with a different message')
      end
      from outbox o where o.workspace_id = $1 and o.key = $2
    ),
    outbox_raise('40001', 'the idempotency key expired meanwhile: repeat the transaction')
  );
end;
comment on function enqueue(text, text, jsonb, timestamptz, timestamptz) is
  'Enqueues a message in the caller''s transaction and returns its id (docs/guides/transactions.md)';
`
