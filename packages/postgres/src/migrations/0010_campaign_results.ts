/**
 * Results of campaigns: messages that the provider holds, and why recipients failed or were skipped.
 */
export const sql = `
alter table messages add column is_held boolean not null default false;
comment on column messages.is_held is 'Whether the provider holds it to assess its quality';

alter table campaign_tallies add column reason text not null default '';
alter table campaign_tallies drop constraint campaign_tallies_pkey;
alter table campaign_tallies add primary key (campaign_id, shard, outcome, reason);
comment on column campaign_tallies.reason is 'Why they failed or were skipped; empty for other outcomes';
`
