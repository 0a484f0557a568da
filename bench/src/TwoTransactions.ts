/**
 * The SQL that a good engineer would write by hand. A send is two transactions of one statement each: *accept* before
 * the provider is called and *settle* after it. The Fastify service and pgbench both run these.
 */

/** Lean on purpose: every index is needed, and rows of the hot path lock no row that all sends share. */
export const schema = `
create table workspaces (
  id bigint generated always as identity primary key,
  name text not null
);
create table api_keys (
  id bigint generated always as identity primary key,
  workspace_id bigint not null references workspaces,
  token_hash bytea not null unique,
  revoked_at timestamptz
);
create table webhooks (
  id bigint generated always as identity primary key,
  workspace_id bigint not null unique references workspaces,
  url text not null,
  paused_at timestamptz
);
create sequence message_ids;
create table messages (
  id bigint primary key default nextval('message_ids'),
  workspace_id bigint not null,
  api_key_id bigint not null,
  recipient text not null,
  content jsonb not null,
  status text not null check (status in ('sending', 'sent', 'delivered', 'read', 'failed')),
  provider_message_id text unique,
  created_at timestamptz not null default now(),
  sent_at timestamptz
) with (fillfactor = 80);
create table idempotency_keys (
  workspace_id bigint not null,
  key text not null,
  fingerprint bytea not null,
  message_id bigint not null,
  claim_token uuid,
  lease_until timestamptz,
  answer json,
  expires_at timestamptz,
  primary key (workspace_id, key)
) with (fillfactor = 70);
create index on idempotency_keys (expires_at) where expires_at is not null;
create table events (
  id bigint generated always as identity primary key,
  workspace_id bigint not null,
  message_id bigint not null references messages,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null default now()
);
create index on events (workspace_id, id);
create table deliveries (
  id bigint generated always as identity primary key,
  webhook_id bigint not null,
  event_id bigint not null references events,
  status text not null check (status in ('pending', 'delivered', 'exhausted')),
  attempt_count integer not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null default now()
);
create index on deliveries (webhook_id, next_attempt_at) where status = 'pending';
`

/** Returns one row if the key was free (or expired) and the caller holds the claim, and none otherwise. */
export const accept = (
  value: {
    readonly [name in "workspace" | "apiKey" | "key" | "fingerprint" | "claim" | "recipient" | "content"]: string
  }
): string => `
with claim as (
  insert into idempotency_keys (workspace_id, key, fingerprint, message_id, claim_token, lease_until)
  values (${value.workspace}, ${value.key}, ${value.fingerprint}, nextval('message_ids'), ${value.claim},
    now() + interval '30 seconds')
  on conflict (workspace_id, key) do update
    set fingerprint = excluded.fingerprint, message_id = excluded.message_id, claim_token = excluded.claim_token,
      lease_until = excluded.lease_until, answer = null, expires_at = null
    where idempotency_keys.expires_at <= now()
  returning message_id
)
insert into messages (id, workspace_id, api_key_id, recipient, content, status)
select message_id, ${value.workspace}, ${value.apiKey}, ${value.recipient}, ${value.content}, 'sending' from claim
returning id`

/** Returns one row if the claim was still held, and none otherwise. */
export const settle = (
  value: {
    readonly [name in "workspace" | "key" | "claim" | "answer" | "providerMessageId" | "data"]: string
  }
): string => `
with bound as (
  update idempotency_keys
  set claim_token = null, lease_until = null, answer = ${value.answer}, expires_at = now() + interval '24 hours'
  where workspace_id = ${value.workspace} and key = ${value.key} and claim_token = ${value.claim}
  returning message_id
), sent as (
  update messages set status = 'sent', provider_message_id = ${value.providerMessageId}, sent_at = now()
  from bound where messages.id = bound.message_id
  returning messages.id
), event as (
  insert into events (workspace_id, message_id, type, data)
  select ${value.workspace}, id, 'message.sent', ${value.data} from sent
  returning id
), delivery as (
  insert into deliveries (webhook_id, event_id, status, next_attempt_at)
  select webhooks.id, event.id, 'pending', now()
  from event join webhooks on webhooks.workspace_id = ${value.workspace}
)
select id from sent`

/** Counts completely recorded sends. */
export const complete = `
select count(*)::float8 as count
from messages
join idempotency_keys on idempotency_keys.message_id = messages.id and answer is not null
join events on events.message_id = messages.id
join deliveries on deliveries.event_id = events.id
where messages.status = 'sent'`
