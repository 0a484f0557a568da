/**
 * What people do and see: sends from the dashboard, requests, usage.
 */
export const sql = `
alter table messages alter column api_key_id drop not null;
comment on column messages.api_key_id is 'Null: a person sent it from the dashboard';

create table requests (
  workspace_id text not null,
  id text not null,
  api_key_id text not null,
  method text not null,
  route text not null,
  status integer not null,
  code text,
  reason text,
  at bigint not null,
  duration_ms double precision not null,
  primary key (workspace_id, id),
  constraint requests_reason check (code is not null or reason is null)
);
create index requests_refused on requests (workspace_id, id) where code is not null;
create index requests_word on requests (workspace_id, coalesce(reason, code), id) where code is not null;
comment on table requests is 'Requests of API keys, for a week: no body, no header values';
comment on column requests.code is 'The error''s; null: it was not refused';

create table request_tallies (
  workspace_id text not null,
  hour bigint not null,
  api_key_id text not null,
  code text not null,
  reason text not null,
  count bigint not null,
  last_at bigint not null,
  primary key (workspace_id, hour, api_key_id, code, reason)
);
comment on table request_tallies is
  'How many requests there were in an hour, by key and outcome: so that nobody counts a week of them';
comment on column request_tallies.code is 'Empty: they were not refused';

create table usage_counts (
  workspace_id text not null,
  hour bigint not null,
  activity text not null,
  count bigint not null,
  primary key (workspace_id, hour, activity)
);
comment on table usage_counts is 'What a workspace did in an hour (Activity.activities)';
`
