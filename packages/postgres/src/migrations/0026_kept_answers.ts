/**
 * Answers to requests that change something, under their Idempotency-Keys.
 */
export const sql = `
create table kept_answers (
  workspace_id text not null references workspaces,
  caller text not null,
  route text not null,
  key text not null,
  fingerprint text not null,
  token text not null,
  lease_until bigint not null,
  status integer,
  body text,
  expires_at bigint not null,
  primary key (workspace_id, caller, route, key),
  constraint kept_answers_answer check ((status is null) = (body is null))
);
create index kept_answers_expiry on kept_answers (expires_at);
comment on table kept_answers is
  'Answers to requests that change something, by Idempotency-Key, for 24 h; sends and new API keys have their own';
comment on column kept_answers.caller is 'The person who asked';
comment on column kept_answers.route is 'Method and path as requested';
comment on column kept_answers.fingerprint is 'Of the request''s body: another one under the same key is a conflict';
comment on column kept_answers.token is 'Of the process that works on the request: only it writes the answer';
comment on column kept_answers.lease_until is 'Until when a request without an answer is still being worked on';
comment on column kept_answers.status is 'Of the answer; null until there is one';
comment on column kept_answers.body is 'JSON without secrets, or empty';
`
