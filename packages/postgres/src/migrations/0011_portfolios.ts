/**
 * Portfolios of phone numbers, which share the messaging limit.
 */
export const sql = `
alter table phone_numbers add column portfolio_id text, add column limit_pool text;
update phone_numbers set limit_pool = provider || ':workspace:' || workspace_id;
create index phone_numbers_limit_pool on phone_numbers (limit_pool);
create index phone_numbers_portfolio on phone_numbers (workspace_id) where portfolio_id is not null;
comment on column phone_numbers.portfolio_id is
  'Upstream''s name for the business portfolio of the account, as the operator told it; null until then';
comment on column phone_numbers.limit_pool is
  'MessagingLimit.poolOf: numbers with the same share the messaging limit. Null in a row of an older version, whose '
  'number shares it with none until it is changed';
`
