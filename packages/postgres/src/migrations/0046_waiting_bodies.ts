/**
 * Old messages that had not ended when what they said was to be deleted.
 */
export const sql = `
create table waiting_bodies (
  message_id text primary key,
  due_at bigint not null
);
create index waiting_bodies_due on waiting_bodies (due_at, message_id);
comment on table waiting_bodies is 'Messages that forgotten_bodies has passed and that had not ended: what they said is deleted once they have';
comment on column waiting_bodies.due_at is 'Looked at again by a sweep that deletes what is older than this time';
`
