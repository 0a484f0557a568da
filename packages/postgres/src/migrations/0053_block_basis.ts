/**
 * What a number's block rests on, without which neither a later report of its restriction nor its alert can tell whether
 * the provider gave its end. Only restrictions have such ends.
 */
export const sql = `
create domain block_basis as text constraint block_basis check (value in ('send', 'report', 'term'));
alter table phone_numbers add column block_basis block_basis;
update phone_numbers set block_basis = 'term'
where block_reason = 'restricted' and blocked_until > block_told_at + 3600000;
comment on column phone_numbers.block_basis is
  'SenderBlockBasis. Null in a block that the version before wrote, which lifts a block without it: a report';
`
