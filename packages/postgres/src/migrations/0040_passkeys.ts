/**
 * Passkeys, as a part of a person's second factor beside the authenticator app or without one (contract §17).
 */
export const sql = `
alter table second_factors
  alter column key_id drop not null,
  alter column nonce drop not null,
  alter column ciphertext drop not null,
  drop constraint second_factors_last_step,
  add constraint second_factors_last_step
    check (last_step is null or (confirmed_at is not null and ciphertext is not null)) not valid,
  add constraint second_factors_app check (num_nonnulls(key_id, nonce, ciphertext) in (0, 3)) not valid;
comment on table second_factors is 'Second factors of people, with the sealed secret of their authenticator app if any';
comment on column second_factors.confirmed_at is 'When it was switched on, by the app or a passkey; null before';
comment on column second_factors.last_step is
  'The step of 30 seconds of the last code of the app that was used; null while the app is not on';

create table passkeys (
  id text primary key,
  user_id text not null references second_factors on delete cascade,
  name text not null,
  credential_id text not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  created_at bigint not null,
  last_used_at bigint
);
create index passkeys_user_id on passkeys (user_id);
comment on table passkeys is 'Passkeys of people';
comment on column passkeys.counter is 'The authenticator''s count of its signatures; 0 if it does not count';

create table passkey_challenges (
  user_id text not null references people on delete cascade,
  purpose text not null check (purpose in ('add', 'confirm')),
  token_hash text not null,
  created_at bigint not null,
  expires_at bigint not null,
  primary key (user_id, purpose)
);
comment on table passkey_challenges is 'The last challenge for the passkeys of a person who is signed in, by purpose';
`
