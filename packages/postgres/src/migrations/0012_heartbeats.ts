/**
 * The heartbeat by which processes recognize a database that was restored from a backup.
 */
export const sql = `
create table heartbeats (
  single boolean primary key default true constraint heartbeats_single check (single),
  beat_at bigint not null,
  server text not null
);
comment on table heartbeats is 'At most one row: the newest heartbeat of all processes';
comment on column heartbeats.server is 'What identifies the database server that the heartbeat was written to';
`
