/**
 * Tables. Names are the domain's. Every instant is a `bigint` of milliseconds since the epoch (UTC), as in the domain,
 * so that a rule compares numbers and never asks the database for the time.
 *
 * A table is keyed by its workspace or leads to it, except for a few (docs/decisions/0006-postgresql.md). Rows that
 * change often are narrow.
 *
 * Tables that a send writes have no foreign keys: each row refers to one that the same step has just read or written,
 * and checking them again cost a fifth of a send's time.
 */

export const sql = `
-- What columns may hold, where that is a matter of one column. Domains, not checks of the tables: those are read anew,
-- from their text, by every statement that writes.
create domain message_status as text constraint message_status
  check (value in ('queued', 'sending', 'unknown', 'sent', 'delivered', 'read', 'failed'));
-- null is refused too: a list of them might hold it
create domain event_type as text constraint event_type check ((value in ('message.sent', 'message.delivered',
  'message.read', 'message.failed', 'message.received', 'campaign.completed', 'webhook.test')) is true);
create domain envelope as text constraint envelope check (value in ('combined', 'a', 'b'));
create domain delivery_status as text constraint delivery_status
  check (value in ('pending', 'testing', 'delivered', 'exhausted', 'skipped'));
create domain attempt_trigger as text constraint attempt_trigger
  check (value in ('automatic', 'manual', 'replay', 'test', 'probe'));
create domain attempt_outcome as text constraint attempt_outcome
  check (value in ('delivered', 'dns', 'connect', 'tls', 'timeout', 'status', 'redirect', 'blocked_address'));
create domain block_reason as text constraint block_reason
  check (value in ('quality', 'restricted', 'credentials', 'registration', 'payment', 'display_name'));
create domain block_scope as text constraint block_scope check (value in ('all', 'outside_window'));
create domain tally as smallint constraint tally check (value >= 0);
create domain ordinal as smallint constraint ordinal check (value > 0);
create domain amount as integer constraint amount check (value >= 0);
create domain seal_nonce as bytea constraint seal_nonce check (octet_length(value) = 12);
create domain seal_ciphertext as bytea constraint seal_ciphertext check (octet_length(value) >= 16);
comment on domain event_type is
  'A closed list: who adds a type adds it here, so that no reader meets one that it cannot read';
comment on domain tally is 'How many, of few';
comment on domain ordinal is 'The how-manieth, from 1';
comment on domain amount is 'How many';
comment on domain seal_nonce is 'Of AES-256-GCM; used once';
comment on domain seal_ciphertext is 'Of AES-256-GCM, the tag of 16 bytes at its end';

create table peppers (
  single boolean primary key default true constraint peppers_single check (single),
  key_id text not null,
  nonce seal_nonce not null,
  ciphertext seal_ciphertext not null
);
comment on table peppers is 'The one pepper of API key hashes, wrapped under the master key';
comment on column peppers.key_id is
  'Which master key it is wrapped under, as everywhere beside a nonce and a ciphertext';

create table workspaces (
  id text primary key,
  name text not null,
  created_at bigint not null,
  tier text,
  monthly_quota amount,
  suspended boolean not null default false,
  -- where accept leaves the workspace's rate limit; on this row because accept locks it anyway
  bucket_full_at double precision not null default 0
);
comment on table workspaces is 'Tenants. accept locks the row, which makes everything it judges atomic';
comment on column workspaces.tier is 'Belongs to the operator; null is the default of the limits in force';
comment on column workspaces.monthly_quota is 'As the tier';
comment on column workspaces.bucket_full_at is 'Rate limit: when the bucket is full again (ms); see RateLimit.ts';

create table members (
  user_id text primary key,
  workspace_id text not null references workspaces,
  email text not null unique constraint members_email check (email = lower(email)),
  password_hash text not null,
  role text not null constraint members_role check (role in ('member', 'developer', 'admin', 'owner')),
  created_at bigint not null
);
create index members_workspace on members (workspace_id);
comment on table members is 'Who may use the dashboard of a workspace, where accounts are ours';
comment on column members.email is 'In small letters: one account, however it is written';

create table sessions (
  token_hash text primary key,
  user_id text not null references members on delete cascade,
  created_at bigint not null,
  idle_until bigint not null,
  absolute_until bigint not null,
  constraint sessions_ends check (idle_until <= absolute_until)
);
create index sessions_ended on sessions (absolute_until);
create index sessions_member on sessions (user_id);
comment on table sessions is 'Dashboard sessions; only the hash of the token is kept';
comment on column sessions.idle_until is 'Moves on with use; the session is over from then on, or from absolute_until';

create table phone_numbers (
  id text primary key,
  workspace_id text not null references workspaces,
  provider text not null,
  phone_number text not null,
  provider_number_id text not null unique,
  provider_account_id text not null,
  tier text,
  messaging_limit amount,
  available boolean not null default true,
  is_default boolean not null default false,
  bucket_full_at double precision not null default 0,
  customers_counted amount not null default 0,
  block_reason block_reason,
  block_scope block_scope,
  blocked_since bigint,
  blocked_until bigint,
  block_provider json,
  learned_tier text,
  learned_messaging_limit amount,
  learned_quality text,
  credentials_version text,
  block_told_at bigint,
  tier_told_at bigint,
  messaging_limit_told_at bigint,
  quality_told_at bigint,
  unique (workspace_id, phone_number),
  constraint phone_numbers_block check (
    case when block_reason is null then (block_scope, blocked_since, blocked_until, block_provider) is null
      else (block_scope, blocked_since, block_told_at) is not null
    end
  )
);
comment on column phone_numbers.tier is
  'The operator''s, as messaging_limit and available are; learned_… are upstream''s words';
comment on column phone_numbers.customers_counted is
  'How many of its buckets have counted_at, so that accept need not count';
comment on column phone_numbers.blocked_until is 'Null in a block that has no end of its own';
create unique index phone_numbers_default on phone_numbers (workspace_id, provider) where is_default;
create index phone_numbers_account on phone_numbers (provider_account_id);
comment on table phone_numbers is
  'The numbers that workspaces send from: the operator''s settings, upstream''s words, and what sends have spent';
comment on column phone_numbers.bucket_full_at is 'Rate limit, as workspaces.bucket_full_at';
comment on column phone_numbers.provider is
  'Who it and its account are with (Provider.name): nothing is sent from it while another one runs';
comment on column phone_numbers.is_default is 'Used by sends that name no number, while its provider runs';
comment on column phone_numbers.provider_number_id is 'Upstream''s name for it, which its posts are matched by';
comment on column phone_numbers.provider_account_id is
  'Upstream''s name for the account that the number and its templates belong to';
comment on column phone_numbers.messaging_limit is 'Customers who may be written to outside of a window in 24 h';
comment on column phone_numbers.block_reason is 'Why upstream does not let it send (SenderBlock); null without a block';
comment on column phone_numbers.blocked_since is 'When a block of this reason was first told';
comment on column phone_numbers.block_told_at is
  'Upstream''s time of its last word on the block, as tier_told_at, messaging_limit_told_at and quality_told_at are: '
  'an older word that comes later changes nothing. Null: it never spoke of it';
comment on column phone_numbers.block_scope is
  'What upstream''s block stops: all, or what is outside of a service window';
comment on column phone_numbers.block_provider is 'Upstream''s code and words for the block';
comment on column phone_numbers.credentials_version is
  'Changes with phone_number_credentials, so that a process knows its copy is old';

create table phone_number_credentials (
  phone_number_id text primary key references phone_numbers on delete cascade,
  key_id text not null,
  nonce seal_nonce not null,
  ciphertext seal_ciphertext not null,
  base_url text,
  api_version text
);
create index phone_number_credentials_master_key on phone_number_credentials (key_id, phone_number_id);
comment on table phone_number_credentials is
  'Access tokens of numbers that have one of their own. Apart from phone_numbers, which every send reads and writes';

create table buckets (
  key text primary key,
  full_at double precision not null,
  phone_number_id text,
  counted_at bigint,
  constraint buckets_counted_at check (counted_at is null or phone_number_id is not null)
);
create index buckets_full on buckets (full_at) where counted_at is null;
create index buckets_counted on buckets (phone_number_id, counted_at) where counted_at is not null;
comment on table buckets is
  'Rate limits that are no column elsewhere: pairs, sign-ins. A full bucket (full_at in the past) may go. That of a '
  'pair also tells whether the customer counts against the number''s messaging limit: a send reads and writes both '
  'together';
comment on column buckets.key is
  'pair:<phone number id>:<customer>, or login: and the account or address that somebody signs in with or from';
comment on column buckets.full_at is
  'When it is full again (ms): each token that is taken moves that on; see RateLimit.ts';
comment on column buckets.phone_number_id is 'Of a pair';
comment on column buckets.counted_at is
  'When the customer of a pair was last written to outside a window: those of the last 24 h count; null when not, or '
  'once it is known to be longer ago';
comment on index buckets_full is 'Those that may go';
comment on index buckets_counted is 'Who may be let go of';

create table api_keys (
  id text primary key,
  workspace_id text not null references workspaces,
  name text not null,
  prefix text not null,
  scopes text[] not null constraint api_keys_scopes check (scopes <@ '{messages:send}'),
  token_hash text not null unique,
  secret_key_id text not null,
  secret_nonce seal_nonce not null,
  secret_ciphertext seal_ciphertext not null,
  require_signature boolean not null,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint
);
create index api_keys_workspace on api_keys (workspace_id, id desc);
create index api_keys_master_key on api_keys (secret_key_id, id);
comment on index api_keys_master_key is
  'What a change of the master key has to seal anew, as those of phone_number_credentials and webhook_secrets';
comment on table api_keys is 'Keys of callers of the API: live, expired and revoked ones';
comment on column api_keys.prefix is 'The beginning of the token, which people know it by';
comment on column api_keys.token_hash is 'HMAC under the pepper; the token itself is never kept';
comment on column api_keys.secret_ciphertext is 'Signing secret, AES-256-GCM under the master key, bound to the row id';
comment on column api_keys.require_signature is 'Whether requests that change something must be signed';

create table api_key_uses (
  api_key_id text primary key references api_keys on delete cascade,
  last_used_at bigint not null
);
comment on table api_key_uses is 'Apart from api_keys: written every few seconds, while the key''s row hardly changes';

create table api_key_requests (
  workspace_id text not null references workspaces,
  idempotency_key text not null,
  fingerprint text not null,
  api_key_id text not null references api_keys on delete cascade,
  expires_at bigint not null,
  primary key (workspace_id, idempotency_key)
);
create index api_key_requests_expiry on api_key_requests (expires_at);
comment on table api_key_requests is
  'Idempotency keys of requests for new API keys; for 24 h the same request gets the same key';
comment on column api_key_requests.fingerprint is
  'Of the request''s body: another one under the same key is a conflict';
comment on column api_key_requests.api_key_id is 'What the first request made';

create table templates (
  id text primary key,
  workspace_id text not null references workspaces,
  provider_account_id text not null,
  name text not null,
  language text not null,
  category text not null,
  status text not null,
  parameter_format text not null
    constraint templates_parameter_format check (parameter_format in ('positional', 'named')),
  components json not null,
  variables text[] not null,
  unfillable text,
  quality text,
  rejection_reason text,
  provider_template_id text not null,
  synced_at bigint not null,
  told jsonb not null default '{}',
  unique (workspace_id, provider_account_id, name, language)
);
comment on table templates is 'Message templates as upstream lists and changes them';
comment on column templates.category is
  'Upstream''s word in lower case, as status and quality are; one that is unknown is kept';
comment on column templates.variables is 'What a send has to give values for, in order';
comment on column templates.unfillable is 'Why a send cannot give it all that it needs; null when it can';
comment on column templates.synced_at is 'When the listing began that it was last in';
comment on column templates.told is 'When upstream told each of its fields, where that was not before the listing';

create table contacts (
  workspace_id text not null references workspaces,
  phone_number_id text not null references phone_numbers,
  key text not null,
  phone text,
  user_id text,
  last_inbound_at bigint,
  opted_out boolean not null default false,
  preference_at bigint,
  primary key (phone_number_id, key),
  constraint contacts_customer check (phone is not null or user_id is not null),
  constraint contacts_preference check (not opted_out or preference_at is not null)
);
create index contacts_list on contacts (workspace_id, phone_number_id, key) where key > '';
create unique index contacts_user on contacts (phone_number_id, user_id) where user_id is not null;
comment on table contacts is
  'Customers, as seen from one number: whether they have written, and whether they want to be written to';
comment on column contacts.user_id is 'Upstream''s name for who hides the phone number';
comment on column contacts.phone is 'As upstream writes it; null while the customer hides it';
comment on index contacts_list is 'Of part of the rows in name only: so no plan looks one customer up in it';
comment on column contacts.preference_at is 'When the customer last said whether they want to be written to';
comment on column contacts.key is 'Contact.keyFor; the customer of pair buckets is the same';
comment on column contacts.last_inbound_at is
  'Opens the 24-hour service window; the message''s own time, never in the future';

create table inbound_messages (
  workspace_id text not null,
  phone_number_id text not null references phone_numbers,
  provider_message_id text not null,
  message_id text not null,
  expires_at bigint not null,
  primary key (phone_number_id, provider_message_id)
);
create index inbound_messages_expiry on inbound_messages (expires_at);
comment on table inbound_messages is 'Which customers'' messages were recorded, so that each is recorded once';
comment on column inbound_messages.message_id is 'Our name for it, which its event tells';
comment on column inbound_messages.expires_at is 'Upstream does not post it again after that';

create table quota_usage (
  workspace_id text not null,
  month text not null,
  used amount not null,
  primary key (workspace_id, month)
);
comment on table quota_usage is
  'Messages that count against a workspace''s monthly quota; what was certainly not sent is given back';
comment on column quota_usage.month is 'Quota.monthOf: YYYY-MM, UTC';

create table messages (
  id text primary key,
  workspace_id text not null,
  api_key_id text not null,
  phone_number_id text not null,
  from_number text not null,
  content json not null,
  status message_status not null,
  status_at bigint not null,
  provider_message_id text,
  created_at bigint not null,
  sent_at bigint,
  delivered_at bigint,
  read_at bigint,
  failed_at bigint,
  error json,
  delivery_unknown boolean not null default false,
  sequence tally not null default 0,
  quota_month text,
  -- the idempotency key, until it is forgotten
  route text,
  key text,
  fingerprint text,
  claim_token text,
  lease_until bigint,
  answer json,
  last_failure json,
  expires_at bigint,
  -- what the last try changed, for abandon to take back
  tried_before bigint,
  counted_at bigint,
  counted_before bigint,
  -- the provider's id is not asked for: a report that finds its message by our reference may bring none
  constraint messages_life check (
    case status
      when 'sent' then sent_at
      when 'delivered' then delivered_at
      when 'read' then read_at
      when 'failed' then failed_at
      else status_at
    end is not null
  ),
  constraint messages_failure check (status = 'failed' or failed_at is null and not delivery_unknown),
  constraint messages_binding check (
    case when key is null
      then (route, fingerprint, claim_token, answer, last_failure, expires_at) is null
      else (route, fingerprint) is not null
    end
  ),
  constraint messages_claim check (
    case when claim_token is null then lease_until is null
      else lease_until is not null and (answer, expires_at) is null and status <> 'unknown'
    end
  )
  -- room on the same page for what settle writes anew: no index knows of what that changes, so none is written
) with (fillfactor = 50);
create unique index messages_key on messages (workspace_id, route, key) where key is not null;
create index messages_list on messages (workspace_id, id) where id > '';
create index messages_reference on messages (workspace_id, (content->>'clientReference'), id)
  where content->>'clientReference' is not null;
comment on table messages is
  'A message, and the idempotency key that it was sent under: one row, since a send reads and writes them together';
comment on column messages.content is 'What the caller asked for (Message.OutboundMessage)';
comment on column messages.status is
  'A message goes up through sending, unknown, sent, delivered and read, or fails (Message.apply)';
comment on column messages.status_at is 'When it came to this status; deadlines of sending and unknown count from it';
comment on column messages.provider_message_id is
  'Upstream''s name, the first if it was given two; null also in one that was reported on without it';
comment on column messages.sent_at is
  'As upstream reports it, or by our clock where we know it ourselves, as delivered_at, read_at and failed_at are; '
  'none is before the step before it';
comment on column messages.error is 'Why it failed (Message.MessageError)';
comment on column messages.sequence is 'Of its last event; the next has one more';
comment on column messages.route is
  'With key and fingerprint the idempotency key and what was asked under it, until forgotten';
comment on column messages.claim_token is 'Whose try it is, until lease_until; only its owner settles or abandons it';
comment on column messages.expires_at is 'When its key is forgotten; null while the send has no end';
comment on column messages.last_failure is
  'What the last try was told, if it certainly sent nothing; those who waited for its end get that too';
comment on column messages.delivery_unknown is
  'Failed by our conclusion from silence, which alone yields to a later report';
comment on column messages.quota_month is 'The month whose quota it was counted in; null once given back';
comment on column messages.answer is
  'Null also where the message itself tells the answer (Idempotency.settledByReport)';
comment on column messages.tried_before is 'When the try before ended; null at the first';
comment on column messages.counted_at is 'When the last try was noted as buckets.counted_at; null when it was not';
comment on column messages.counted_before is 'What buckets.counted_at was before that';
comment on index messages_list is
  'Of part of the rows in name only: so no plan that is made while the table is small looks a key up in it, and reads '
  'all of a workspace';

create table message_deadlines (
  due_at bigint not null,
  id bigint generated always as identity,
  workspace_id text not null,
  message_ids text[] not null,
  primary key (due_at, workspace_id, id)
);
comment on table message_deadlines is
  'When to look whether silence, or a key''s age, means something: at or before Send.deadlineOf of each message. Whoever '
  'gives a message an earlier one adds a row; that it has a later one only who looks finds out. So a send writes one '
  'row for all of its batch, and settle none';
comment on column message_deadlines.id is 'Tells apart what is due at the same time';

create table message_names (
  provider_message_id text primary key,
  message_id text not null
);
comment on table message_names is
  'Which message a provider''s name is of. The first to bear it keeps it; a message may have been given two';

create sequence positions;
select setval('positions', 1);
comment on sequence positions is 'Places of events and deliveries, in the order of writing. Who draws one has announced it before (Places)';

create table events (
  id text primary key,
  workspace_id text not null,
  type event_type not null,
  created_at bigint not null,
  order_key text,
  sequence ordinal,
  data json not null,
  position bigint not null default nextval('positions'),
  constraint events_order check ((order_key is null) = (sequence is null)),
  unique (order_key, sequence)
);
create index events_list on events (workspace_id, type, position);
create index events_time on events (workspace_id, created_at);
comment on table events is 'What happened, as it is told: written once, in the step that made it so';
comment on column events.order_key is 'The message: events of one are delivered in the order of sequence';
comment on column events.sequence is 'From 1 in each message; null, as order_key, of an event in no order';
comment on column events.data is 'json, not jsonb: the order of fields is part of the signed body';
comment on column events.position is
  'Lists are in this order; identifiers are made before the transaction, and would skip the events of a slow one';
comment on index events_list is 'By type, so that a rare one is found among many others';
comment on index events_time is 'Where a list since a time begins';

create table webhooks (
  id text primary key,
  workspace_id text not null unique references workspaces,
  url text not null,
  envelope envelope not null,
  event_types event_type[] not null,
  created_at bigint not null,
  updated_at bigint not null,
  paused_at bigint,
  resumed_at bigint,
  skipped_until bigint not null default 0,
  replayed_from bigint
);
create index webhooks_paused on webhooks (id) where paused_at is not null;
comment on table webhooks is 'Configuration and state, read with every event: pausing or resuming rewrites no delivery';
comment on index webhooks_paused is 'Counted for whoever runs the service';
comment on column webhooks.envelope is 'The shape of what is posted (Event.body)';
comment on column webhooks.paused_at is 'Null while it is active';
comment on column webhooks.resumed_at is
  'Whatever was pending then is its backlog, and starts a new round with its next attempt';
comment on column webhooks.skipped_until is 'A place: what is pending up to there is skipped';
comment on column webhooks.replayed_from is
  'While skipped rows are still to be written (webhook_skips): what is older is skipped, and need not be gone through';

create table webhook_health (
  webhook_id text primary key references webhooks on delete cascade,
  consecutive_failures amount not null default 0,
  failures_since bigint,
  last_failure_at bigint,
  last_failure_message text,
  last_success_at bigint,
  slow_at bigint,
  last_attempt_at bigint,
  recovered_at bigint,
  ready_at bigint,
  doubtful boolean not null,
  slots smallint not null,
  opens_at bigint,
  slots_taken boolean not null default false,
  changes bigint not null default 0,
  constraint webhook_health_failures_since check ((consecutive_failures = 0) = (failures_since is null)),
  constraint webhook_health_last_failure check ((last_failure_at is null) = (last_failure_message is null)),
  constraint webhook_health_slow_at check (slow_at is null or coalesce(slow_at <= last_success_at, false))
) with (fillfactor = 50);
create index webhook_health_ready on webhook_health (doubtful, ready_at) where ready_at is not null;
create index webhook_health_failing on webhook_health (webhook_id) where opens_at is not null;
comment on table webhook_health is
  'What attempts have told of a receiver; apart from webhooks, since every attempt writes it';
comment on column webhook_health.failures_since is 'When the first of the failures in a row ended';
comment on column webhook_health.slow_at is 'When the last slow success ended';
comment on column webhook_health.recovered_at is
  'When its last run of failures ended: retries from before that are due at once';
comment on column webhook_health.ready_at is
  'Its place in line: nothing of it can be claimed before, as far as is recorded here (see ClaimDue)';
comment on column webhook_health.doubtful is 'Webhook.standing: healthy ones and others stand in lines of their own';
comment on column webhook_health.slots is 'Webhook.slots: how many attempts may be in flight at once';
comment on column webhook_health.opens_at is
  'Webhook.nextSlotAt: when a failing one may get its next attempt; null while it is not failing';
comment on column webhook_health.slots_taken is 'Whether what is due may have to wait for an attempt in flight to end';
comment on column webhook_health.changes is 'Grows with each change that a claim, which does not lock, may have missed';

create table webhook_drains (
  webhook_id text primary key,
  next_at bigint not null
);
comment on table webhook_drains is
  'When more of a backlog may be attempted. Only claims write it, one after the other, so that its rate is exact';

create table webhook_skips (
  webhook_id text not null,
  until bigint not null,
  skipped_at bigint not null,
  created_before bigint not null,
  tidied_until bigint not null default 0,
  primary key (webhook_id, until)
);
comment on table webhook_skips is
  'Whose pending deliveries up to a place a resume or a removal has skipped: they may be a million, so they are '
  'written in the background, and the row goes when they are';
comment on column webhook_skips.created_before is 'Nothing that it skips was recorded later';
comment on column webhook_skips.until is 'A place, as webhooks.skipped_until; the greatest number after a removal';
comment on column webhook_skips.tidied_until is 'Up to this time of recording they have been written';

create table webhook_secrets (
  webhook_id text not null references webhooks on delete cascade,
  position smallint not null,
  key_id text not null,
  nonce seal_nonce not null,
  ciphertext seal_ciphertext not null,
  expires_at bigint,
  primary key (webhook_id, position),
  constraint webhook_secrets_newest check (position >= 0 and (position = 0) = (expires_at is null))
);
create index webhook_secrets_master_key on webhook_secrets (key_id, webhook_id);
comment on table webhook_secrets is
  'Signing secrets, AES-256-GCM under the master key, bound to the webhook; several live during a rotation';
comment on column webhook_secrets.position is '0 is the newest, and has no expires_at';
comment on column webhook_secrets.expires_at is 'Until then it signs beside the newest';

create table deliveries (
  id text not null,
  workspace_id text not null,
  -- no foreign key: deliveries outlive a webhook that was removed
  webhook_id text not null,
  event_id text not null,
  event_type text not null,
  envelope envelope not null,
  order_key text,
  sequence ordinal,
  status delivery_status not null,
  trigger attempt_trigger not null default 'automatic',
  attempt_count smallint not null default 0,
  round_attempts smallint not null default 0,
  first_attempt_at bigint,
  last_attempt_at bigint,
  next_attempt_at bigint,
  created_at bigint not null,
  completed_at bigint,
  position bigint not null default nextval('positions'),
  resumed_at bigint not null default 0,
  primary key (workspace_id, id),
  constraint deliveries_order check ((order_key is null) = (sequence is null)),
  constraint deliveries_completed_at check ((status in ('pending', 'testing')) = (completed_at is null)),
  constraint deliveries_next_attempt_at check (status = 'pending' or next_attempt_at is null),
  constraint deliveries_delivered check (status <> 'delivered' or round_attempts > 0),
  constraint deliveries_attempts check (
    round_attempts between 0 and attempt_count
      and (round_attempts = 0) = (first_attempt_at is null) and (attempt_count = 0) = (last_attempt_at is null)
  )
) with (fillfactor = 70);
create index deliveries_first on deliveries (webhook_id, next_attempt_at)
  where status = 'pending' and next_attempt_at is not null and round_attempts = 0 and trigger <> 'replay';
create index deliveries_replayed on deliveries (webhook_id, next_attempt_at)
  where status = 'pending' and next_attempt_at is not null and round_attempts = 0 and trigger = 'replay';
create index deliveries_retry on deliveries (webhook_id, resumed_at, next_attempt_at)
  where status = 'pending' and next_attempt_at is not null and round_attempts > 0;
create index deliveries_recovered on deliveries (webhook_id, last_attempt_at)
  where status = 'pending' and next_attempt_at is not null and round_attempts > 0;
create index deliveries_tried on deliveries (webhook_id, resumed_at, first_attempt_at)
  where status = 'pending' and round_attempts > 0;
create index deliveries_arrived on deliveries (position)
  where status = 'pending' and next_attempt_at is not null and round_attempts = 0;
create index deliveries_order on deliveries (order_key, sequence) where status = 'pending' and order_key is not null;
create index deliveries_open on deliveries (webhook_id, created_at, id) where status = 'pending';
create index deliveries_testing on deliveries (webhook_id) where status = 'testing';
create index deliveries_exhausted on deliveries (workspace_id, id) where status = 'exhausted';
create index deliveries_ended on deliveries (webhook_id, created_at, id)
  where status in ('delivered', 'exhausted', 'skipped');
comment on table deliveries is 'An event on its way to a webhook; the event''s body is in events, attempts in attempts';
comment on column deliveries.envelope is 'The webhook''s when the event was recorded';
comment on column deliveries.order_key is
  'As the event''s, with sequence: a copy, so that followers are found without it';
comment on column deliveries.status is
  'pending also while its webhook is paused (held), and until what was skipped is written out (webhook_skips); '
  'testing: a test that is being made, which is shown as pending and is never due';
comment on column deliveries.next_attempt_at is
  'null while a predecessor of the same order key is on its way, and at the end';
comment on column deliveries.trigger is 'What its present round was begun by; a round is one run of the retry schedule';
comment on column deliveries.attempt_count is 'Attempts that have ended, over all rounds';
comment on column deliveries.round_attempts is 'Attempts of the present round, which began at first_attempt_at';
comment on column deliveries.last_attempt_at is 'When the last attempt ended, of whatever round';
comment on column deliveries.position is 'Tells a claimer what has appeared since its last look';
comment on column deliveries.resumed_at is
  'The resume after which its round began, 0 before any: of the retries that are not backlog it is the webhook''s';
comment on index deliveries_first is 'Due, not attempted in its round; per webhook, since webhooks take turns';
comment on index deliveries_replayed is 'The same of replay jobs, which must not be gone through for what is new';
comment on index deliveries_retry is 'To be tried again';
comment on index deliveries_recovered is 'To be tried again, by the last attempt: what a recovery brings forward';
comment on index deliveries_tried is
  'For the warning when a webhook will be paused, and what a resumed one had tried before';
comment on index deliveries_arrived is 'What has appeared since a claimer''s last look';
comment on index deliveries_order is 'Who waits for whom';
comment on index deliveries_ended is 'What a replay covers, oldest first';
comment on index deliveries_open is 'What is held or to be skipped, and lists of what is pending';

create table delivery_claims (
  webhook_id text not null,
  delivery_id text not null,
  workspace_id text not null,
  token text not null,
  lease_until bigint not null,
  backlog boolean not null default false,
  primary key (webhook_id, delivery_id)
);
comment on table delivery_claims is
  'Who attempts what, apart from deliveries so that a claim rewrites none of them; a claim stays after its lease until '
  'somebody else claims';
comment on column delivery_claims.token is 'Of whoever claimed; only they record the attempt or give the claim back';
comment on column delivery_claims.backlog is
  'Whether it takes one of the few places that the webhook''s backlog has at once';

create table attempts (
  delivery_id text not null,
  number ordinal not null,
  id text not null,
  workspace_id text not null,
  trigger attempt_trigger not null,
  started_at bigint not null,
  duration_ms integer not null,
  outcome attempt_outcome not null,
  status_code smallint,
  message text not null,
  url text not null,
  address text,
  timings json,
  response json,
  retry_after_ms bigint,
  -- no foreign key: one step writes both, and to have every row looked up again costs a tenth of it
  primary key (delivery_id, number),
  constraint attempts_delivered check ((outcome <> 'delivered' or status_code = 200) is true)
);
comment on table attempts is 'Posts to a receiver and what came of each; written once';
comment on column attempts.trigger is 'Why it was made, as deliveries.trigger';
comment on column attempts.number is 'From 1, over all rounds';
comment on column attempts.outcome is 'delivered, or what failed; status is any answer but 200';
comment on column attempts.status_code is 'Null when no answer began';
comment on column attempts.url is 'The webhook''s at that time';
comment on column attempts.retry_after_ms is 'What the receiver asked for';
comment on column attempts.address is 'What it connected to; null when it came to no connection';
comment on column attempts.timings is 'Milliseconds of each phase that took place (Delivery.AttemptTimings)';
comment on column attempts.response is 'Headers and the first 16 KiB of what was answered';
comment on column attempts.message is 'The diagnosis in one sentence';

create table replays (
  id text primary key,
  workspace_id text not null references workspaces,
  webhook_id text not null,
  since bigint not null,
  until bigint not null,
  status text constraint replays_status check (status in ('delivered', 'exhausted', 'skipped')),
  state text not null default 'running' constraint replays_state check (state in ('running', 'completed', 'cancelled')),
  total amount,
  replayed amount not null default 0,
  created_at bigint not null,
  completed_at bigint,
  reached_at bigint not null,
  reached_id text not null default '',
  step_at bigint not null,
  constraint replays_completed_at check ((state = 'running') = (completed_at is null)),
  constraint replays_total check (state <> 'completed' or total is not null and total = replayed)
) with (fillfactor = 50);
create index replays_list on replays (workspace_id, id);
create index replays_due on replays (step_at) where state = 'running';
comment on table replays is 'Jobs that have deliveries attempted again';
comment on column replays.status is 'Covers those that have ended so; null: all that have ended';
comment on column replays.since is 'Covers what was recorded from then on, and before until';
comment on column replays.total is 'How many it covers; null while that is not known';
comment on column replays.replayed is 'How many have begun a new round';
comment on column replays.reached_at is 'With reached_id the last delivery looked at, in the order of deliveries_ended';
comment on column replays.step_at is 'When the next step is due';
`
