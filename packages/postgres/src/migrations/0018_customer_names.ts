/**
 * Customers who are known by user id before their number.
 */
export const sql = `
alter table contacts add column is_user_first boolean not null default false, add column known_since bigint;
comment on column contacts.is_user_first is 'Whether its id is made of user_id, which was known before the number';
comment on column contacts.known_since is 'When the customer first appeared; null in rows of older versions';
`
