/**
 * Counts of campaigns' messages by time.
 */
export const sql = `
create table campaign_timelines (
  campaign_id text not null references campaigns on delete cascade,
  at bigint not null,
  shard smallint not null,
  sent integer not null,
  delivered integer not null,
  read integer not null,
  primary key (campaign_id, at, shard)
);
comment on table campaign_timelines is
  'How many messages of a campaign were sent, delivered and read when, as sums over the shards';
comment on column campaign_timelines.at is
  'The start of a span of time, which is longer the longer after its sending something happened to a message';
`
