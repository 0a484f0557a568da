/**
 * How PostgreSQL carries out `MemberStore.assign`: the row of the address in `people` is the lock. If transactions race
 * to create a person, one does, and the others find them.
 */
import { type Id, MemberStep } from "@wac/core"
import { instant, plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import { instants, texts } from "../Parameter.ts"

/** Creates the row that serves as the lock. It becomes the person that the step decides on. */
const startText = `insert into people (user_id, email, created_at) values ($1, $2, $3)
  on conflict (email) do nothing returning user_id`

const lockText = "select p.user_id from people p where p.email = $1 for update"

/** Locked against `change`, in the same order. */
const membersText = `select m.workspace_id, m.created_at from members m
  where m.user_id = (select p.user_id from people p where p.email = $1)
  order by m.workspace_id for update`

const keepPersonText = `insert into people as p (user_id, email, password_hash, created_at) values ($1, $2, $3, $4)
  on conflict (user_id) do update set password_hash = excluded.password_hash, created_at = excluded.created_at`

const goneText = "delete from members m where m.user_id = $1 and m.workspace_id <> all ($2::text[])"

const endText = "delete from sessions s where s.user_id = $1 and s.workspace_id <> all ($2::text[])"

const keepMembersText = `insert into members as m (user_id, workspace_id, role, created_at)
  select $1, s.workspace_id, s.role, s.created_at
  from unnest($2::text[], $3::text[], $4::bigint[]) s (workspace_id, role, created_at) order by s.workspace_id
  on conflict (workspace_id, user_id) do update set role = excluded.role, created_at = excluded.created_at`

/** `MemberStore.assign`, one at a time. */
export const assign: StepOptions<MemberStep.Assign, MemberStep.LoadedPeople, Id.UserId, MemberStep.AssignWrites> = {
  size: 1,
  load: ([command]) => {
    const { email, now, userId } = command!
    return [
      { text: startText, params: [userId, email, now] },
      { text: lockText, params: [email] },
      { text: membersText, params: [email] }
    ]
  },
  read: ([started, people, members], now) => ({
    now,
    person: () => {
      const [person] = people!
      return started!.length > 0 || person === undefined ? undefined : { userId: plain(person, "user_id") }
    },
    memberships: () =>
      members!.map((row) => ({
        workspaceId: plain<Id.WorkspaceId>(row, "workspace_id"),
        createdAt: instant(row, "created_at")
      }))
  }),
  decide: MemberStep.assign,
  write: ({ assigned, people }) => [
    ...people.map(({ createdAt, email, passwordHash, userId }) => ({
      text: keepPersonText,
      params: [userId, email, passwordHash, createdAt]
    })),
    ...assigned.flatMap(({ continued, members, userId }) => [
      { text: goneText, params: [userId, texts(members.map(({ workspaceId }) => workspaceId))] },
      { text: endText, params: [userId, texts(continued)] },
      {
        text: keepMembersText,
        params: [
          userId,
          texts(members.map(({ workspaceId }) => workspaceId)),
          texts(members.map(({ role }) => role)),
          instants(members.map(({ createdAt }) => createdAt))
        ]
      }
    ])
  ]
}
