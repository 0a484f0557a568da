/**
 * Tables of what people do and see: accounts, invitations, sends from the dashboard, requests and usage.
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

create table people (
  user_id text primary key,
  email text not null constraint people_email_key unique constraint people_email check (email = lower(email)),
  password_hash text,
  created_at bigint not null
);
comment on table people is 'Who may sign in, where accounts are ours';
comment on column people.email is 'In small letters: one account, however it is written';
comment on column people.password_hash is 'Null: they sign in at an issuer';
insert into people (user_id, email, password_hash, created_at)
  select m.user_id, m.email, m.password_hash, m.created_at from members m;

delete from sessions;
alter table sessions drop constraint sessions_user_id_fkey;
alter table sessions
  add column id text not null,
  add column workspace_id text not null,
  add column address text,
  add column agent text,
  add constraint sessions_id_key unique (id),
  add constraint sessions_user_id_fkey foreign key (user_id) references people on delete cascade;
comment on column sessions.workspace_id is 'The workspace that it is in; whether the person is a member is looked up at each use';

alter table members drop column email, drop column password_hash, drop constraint members_pkey;
alter table members
  add primary key (workspace_id, user_id),
  add constraint members_user_id_fkey foreign key (user_id) references people on delete cascade;
drop index members_workspace;
create index members_user on members (user_id);
comment on table members is 'Which workspaces people may use, and as what';

create table invitations (
  id text primary key,
  workspace_id text not null references workspaces,
  email text not null,
  role text not null constraint invitations_role check (role in ('member', 'developer', 'admin', 'owner')),
  token_hash text not null constraint invitations_token_hash_key unique,
  created_at bigint not null,
  expires_at bigint not null,
  constraint invitations_workspace_id_email_key unique (workspace_id, email)
);
create index invitations_expiry on invitations (expires_at);
comment on table invitations is 'Links that make somebody a member, once; only the hash of the token is kept';

create table password_resets (
  token_hash text primary key,
  user_id text not null references people on delete cascade,
  created_at bigint not null,
  expires_at bigint not null
);
create index password_resets_user on password_resets (user_id);
create index password_resets_expiry on password_resets (expires_at);
comment on table password_resets is 'Links by which a person chooses another password, once; only the hash of the token is kept';

create table audit (
  workspace_id text not null,
  id text not null,
  action text not null,
  target text,
  user_id text,
  email text,
  at bigint not null,
  address text,
  request_id text,
  detail json,
  primary key (workspace_id, id),
  constraint audit_person check ((user_id is null) = (email is null))
);
create index audit_person on audit (workspace_id, user_id, id) where user_id is not null;
create index audit_target on audit (workspace_id, target, id) where target is not null;
comment on table audit is 'What people and the operator changed, for a year: no secret';
comment on column audit.user_id is 'Null: the operator, by a command';

create table alerts (
  workspace_id text not null,
  id text not null,
  kind text not null,
  subject text not null,
  message text not null,
  opened_at bigint not null,
  closed_at bigint,
  primary key (workspace_id, id)
);
create unique index alerts_open on alerts (workspace_id, kind, subject) where closed_at is null;
create index alerts_closed on alerts (closed_at) where closed_at is not null;
comment on table alerts is 'What is or was the matter (Alert.kinds), once as long as it lasts';

create table alert_settings (
  workspace_id text primary key references workspaces,
  emails text[] not null,
  url text
);
comment on table alert_settings is 'Who is told of alerts, beside the dashboard';
`
