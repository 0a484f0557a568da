/**
 * The queue of callers' messages (contract §15), in the table of the queue of campaigns. The version before finds its
 * own part under the former name, as a view through which it also writes and locks.
 */
export const sql = `
-- not validated: every word that was allowed before still is
alter domain message_status drop constraint message_status;
alter domain message_status add constraint message_status check (
  value in ('queued', 'sending', 'unknown', 'sent', 'delivered', 'read', 'failed', 'skipped', 'cancelled')
) not valid;

alter table messages add column send_at bigint;
comment on column messages.send_at is 'The time before which it is not sent; null unless its caller queued it';
-- the key of a queued message keeps its answer, that it was queued, also while the message is sent
alter table messages drop constraint messages_claim;
alter table messages add constraint messages_claim check (
  case when claim_token is null then lease_until is null
    else lease_until is not null and expires_at is null and (answer is null or send_at is not null)
      and status <> 'unknown'
  end
) not valid;

alter table campaign_queue rename to send_queue;
alter table send_queue alter column campaign_id drop not null;
alter table send_queue
  add column phone_number_id text, add column workspace_id text, add column send_until bigint;
alter table send_queue add constraint send_queue_lane check (
  case when campaign_id is null then (phone_number_id, workspace_id, send_until) is not null
    else (phone_number_id, workspace_id, send_until) is null
  end
) not valid;
create index send_queue_lane on send_queue (phone_number_id, due_at, message_id) where phone_number_id is not null;
-- it is read from its low end, past the entries of what left it since the last visit
alter table send_queue set (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);
comment on table send_queue is
  'Messages of campaigns and of callers that are still to be sent. A hint: what was sent, the message and its key say';
comment on column send_queue.campaign_id is 'Null for a caller''s message';
comment on column send_queue.phone_number_id is
  'The lane of a caller''s message (send_lanes); null for a campaign''s. The number may be gone';
comment on column send_queue.workspace_id is 'Where it counts (queue_sizes); null for a campaign''s message';
comment on column send_queue.send_until is 'When it is not tried any more; null for a campaign''s message';

create view campaign_queue as
  select q.message_id, q.campaign_id, q.due_at, q.tries, q.time_zone from send_queue q where q.campaign_id is not null;
comment on view campaign_queue is 'For the version before: the messages of campaigns in send_queue';

create table send_lanes (
  phone_number_id text primary key,
  workspace_id text not null,
  work_at bigint,
  next_slot double precision not null default 0
);
create index send_lanes_work on send_lanes (work_at) where work_at is not null;
comment on table send_lanes is
  'The numbers from which callers queued messages, and when there is something to do for each. The number may be gone';
comment on column send_lanes.work_at is 'Null while nothing is queued';
comment on column send_lanes.next_slot is 'The first time at which the pace lets a message leave';

create table queue_sizes (
  workspace_id text not null,
  shard smallint not null,
  queued integer not null,
  primary key (workspace_id, shard)
);
comment on table queue_sizes is
  'How many messages of callers wait in send_queue, as sums over the shards, so that few writers share a row';

alter table heartbeats add column held_since bigint;
comment on column heartbeats.held_since is
  'Since when callers'' messages wait for a person, because the database was restored; null if they do not';

create table queue_releases (
  workspace_id text primary key,
  held_since bigint not null
);
comment on table queue_releases is 'Workspaces whose messages a person released, and from which heartbeats.held_since';
`
