/**
 * The words of a workspace by which customers opt out, and opt-outs that belong to names rather than contacts: those
 * that a person or a program set, and those of customers who were erased. Opt-outs in `contacts` stay there.
 */
export const sql = `
create table opt_out_words (
  workspace_id text primary key references workspaces,
  stop_words text[] not null,
  start_words text[] not null,
  removed text[] not null
);
comment on table opt_out_words is 'What a workspace changes of the default words; no row if nothing';

create table suppressions (
  workspace_id text not null references workspaces,
  hash text not null,
  phone_number_id text not null,
  opted_out boolean not null,
  name text,
  source text,
  at bigint,
  primary key (workspace_id, hash, phone_number_id),
  constraint suppressions_source check (source in ('customer', 'provider', 'api', 'person', 'import')),
  constraint suppressions_name check (name is null or (at is not null and source is not null))
);
create index suppressions_name on suppressions (workspace_id, name, phone_number_id) where name is not null;
comment on table suppressions is 'Opt-outs by a keyed hash of a customer''s name';
comment on column suppressions.phone_number_id is 'Empty for every number of the workspace';
comment on column suppressions.opted_out is 'False for a number that is excepted from an opt-out for every number';
comment on column suppressions.name is 'Null once the customer was erased';
`
