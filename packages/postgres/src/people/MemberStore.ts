/**
 * `MemberStore` in PostgreSQL: combines the operations of this folder (`Assign`, `SetPassword`, `StopAlerts`) and adds
 * the short statements.
 */
import { type Id, type Member, MemberStep, MemberStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { columns, integer, list, row, text, unlessEmpty } from "../Columns.ts"
import { Database, type StepOptions } from "../Database.ts"
import { type Row, statement, value } from "../Statement.ts"
import { workspaceBeside } from "../workspaces/StoredWorkspace.ts"
import { assign } from "./Assign.ts"
import * as SetPassword from "./SetPassword.ts"
import { stopAlerts } from "./StopAlerts.ts"
import { person } from "./StoredPerson.ts"

const role = row({ role: text<Member.Role | null>() })

const joined = columns<Member.Member, { createdAt: "joined_at" }>({
  userId: "text",
  workspaceId: "text",
  email: "text",
  role: "text",
  createdAt: "bigint"
}, { createdAt: "joined_at" })

/** Prepares a statement that reads a person: a row for each workspace, or a single row if they are a member of none. */
const account = (column: "email" | "user_id") =>
  statement({ name: value<string>() }, ({ name }) =>
    `select ${person.names("p")}, m.role, ${workspaceBeside.names("w")}
  from wac.people p
  left join lateral (select m.* from wac.members m where m.user_id = p.user_id offset 0) m on true
  left join lateral (select w.* from wac.workspaces w where w.id = m.workspace_id offset 0) w on true
  where p.${column} = ${name} order by m.created_at, m.workspace_id`)

const byEmail = account("email")

const byUserId = account("user_id")

const membersText = `select m.user_id, m.workspace_id, p.email, m.role, m.created_at as joined_at
  from wac.members m cross join lateral (select p.email from wac.people p where p.user_id = m.user_id offset 0) p`

const accountOf = (rows: ReadonlyArray<Row>): Option.Option<MemberStore.Account> =>
  Option.map(Option.fromUndefinedOr(rows[0]), (row) => ({
    person: person.read(row),
    memberships: rows.flatMap((row) => {
      const found = role.read(row)
      return found.role === null ? [] : [{ role: found.role, workspace: workspaceBeside.read(row) }]
    })
  }))

const workspaces = list<Id.WorkspaceId>("text")

const ofWorkspace = statement({ workspaceId: value<Id.WorkspaceId>() }, ({ workspaceId }) => `
  ${membersText} where m.workspace_id = ${workspaceId} order by m.created_at, m.user_id`)

/** Serializes changes of a workspace's members. */
const lock = statement({ workspaces }, ({ workspaces }) =>
  `${membersText} where m.workspace_id = any (${workspaces})
  order by m.workspace_id, m.user_id for no key update of m`)

const name = joined.pick("workspaceId", "userId")

const setRoles = unlessEmpty(
  name.and(joined.pick("role")),
  (rows) =>
    `update wac.members m set role = s.role from ${rows("s")}
  where m.workspace_id = s.workspace_id and m.user_id = s.user_id`
)

const remove = unlessEmpty(name, (rows) =>
  `delete from wac.members m using ${rows("s")}
  where m.workspace_id = s.workspace_id and m.user_id = s.user_id`)

const endSessions = unlessEmpty(name, (rows) =>
  `delete from wac.sessions e using ${rows("s")}
  where e.workspace_id = s.workspace_id and e.user_id = s.user_id`)

const made = columns<
  { readonly id: Id.InvitationId; readonly workspaceId: Id.WorkspaceId; readonly byUserId: Id.UserId } & {
    readonly role: Member.Role
  }
>({ id: "text", workspaceId: "text", byUserId: "text", role: "text" })

/**
 * Loads the invitations that the commands' people made. It must come after the members' rows are locked, which every
 * step does first.
 */
const loadMade = statement(
  { workspaces, userIds: list<Id.UserId>("text") },
  ({ userIds, workspaces }) =>
    `select ${made.names("i")} from wac.invitations i
  where i.workspace_id = any (${workspaces}) and i.by_user_id = any (${userIds})`
)

const endInvitations = unlessEmpty(
  list<Id.InvitationId>("text"),
  (ids) => `delete from wac.invitations i where i.id = any (${ids})`
)

const counted = row({ count: integer() })

const unlink = statement({ userId: value<Id.UserId>() }, ({ userId }) =>
  `with ended as (
    delete from wac.sessions s where s.user_id = ${userId}
  ), gone as (
    delete from wac.identities i where i.user_id = ${userId} returning i.subject
  )
  select count(*)::integer as count from gone`)

/** `MemberStore.change`. */
const change: StepOptions<MemberStep.Change, MemberStep.Loaded, MemberStep.Changed, MemberStep.Writes> = {
  load: (commands) => {
    const workspaces = [...new Set(commands.map(({ workspaceId }) => workspaceId))]
    return [lock({ workspaces }), loadMade({ workspaces, userIds: commands.map(({ userId }) => userId) })]
  },
  read: ([rows, invitationRows], now) => {
    const invitations = invitationRows!.map(made.read)
    const members = new Map<Id.WorkspaceId, Array<Member.Member>>()
    for (const row of rows!) {
      const member = joined.read(row)
      members.set(member.workspaceId, [...members.get(member.workspaceId) ?? [], member])
    }
    return {
      now,
      members: (workspaceId) => members.get(workspaceId) ?? [],
      invitations: (workspaceId, userId) =>
        invitations.filter((made) => made.workspaceId === workspaceId && made.byUserId === userId)
    }
  },
  decide: MemberStep.change,
  write: ({ ended, removed, roles }) => [
    ...setRoles(roles),
    ...remove(removed),
    ...endSessions(removed),
    ...stopAlerts(removed),
    ...endInvitations(ended)
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
      findByEmail: (email) => Effect.map(query("MemberStore.findByEmail", byEmail({ name: email })), accountOf),
      findByUserId: (userId) => Effect.map(query("MemberStore.findByUserId", byUserId({ name: userId })), accountOf),
      list: Effect.map(
        query("MemberStore.list", {
          text: `select m.user_id, m.workspace_id, p.email, m.role, m.created_at as joined_at, ${
            workspaceBeside.names("w")
          }
          from wac.members m join wac.people p on p.user_id = m.user_id join wac.workspaces w on w.id = m.workspace_id
          order by m.created_at, m.user_id, m.workspace_id`
        }),
        (rows) => rows.map((row) => ({ member: joined.read(row), workspace: workspaceBeside.read(row) }))
      ),
      ofWorkspace: (workspaceId) =>
        Effect.map(query("MemberStore.ofWorkspace", ofWorkspace({ workspaceId })), (rows) => rows.map(joined.read)),
      setPassword: (userId, passwordHash, conditions) =>
        Effect.map(setting({ userId, passwordHash, ...conditions }), Option.fromUndefinedOr),
      assign: assigning,
      unlink: (userId) =>
        Effect.map(query("MemberStore.unlink", unlink({ userId })), ([row]) => counted.read(row!).count),
      change: changing
    })
  })
)
