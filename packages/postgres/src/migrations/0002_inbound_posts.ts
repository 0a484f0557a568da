/**
 * Tables of provider posts: stored before the response, processed afterwards. The rows that processing rewrites are
 * narrow; the bytes are separate and written once.
 *
 * There are no notifications. The process that stores a post knows of it and processes it, and a notification would
 * make every such commit wait for the previous one. Other processes poll every second for what a dead or stopped
 * process has left.
 */
export const sql = `
create table inbound_posts (
  provider text not null,
  digest bytea not null constraint inbound_posts_digest check (octet_length(digest) = 32),
  position bigint generated always as identity,
  size integer not null constraint inbound_posts_size check (size >= 0),
  received_at bigint not null,
  due_at bigint,
  token text,
  tries integer not null default 0,
  problem text constraint inbound_posts_problem check (problem in ('unreadable', 'storage', 'defect')),
  expires_at bigint,
  primary key (provider, digest),
  constraint inbound_posts_due_at check (due_at is not null or expires_at is not null),
  constraint inbound_posts_claim check (token is null or due_at is not null),
  constraint inbound_posts_tries check (tries >= 0 and (problem is null or tries > 0 and expires_at is not null))
);
create index inbound_posts_due on inbound_posts (provider, due_at, position) where due_at is not null;
create index inbound_posts_problems on inbound_posts (received_at) where problem is not null;
create index inbound_posts_expiry on inbound_posts (expires_at) where expires_at is not null;
comment on table inbound_posts is
  'What providers posted, by the SHA-256 of its bytes: what is posted again is known for as long as the row is there';
comment on column inbound_posts.position is 'The order of coming, for those that are due since the same millisecond';
comment on column inbound_posts.size is 'Bytes of its body, so that a claim takes no more of them than it may';
comment on column inbound_posts.tries is 'How often it has failed';
comment on column inbound_posts.due_at is
  'When it may be claimed, which a claim puts off to the end of its lease; null when it was processed or is unreadable';
comment on column inbound_posts.token is 'Of the claim under way, or of one whose lease has ended';
comment on column inbound_posts.problem is 'Why the last try failed; null again once it was processed';
comment on column inbound_posts.expires_at is
  'When it may be forgotten; null for one that was neither processed nor failed';
comment on index inbound_posts_problems is 'How many fail, and how many cannot be read';

create table inbound_post_bodies (
  provider text not null,
  digest bytea not null,
  body bytea not null,
  -- no foreign key: both rows are written in one step, and go in one
  primary key (provider, digest)
);
comment on table inbound_post_bodies is
  'The bytes as they came, also of what was processed: whatever we did not know is in them';
`
