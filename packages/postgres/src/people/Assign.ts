/**
 * How PostgreSQL carries out `MemberStore.assign`: the identity is locked, then the row of its person in `people`. If
 * transactions race to create a person, one does, and the others find them.
 */
import { type Id, MemberStep } from "@wac/core"
import { bigint, row, text } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { instants, texts } from "../Parameter.ts"

const person = row({ userId: text<Id.UserId>(), email: text() })

const membership = row({ workspaceId: text<Id.WorkspaceId>(), createdAt: bigint() })

/** An identity has no row before it is known. */
const lockText = "select pg_advisory_xact_lock(hashtext('identities'), hashtext($1))"

/**
 * Creates the row that serves as the lock of an address without an account. It becomes the person that the step decides
 * on.
 */
const startText = `insert into people (user_id, email, created_at)
  select $1::text, $2::text, $3::bigint
  where $6::boolean and not exists (select from identities i where i.issuer = $4 and i.subject = $5)
  on conflict (email) do nothing returning user_id`

/** The identity's person, or else the address's. */
const personText = `coalesce((select i.user_id from identities i where i.issuer = $1 and i.subject = $2),
    (select e.user_id from people e where e.email = $3))`

const lockPersonText = `select ${person.names("p")} from people p where p.user_id = ${personText} for update`

/** The identities of the person at the issuer. */
const linksText = `select i.subject from identities i where i.issuer = $1 and i.user_id = ${personText}`

/** Locked against `change`, in the same order. */
const membersText = `select ${membership.names("m")} from members m
  where m.user_id = ${personText}
  order by m.workspace_id for update`

const keepPersonText = `insert into people as p (user_id, email, password_hash, created_at) values ($1, $2, $3, $4)
  on conflict (user_id) do update set password_hash = excluded.password_hash, created_at = excluded.created_at`

const keepLinkText = "insert into identities (issuer, subject, user_id, created_at) values ($1, $2, $3, $4)"

const goneText = "delete from members m where m.user_id = $1 and m.workspace_id <> all ($2::text[])"

const endText = "delete from sessions s where s.user_id = $1 and s.workspace_id <> all ($2::text[])"

const keepMembersText = `insert into members as m (user_id, workspace_id, role, created_at)
  select $1, s.workspace_id, s.role, s.created_at
  from unnest($2::text[], $3::text[], $4::bigint[]) s (workspace_id, role, created_at) order by s.workspace_id
  on conflict (workspace_id, user_id) do update set role = excluded.role, created_at = excluded.created_at`

/** `MemberStore.assign`, one at a time. */
export const assign: StepOptions<
  MemberStep.Assign,
  MemberStep.LoadedPeople,
  MemberStep.Recognized,
  MemberStep.AssignWrites
> = {
  size: 1,
  load: ([command]) => {
    const { email, identity: { issuer, subject }, now, roles, userId } = command!
    const params = [issuer, subject, email]
    // what the step refuses has created nobody
    const mayCreate = email !== null && roles.length > 0
    return [
      { text: lockText, params: [JSON.stringify([issuer, subject])] },
      { text: startText, params: [userId, email, now, issuer, subject, mayCreate] },
      { text: lockPersonText, params },
      { text: linksText, params },
      { text: membersText, params }
    ]
  },
  read: ([, started, people, links, members], now, [command]) => {
    const [row] = people!
    const known = started!.length > 0 || row === undefined ? undefined : {
      ...person.read(row)
    }
    const isKnown = links!.some((row) => row["subject"] === command!.identity.subject)
    return {
      now,
      identified: () => isKnown ? known : undefined,
      addressed: () => known && { ...known, isLinked: links!.length > 0 },
      memberships: () => members!.map(membership.read)
    }
  },
  decide: MemberStep.assign,
  write: ({ assigned, links, people }) => [
    ...people.map(({ createdAt, email, passwordHash, userId }) => ({
      text: keepPersonText,
      params: [userId, email, passwordHash, createdAt]
    })),
    ...links.map(({ createdAt, issuer, subject, userId }) => ({
      text: keepLinkText,
      params: [issuer, subject, userId, createdAt]
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
