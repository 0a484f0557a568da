/**
 * Functions of the stores that change several rows after having looked: each is one statement of its caller, and locks
 * before it looks, so that it sees what was committed before it got its turn.
 */
export const sql = `
-- Gives a member another password and ends their sessions; how many, or null when there is no such member. The second
-- statement sees what a sign-in with the old password has committed while the first waited for the member's row.
create function wac_set_password(member text, hash text) returns integer
language plpgsql as $$
declare
  ended integer;
begin
  update members m set password_hash = hash where m.user_id = member;
  if not found then
    return null;
  end if;
  delete from sessions s where s.user_id = member;
  get diagnostics ended = row_count;
  return ended;
end
$$;
`
