/**
 * How far the deletion of what messages said has come.
 */
export const sql = `
create table forgotten_bodies (
  single boolean primary key default true constraint forgotten_bodies_single check (single),
  reached text not null
);
comment on table forgotten_bodies is 'At most one row. Its lock lets one process at a time delete what messages said';
comment on column forgotten_bodies.reached is 'The message up to which that was deleted, in the order of identifiers';
`
