/**
 * Counts of messages of which the provider does not say whether they are charged. They have a table of their own
 * because the key of `priced_messages` holds no null, and the previous version counts beside this one.
 */
export const sql = `
create table untold_prices (
  workspace_id text not null,
  hour bigint not null,
  shard smallint not null,
  market text not null,
  category text not null,
  type text not null,
  messages integer not null,
  primary key (workspace_id, hour, shard, market, category, type)
);
comment on table untold_prices is
  'As priced_messages, of messages of which upstream does not say whether they are billable';
`
