/**
 * What people do: sends from the dashboard.
 */
export const sql = `
alter table messages alter column api_key_id drop not null;
comment on column messages.api_key_id is 'Null: a person sent it from the dashboard';
`
