/**
 * Functions that statements of messages share: the time, and models of the core as JSON.
 */
export const sql = `
-- StorageTime: the time that instants are judged at which processes share. Commands bring one of their own (now) in
-- tests only. Who waits for locks reads it behind them.
create function wac_now() returns bigint
language sql volatile
return floor(extract(epoch from clock_timestamp()) * 1000)::bigint;

-- PhoneNumber.PhoneNumber
create function wac_phone_number(p phone_numbers) returns json
language sql stable
return json_build_object(
  'id', (p).id,
  'workspaceId', (p).workspace_id,
  'provider', (p).provider,
  'phoneNumber', (p).phone_number,
  'providerNumberId', (p).provider_number_id,
  'providerAccountId', (p).provider_account_id,
  'tier', (p).tier,
  'messagingLimit', (p).messaging_limit,
  'available', (p).available,
  'block', case when (p).block_reason is not null then json_build_object(
    'reason', (p).block_reason,
    'scope', (p).block_scope,
    'since', (p).blocked_since,
    'until', (p).blocked_until,
    'provider', (p).block_provider
  ) end,
  'learned', json_build_object(
    'tier', (p).learned_tier,
    'messagingLimit', (p).learned_messaging_limit,
    'quality', (p).learned_quality
  ),
  'credentialsVersion', (p).credentials_version,
  'isDefault', (p).is_default
);

-- Template.Template
create function wac_template(t templates) returns json
language sql stable
return json_build_object(
  'id', (t).id,
  'workspaceId', (t).workspace_id,
  'providerAccountId', (t).provider_account_id,
  'providerTemplateId', (t).provider_template_id,
  'name', (t).name,
  'language', (t).language,
  'category', (t).category,
  'status', (t).status,
  'parameterFormat', (t).parameter_format,
  'components', (t).components,
  'variables', (t).variables,
  'unfillable', (t).unfillable,
  'quality', (t).quality,
  'rejectionReason', (t).rejection_reason,
  'syncedAt', (t).synced_at
);

-- Contact.Contact
create function wac_contact(c contacts) returns json
language sql stable
return json_build_object(
  'workspaceId', (c).workspace_id,
  'phoneNumberId', (c).phone_number_id,
  'key', (c).key,
  'customer', json_build_object('phone', (c).phone, 'userId', (c).user_id),
  'lastInboundAt', (c).last_inbound_at,
  'optedOut', (c).opted_out,
  'preferenceAt', (c).preference_at
);

`
