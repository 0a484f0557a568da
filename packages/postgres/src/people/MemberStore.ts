/**
 * `MemberStore` in PostgreSQL: combines the operations of this folder (`Assign`, `SetPassword`) and adds the short
 * statements.
 */
import { type Id, type Member, MemberStep, MemberStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { instant, plain } from "../Column.ts"
import { Database, type StepOptions } from "../Database.ts"
import { texts } from "../Parameter.ts"
import type { Row } from "../Statement.ts"
import { workspaceColumns, workspaceOf } from "../workspaces/WorkspaceStore.ts"
import { assign } from "./Assign.ts"
import * as SetPassword from "./SetPassword.ts"

const personOf = (row: Row): Member.Person => ({
  userId: plain(row, "user_id"),
  email: plain(row, "email"),
  passwordHash: plain(row, "password_hash"),
  createdAt: instant(row, "created_at")
})

const memberOf = (row: Row): Member.Member => ({
  userId: plain(row, "user_id"),
  workspaceId: plain(row, "workspace_id"),
  email: plain(row, "email"),
  role: plain(row, "role"),
  createdAt: instant(row, "joined_at")
})

/** A row for each workspace of a person, or a single row if they are in none. */
const accountText = (column: "email" | "user_id"): string =>
  `select p.user_id, p.email, p.password_hash, p.created_at, m.role, ${workspaceColumns("w")}
  from people p
  left join lateral (select m.* from members m where m.user_id = p.user_id offset 0) m on true
  left join lateral (select w.* from workspaces w where w.id = m.workspace_id offset 0) w on true
  where p.${column} = $1 order by m.created_at, m.workspace_id`

const membersText = `select m.user_id, m.workspace_id, p.email, m.role, m.created_at as joined_at
  from members m cross join lateral (select p.email from people p where p.user_id = m.user_id offset 0) p`

const accountOf = (rows: ReadonlyArray<Row>): Option.Option<MemberStore.Account> =>
  Option.map(Option.fromUndefinedOr(rows[0]), (row) => ({
    person: personOf(row),
    memberships: rows.flatMap((row) =>
      row["role"] === null ? [] : [{ role: plain<Member.Role>(row, "role"), workspace: workspaceOf(row) }]
    )
  }))

/** Serializes changes of a workspace's members. */
const lockText = `${membersText} where m.workspace_id = any ($1::text[])
  order by m.workspace_id, m.user_id for no key update of m`

const rolesText = `update members m set role = s.role
  from unnest($1::text[], $2::text[], $3::text[]) s (workspace_id, user_id, role)
  where m.workspace_id = s.workspace_id and m.user_id = s.user_id`

const removeText = `delete from members m using unnest($1::text[], $2::text[]) s (workspace_id, user_id)
  where m.workspace_id = s.workspace_id and m.user_id = s.user_id`

const endText = `delete from sessions e using unnest($1::text[], $2::text[]) s (workspace_id, user_id)
  where e.workspace_id = s.workspace_id and e.user_id = s.user_id`

const stopAlertsText = `update alert_settings a set emails = array_remove(a.emails, s.email)
  from unnest($1::text[], $2::text[], $3::text[]) s (workspace_id, user_id, email)
  where a.workspace_id = s.workspace_id and s.email = any (a.emails)`

/** The invitations that the people of the commands made. Read after the members' rows are locked, as every step does. */
const madeText = `select i.id, i.workspace_id, i.by_user_id, i.role from invitations i
  where i.workspace_id = any ($1::text[]) and i.by_user_id = any ($2::text[])`

const endedText = "delete from invitations i where i.id = any ($1::text[])"

const unlinkText = `with ended as (
    delete from sessions s where s.user_id = $1
  ), gone as (
    delete from identities i where i.user_id = $1 returning i.subject
  )
  select count(*)::integer as count from gone`

const names = (members: ReadonlyArray<Pick<Member.Member, "workspaceId" | "userId">>) => [
  texts(members.map(({ workspaceId }) => workspaceId)),
  texts(members.map(({ userId }) => userId))
]

/** `MemberStore.change`. */
const change: StepOptions<MemberStep.Change, MemberStep.Loaded, MemberStep.Changed, MemberStep.Writes> = {
  load: (commands) => {
    const workspaces = texts([...new Set(commands.map(({ workspaceId }) => workspaceId))])
    return [
      { text: lockText, params: [workspaces] },
      { text: madeText, params: [workspaces, texts(commands.map(({ userId }) => userId))] }
    ]
  },
  read: ([rows, made], now) => {
    const members = new Map<Id.WorkspaceId, Array<Member.Member>>()
    for (const row of rows!) {
      const member = memberOf(row)
      members.set(member.workspaceId, [...members.get(member.workspaceId) ?? [], member])
    }
    return {
      now,
      members: (workspaceId) => members.get(workspaceId) ?? [],
      invitations: (workspaceId, userId) =>
        made!.filter((row) => row["workspace_id"] === workspaceId && row["by_user_id"] === userId)
          .map((row) => ({ id: plain<Id.InvitationId>(row, "id"), role: plain<Member.Role>(row, "role") }))
    }
  },
  decide: MemberStep.change,
  write: ({ ended, removed, roles }) => [
    ...roles.length === 0
      ? []
      : [{ text: rolesText, params: [...names(roles), texts(roles.map(({ role }) => role))] }],
    ...removed.length === 0
      ? []
      : [
        { text: removeText, params: names(removed) },
        { text: endText, params: names(removed) },
        { text: stopAlertsText, params: [...names(removed), texts(removed.map(({ email }) => email))] }
      ],
    ...ended.length === 0 ? [] : [{ text: endedText, params: [texts(ended)] }]
  ]
}

export const layer = Layer.effect(
  MemberStore.MemberStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const assigning = yield* stepped("MemberStore.assign", assign)
    const changing = yield* stepped("MemberStore.change", change)
    const setting = yield* stepped("MemberStore.setPassword", SetPassword.setPassword)
    return MemberStore.MemberStore.of({
      findByEmail: (email) => Effect.map(query("MemberStore.findByEmail", accountText("email"), [email]), accountOf),
      findByUserId: (userId) =>
        Effect.map(query("MemberStore.findByUserId", accountText("user_id"), [userId]), accountOf),
      list: Effect.map(
        query(
          "MemberStore.list",
          `select m.user_id, p.email, m.role, m.created_at as joined_at, ${workspaceColumns("w")}
          from members m join people p on p.user_id = m.user_id join workspaces w on w.id = m.workspace_id
          order by m.created_at, m.user_id, m.workspace_id`,
          []
        ),
        (rows) => rows.map((row) => ({ member: memberOf(row), workspace: workspaceOf(row) }))
      ),
      ofWorkspace: (workspaceId) =>
        Effect.map(
          query(
            "MemberStore.ofWorkspace",
            `${membersText} where m.workspace_id = $1 order by m.created_at, m.user_id`,
            [
              workspaceId
            ]
          ),
          (rows) => rows.map(memberOf)
        ),
      setPassword: (userId, passwordHash, keep) =>
        Effect.map(setting({ userId, passwordHash, keep }), Option.fromUndefinedOr),
      assign: assigning,
      unlink: (userId) =>
        Effect.map(query("MemberStore.unlink", unlinkText, [userId]), ([row]) => plain<number>(row!, "count")),
      change: changing
    })
  })
)
