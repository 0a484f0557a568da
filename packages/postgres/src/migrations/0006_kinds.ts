/**
 * Columns for every kind of message: references between messages, the provider's reports of prices and of playback, and
 * which of the customers' messages were marked as read under a key.
 */
export const sql = `
-- not validated: every word that was allowed before still is, and columns of lists stand in the way
alter domain event_type drop constraint event_type;
alter domain event_type add constraint event_type check ((value in ('message.sent', 'message.delivered',
  'message.read', 'message.failed', 'message.received', 'message.echoed', 'campaign.completed', 'webhook.test')) is true)
  not valid;

-- who wants every type wants a new one too
update webhooks set event_types = event_types || array['message.echoed']::event_type[]
  where event_types @> array['message.sent', 'message.delivered', 'message.read', 'message.failed', 'message.received',
    'campaign.completed', 'webhook.test']::event_type[];

alter table inbound_messages add column customer text;
create index inbound_messages_message on inbound_messages (message_id);
comment on table inbound_messages is
  'Which customers'' messages were recorded, so that each is recorded once, and that others can refer to them';
comment on column inbound_messages.customer is
  'Contact.keyFor who wrote it, or was written to from the business''s own phone; null in those of before';

alter table messages add column pricing json, add column played_at bigint;
comment on column messages.pricing is 'What upstream last told of its price (Message.Pricing); null if nothing';
comment on column messages.played_at is 'When a recording was listened to; upstream tells no more of it than that';

create table read_marks (
  workspace_id text not null,
  message_id text not null,
  key text not null,
  fingerprint text not null,
  expires_at bigint not null,
  primary key (workspace_id, message_id, key)
);
create index read_marks_expiry on read_marks (expires_at);
comment on table read_marks is
  'Idempotency keys of requests that marked a customer''s message as read: for 24 h the same request asks nobody';
comment on column read_marks.fingerprint is 'Of the request''s body: another one under the same key is a conflict';
`
