/**
 * Quiet hours of campaigns, by the clocks of their recipients.
 */
export const sql = `
alter table campaign_queue add column time_zone text;
comment on column campaign_queue.time_zone is 'The time zone that the row gives; null for those of the number''s country';

update campaigns set state = (state::jsonb || '{"quietHours": null}')::json;
`
