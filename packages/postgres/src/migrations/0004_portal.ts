/**
 * Tables of the portal, through which a host's customers see a workspace.
 */
export const sql = `
create table portals (
  token_hash text primary key,
  id text not null constraint portals_id_key unique,
  workspace_id text not null references workspaces,
  role text not null constraint portals_role check (role in ('member', 'developer', 'admin', 'owner')),
  visitor text not null,
  is_open boolean not null,
  created_at bigint not null,
  expires_at bigint not null
);
create index portals_expiry on portals (expires_at);
comment on table portals is
  'Links of a host to its customer''s pages, good once, and the sessions that they become; only hashes of tokens';
comment on column portals.token_hash is 'Of the link''s token, then of the session''s';
comment on column portals.visitor is 'Whom it is for, as the host names them';
`
