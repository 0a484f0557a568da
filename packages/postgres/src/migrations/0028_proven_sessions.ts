/**
 * When a session's person last proved their presence.
 */
export const sql = `
alter table sessions add column proven_at bigint;
comment on column sessions.proven_at is
  'When the person last proved their presence; null: when the session was created';
`
