/**
 * More scopes for API keys. They are kept apart from the scope that the version before knows: it refuses to show
 * others.
 */
export const sql = `
alter table api_keys add column further_scopes text[];
alter table api_keys add constraint api_keys_further_scopes
  check (further_scopes <@ '{messages:read,media:write,contacts:write,campaigns:write}') not valid;
comment on column api_keys.scopes is 'messages:send, if the key has it';
comment on column api_keys.further_scopes is
  'All others; null: of a key of the version before, which may read messages and write media';
`
