/**
 * Who made an invitation.
 */
export const sql = `
alter table invitations
  add column by_user_id text,
  add column by_email text,
  add column by_role text constraint invitations_by_role check (by_role in ('member', 'developer', 'admin', 'owner')),
  add constraint invitations_by check ((by_user_id is null) = (by_email is null));
comment on column invitations.by_user_id is
  'Null: the operator, by a command; with a null by_role, unknown, and the invitation is worth nothing';
comment on column invitations.by_role is
  'The role of an operator or a host''s person; null for a member, whose present role counts';

update invitations i
  set by_user_id = a.user_id, by_email = a.email, by_role = case when a.user_id is null then 'owner' end
  from audit a
  where a.workspace_id = i.workspace_id and a.target = i.id and a.action = 'member.invite'
    and (a.user_id is null or exists (select from people p where p.user_id = a.user_id));
`
