/**
 * The values of requests, while an owner has switched them on (contract §17).
 */
export const sql = `
create table request_values_switches (
  workspace_id text primary key references workspaces on delete cascade,
  until bigint,
  epoch integer not null
);
comment on table request_values_switches is 'Until when workspaces keep the values of their API requests';
comment on column request_values_switches.until is 'Null: switched off';
comment on column request_values_switches.epoch is
  'Rises when what is kept must go: values of an earlier epoch are neither kept nor found';

create table request_values (
  workspace_id text not null references request_values_switches on delete cascade,
  epoch integer not null,
  request_id text not null,
  key_id text not null,
  nonce bytea not null,
  ciphertext bytea not null,
  primary key (workspace_id, epoch, request_id)
);
create index request_values_key_id on request_values (key_id, request_id);
comment on table request_values is 'Sealed values of the bodies of API requests, redacted, for a day';
`
