/**
 * Second factors of people, their recovery codes, and sign-ins that wait for one (contract §17).
 */
export const sql = `
create table second_factors (
  user_id text primary key references people,
  key_id text not null,
  nonce bytea not null,
  ciphertext bytea not null,
  created_at bigint not null,
  confirmed_at bigint,
  last_step bigint,
  constraint second_factors_last_step check ((last_step is null) = (confirmed_at is null))
);
create index second_factors_key_id on second_factors (key_id, user_id);
comment on table second_factors is 'Authenticator apps of people, with their sealed secrets';
comment on column second_factors.confirmed_at is 'When it was switched on; null before';
comment on column second_factors.last_step is 'The step of 30 seconds of the last code that was used';

create table recovery_codes (
  user_id text not null references second_factors on delete cascade,
  fingerprint text not null,
  primary key (user_id, fingerprint)
);
comment on table recovery_codes is 'Unused recovery codes';

create table sign_in_challenges (
  token_hash text primary key,
  user_id text not null references second_factors on delete cascade,
  password_hash text not null,
  tries_left integer not null,
  created_at bigint not null,
  expires_at bigint not null,
  constraint sign_in_challenges_tries_left check (tries_left >= 0)
);
create index sign_in_challenges_user_id on sign_in_challenges (user_id);
create index sign_in_challenges_expires_at on sign_in_challenges (expires_at);
comment on table sign_in_challenges is 'Sign-ins whose password was right, and which wait for the second factor';
comment on column sign_in_challenges.password_hash is 'The hash that the sign-in verified: another ends it';
`
