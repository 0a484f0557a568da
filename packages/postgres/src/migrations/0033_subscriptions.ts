/**
 * Durable subscriptions (contract §16).
 */
export const sql = `
create table subscriptions (
  workspace_id text not null references workspaces,
  name text not null,
  event_types event_type[] not null,
  place bigint not null,
  owner text,
  lease_until bigint,
  created_at bigint not null,
  primary key (workspace_id, name),
  constraint subscriptions_lease check ((owner is null) = (lease_until is null))
);
comment on table subscriptions is 'Durable subscriptions, each with its place in the events of its workspace';
comment on column subscriptions.place is
  'Events up to this position were handled, or have a row in subscription_entries';
comment on column subscriptions.owner is 'The claim of the process that handles events; null while none is handled';

create table subscription_entries (
  workspace_id text not null,
  name text not null,
  event_id text not null,
  place bigint not null,
  order_key text,
  recorded_at bigint not null,
  state text not null,
  attempts amount not null,
  round_attempts amount not null,
  round_started_at bigint,
  started_at bigint,
  next_at bigint,
  failed_at bigint,
  failure text,
  primary key (workspace_id, name, event_id),
  foreign key (workspace_id, name) references subscriptions on delete cascade,
  constraint subscription_entries_state check (state in ('running', 'waiting', 'held', 'failed')),
  constraint subscription_entries_next_at check ((next_at is not null) = (state = 'waiting')),
  constraint subscription_entries_failed check (
    (failed_at is not null) = (state = 'failed') and (failed_at is null or failure is not null)
  )
);
create index subscription_entries_work on subscription_entries (workspace_id, name, state, next_at)
  where state in ('running', 'waiting');
create index subscription_entries_order on subscription_entries (workspace_id, name, order_key, place)
  where order_key is not null and state <> 'failed';
create index subscription_entries_open on subscription_entries (workspace_id, name, recorded_at)
  where state <> 'failed';
create index subscription_entries_failed_list on subscription_entries (workspace_id, name, event_id)
  where state = 'failed';
comment on table subscription_entries is 'Events that a subscription has taken up and not handled yet';
comment on column subscription_entries.place is 'The position of the event';
comment on column subscription_entries.order_key is 'Events with the same key are handled in the order of their places';
comment on index subscription_entries_open is 'How old the oldest event is that was not handled';
`
