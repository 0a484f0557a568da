/**
 * Campaigns: their rows of recipients, the queue of those that are not sent yet, and their counts.
 */
export const sql = `
-- not validated: every word that was allowed before still is
alter domain message_status drop constraint message_status;
alter domain message_status add constraint message_status
  check (value in ('queued', 'sending', 'unknown', 'sent', 'delivered', 'read', 'failed', 'skipped')) not valid;

alter table messages add column campaign_id text;
comment on column messages.campaign_id is 'The campaign whose recipient it is; its key never expires';

create table campaigns (
  id text primary key,
  workspace_id text not null references workspaces,
  state json not null,
  work_at bigint
);
create index campaigns_workspace on campaigns (workspace_id, id desc);
create index campaigns_work on campaigns (work_at) where work_at is not null;
comment on table campaigns is 'Campaigns, and when there is something to do for each';
comment on column campaigns.state is 'The campaign (Campaign) without its counts';
comment on column campaigns.work_at is 'Null while only a person can go on';

create table campaign_rows (
  campaign_id text not null references campaigns on delete cascade,
  place integer not null,
  content json not null,
  customer text,
  message_id text,
  problem json,
  primary key (campaign_id, place)
);
comment on table campaign_rows is 'Uploaded rows of recipients, in the order of their upload';
comment on column campaign_rows.content is 'The recipient, or why the row is none (Recipient.Row)';
comment on column campaign_rows.customer is 'The key of the customer''s contact; null if the row has none';
comment on column campaign_rows.message_id is 'The message to it, once it was checked; null with a problem';

create table campaign_queue (
  message_id text primary key,
  campaign_id text not null references campaigns on delete cascade,
  due_at bigint not null,
  tries amount not null default 0
);
create index campaign_queue_due on campaign_queue (campaign_id, due_at, message_id);
comment on table campaign_queue is
  'Messages of campaigns that are still to be sent. A hint: what was sent, the message and its key say';
comment on column campaign_queue.due_at is 'When it is sent next, or until when a process has taken it';

create table campaign_tallies (
  campaign_id text not null references campaigns on delete cascade,
  shard smallint not null,
  outcome text not null,
  recipients integer not null,
  primary key (campaign_id, shard, outcome)
);
comment on table campaign_tallies is
  'How many recipients of a campaign have which outcome, as sums over the shards, so that few writers share a row';
`
