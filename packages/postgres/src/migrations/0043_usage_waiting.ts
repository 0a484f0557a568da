/**
 * How much waited in a workspace, by the hour.
 */
export const sql = `
create table usage_waiting (
  workspace_id text not null,
  hour bigint not null,
  queued bigint not null,
  held bigint not null,
  primary key (workspace_id, hour)
);
comment on table usage_waiting is 'The most that waited in an hour (Waiting.Peak)';
comment on column usage_waiting.hour is 'The start of the hour';
comment on column usage_waiting.queued is 'Messages that callers queued';
comment on column usage_waiting.held is 'Events that the paused webhook held';
`
