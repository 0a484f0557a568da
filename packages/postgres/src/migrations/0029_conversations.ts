/**
 * Conversations: which messages were sent to a customer, and what the customer wrote.
 */
export const sql = `
create table conversations (
  message_id text primary key,
  workspace_id text not null,
  phone_number_id text not null,
  customer text not null,
  is_inbound boolean not null,
  received json,
  said json,
  constraint conversations_received check (is_inbound = (received is not null))
);
create index conversations_list on conversations (workspace_id, customer, is_inbound, message_id);
create index conversations_inbound on conversations (workspace_id, message_id) where is_inbound;
create index conversations_received on conversations (message_id) where is_inbound;
comment on table conversations is
  'A message of a conversation: one of the table messages, or one from the customer. A table of its own, so that neither sends nor reports maintain the index of customers in messages';
comment on column conversations.customer is
  'Contact.key of the customer at the time; a contact''s conversation is found under all of its names';
comment on column conversations.received is
  'ReceivedMessage, without what the other columns say; null if it was sent, as it is in messages then';
comment on column conversations.said is 'Content and context of what was received; null once that was deleted';
comment on index conversations_received is 'What customers wrote is deleted by its age, however much was sent meanwhile';

alter table forgotten_bodies add column received text not null default '';
comment on column forgotten_bodies.received is 'The same for what customers wrote';
`
