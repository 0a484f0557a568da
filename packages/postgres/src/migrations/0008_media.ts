/**
 * Files: what is stored of them, their bytes in rows of bounded size, the keys that they were uploaded under, and their
 * ids at the provider.
 */
export const sql = `
create table media (
  id text primary key,
  workspace_id text not null,
  state text not null constraint media_state check (state in ('uploading', 'stored', 'awaited', 'gone', 'removed')),
  due_at bigint not null,
  media json,
  awaited json,
  phone_number_id text,
  provider_media_id text,
  fetch_at bigint,
  lease_until bigint,
  constraint media_described check (case state when 'stored' then media is not null
    when 'awaited' then awaited is not null when 'gone' then awaited is not null else true end),
  constraint media_awaited check ((phone_number_id is null) = (provider_media_id is null))
);
create unique index media_provider on media (phone_number_id, provider_media_id) where provider_media_id is not null;
create index media_due on media (due_at) where state <> 'removed';
create index media_removed on media (id) where state = 'removed';
create index media_fetch on media (fetch_at) where state = 'awaited' and fetch_at is not null;
comment on table media is 'Files without their bytes (MediaStep.Row)';
comment on column media.due_at is 'Derived by the core: when the row expires, or an upload counts as broken off';
comment on column media.fetch_at is 'When a customer''s file is downloaded; null if only a request downloads it';
comment on column media.lease_until is 'The end of the claim of who downloads it';

create table media_usage (
  workspace_id text primary key,
  used bigint not null constraint media_usage_used check (used >= 0)
);
comment on table media_usage is 'Bytes of each workspace''s stored files. Its lock serializes the workspace''s uploads';

create table media_keys (
  workspace_id text not null,
  key text not null,
  fingerprint text not null,
  media json not null,
  expires_at bigint not null,
  primary key (workspace_id, key)
);
create index media_keys_expiry on media_keys (expires_at);
comment on table media_keys is 'Idempotency keys of uploads, with the file as the answer described it';

create table media_uploads (
  media_id text not null,
  phone_number_id text not null,
  provider_media_id text not null,
  expires_at bigint not null,
  primary key (media_id, phone_number_id)
);
comment on table media_uploads is 'Files at the provider, by the number that may send them';

create table media_chunks (
  media_id text not null,
  n integer not null,
  bytes bytea not null constraint media_chunks_size check (octet_length(bytes) between 1 and 262144),
  primary key (media_id, n)
);
alter table media_chunks alter column bytes set storage external;
comment on table media_chunks is
  'The bytes of files, in pieces of 256 KiB but for the last. Not compressed: most files are already';
`
