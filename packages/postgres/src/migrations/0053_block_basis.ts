/**
 * What a number's block rests on, without which neither a later report of its restriction nor its alert can tell whether
 * the provider gave its end. Only restrictions have such ends. The version before, which may run beside this one, changes
 * a block and leaves its basis, so the end of the block that a basis belongs to is stored with it.
 */
export const sql = `
create domain block_basis as text constraint block_basis check (value in ('send', 'report', 'term'));
alter table phone_numbers add column block_basis block_basis, add column block_basis_until bigint;
update phone_numbers set block_basis = 'term', block_basis_until = blocked_until
where block_reason = 'restricted' and blocked_until > block_told_at + 3600000;
comment on column phone_numbers.block_basis is
  'SenderBlockBasis of the block whose blocked_until is block_basis_until. Any other block, which the version before wrote, rests on a report';
comment on column phone_numbers.block_basis_until is 'blocked_until as it was written with block_basis';
`
