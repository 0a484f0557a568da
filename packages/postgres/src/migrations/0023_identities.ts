/**
 * Who people are at an issuer, and the roles that each sign-in there brought.
 */
export const sql = `
create table identities (
  issuer text not null,
  subject text not null,
  user_id text not null references people on delete cascade,
  created_at bigint not null,
  primary key (issuer, subject),
  constraint identities_user_id_issuer_key unique (user_id, issuer)
);
comment on table identities is 'Who a person is at an OpenID Connect issuer: the claims iss and sub, never an address';

alter table sessions add column roles jsonb;
alter table sessions add constraint sessions_roles check (jsonb_typeof(roles) = 'object') not valid;
comment on column sessions.roles is
  'The roles that the sign-in brought, by workspace; null: those of the person''s memberships';
`
