/**
 * Indexes in the order of the dashboard's lists.
 */
export const sql = `
create index api_keys_live on api_keys (workspace_id, id desc) where revoked_at is null;
create index alerts_going_on on alerts (workspace_id, id desc) where closed_at is null;
create index templates_list on templates (workspace_id, id desc);
create index templates_name on templates (workspace_id, name);
`
