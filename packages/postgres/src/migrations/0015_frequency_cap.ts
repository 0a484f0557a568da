/**
 * The frequency cap of marketing templates.
 */
export const sql = `
alter table buckets add column marketing_at json, add column marketing_until bigint;
comment on column buckets.marketing_at is 'When the last marketing templates were sent to the customer of a pair';
comment on column buckets.marketing_until is 'When the last of them no longer counts; until then the row stays';
`
