/**
 * API keys that are bound to phone numbers and networks, and an index of those that expire. A bound key is kept under
 * another hash than its token's: the version before, which would let it send from any number and from anywhere, does
 * not find it.
 */
export const sql = `
alter table api_keys add column phone_number_ids text[], add column allowed_cidrs text[];
alter table api_keys add constraint api_keys_phone_number_ids check (cardinality(phone_number_ids) > 0) not valid;
alter table api_keys add constraint api_keys_allowed_cidrs check (cardinality(allowed_cidrs) > 0) not valid;
alter table api_keys add constraint api_keys_bound
  check ((phone_number_ids is not null or allowed_cidrs is not null) = starts_with(token_hash, 'bound:')) not valid;
create index api_keys_expiry on api_keys (workspace_id, expires_at, id)
  where revoked_at is null and expires_at is not null;
comment on index api_keys_expiry is 'The keys about to expire, of which people are told';
comment on column api_keys.token_hash is
  'Of the token; after bound: for a key that is bound to numbers or networks, so that no version finds it that knows none';
comment on column api_keys.phone_number_ids is 'The only numbers that the key may send from; null: all';
comment on column api_keys.allowed_cidrs is 'The only networks that the key may be used from; null: anywhere';
`
