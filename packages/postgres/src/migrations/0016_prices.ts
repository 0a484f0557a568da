/**
 * Counts of messages by price.
 */
export const sql = `
create table priced_messages (
  workspace_id text not null,
  hour bigint not null,
  shard smallint not null,
  market text not null,
  category text not null,
  type text not null,
  billable boolean not null,
  messages integer not null,
  primary key (workspace_id, hour, shard, market, category, type, billable)
);
comment on table priced_messages is
  'How many messages of an hour have which price (Priced.Count), as sums over the shards, so that few writers share a '
  'row';
`
