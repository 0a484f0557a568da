/**
 * `InvitationStore` in PostgreSQL: combines the operations of this folder (`SetPassword`) and adds the short statements.
 */
import {
  type Errors,
  type Id,
  type Invitation,
  InvitationStep,
  InvitationStore,
  type Member,
  type Step,
  StorageTime
} from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { asked } from "../Asked.ts"
import * as Clocks from "../Clocks.ts"
import { instant, plain } from "../Column.ts"
import { Database, type StepOptions } from "../Database.ts"
import { instants, texts } from "../Parameter.ts"
import type { Row } from "../Statement.ts"
import { setPasswords } from "./SetPassword.ts"

const columns = `i.id, i.workspace_id, i.email, i.role, i.by_user_id, i.by_email, i.by_role, i.token_hash, i.created_at,
  i.expires_at`

const makerOf = (row: Row): Invitation.Maker | null => {
  const [userId, role] = [plain<Id.UserId | null>(row, "by_user_id"), plain<Member.Role | null>(row, "by_role")]
  if (userId === null && role === null) return null
  return { person: userId === null ? null : { userId, email: plain(row, "by_email") }, role }
}

const invitationOf = (row: Row): Invitation.Invitation => ({
  id: plain(row, "id"),
  workspaceId: plain(row, "workspace_id"),
  email: plain(row, "email"),
  role: plain(row, "role"),
  by: makerOf(row),
  tokenHash: plain(row, "token_hash"),
  createdAt: instant(row, "created_at"),
  expiresAt: instant(row, "expires_at")
})

/** What is created at the storage's time keeps its duration. */
interface Kept extends Step.Known {}

/** Expired rows deleted with each new one, more than are created. */
const forgotten = 100

const createText = `with over as (
    delete from invitations where id = any (array(
      select i.id from invitations i where i.expires_at <= $6 order by i.expires_at limit ${forgotten}
    ))
  )
  insert into invitations as i (id, workspace_id, email, role, token_hash, created_at, expires_at, by_user_id, by_email,
    by_role)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  on conflict (workspace_id, email) do update set id = excluded.id, role = excluded.role,
    token_hash = excluded.token_hash, created_at = excluded.created_at, expires_at = excluded.expires_at,
    by_user_id = excluded.by_user_id, by_email = excluded.by_email, by_role = excluded.by_role`

/**
 * Everybody who may make invitations to some workspaces. Every step locks them before invitations: a change of members,
 * which locks them too, comes before the step or after it.
 */
const managersText = (workspaces: string): string =>
  `select m.workspace_id, m.user_id, m.role from members m
  where m.workspace_id in (${workspaces}) and m.role in ('admin', 'owner')
  order by m.workspace_id, m.user_id for share of m`

const managersOf = (rows: ReadonlyArray<Row>): Pick<InvitationStep.LoadedManagers, "roleOf"> => {
  const roles = new Map(
    rows.map((row) => [`${plain<string>(row, "workspace_id")} ${plain<string>(row, "user_id")}`, row])
  )
  return {
    roleOf: (workspaceId, userId) => {
      const row = roles.get(`${workspaceId} ${userId}`)
      return row && plain<Member.Role>(row, "role")
    }
  }
}

const pendingText = `select ${columns} from invitations i
  join unnest($1::text[], $2::text[]) s (workspace_id, email) on s.workspace_id = i.workspace_id and s.email = i.email
  order by i.id for update of i`

/** `InvitationStore.create`. */
const create: StepOptions<
  Invitation.Invitation & { readonly by: Invitation.Maker },
  InvitationStep.LoadedPending,
  Errors.Forbidden | undefined,
  ReadonlyArray<Invitation.Invitation>
> = {
  load: (commands) => {
    const workspaces = texts(commands.map(({ workspaceId }) => workspaceId))
    return [
      { text: managersText("select unnest($1::text[])"), params: [workspaces] },
      { text: pendingText, params: [workspaces, texts(commands.map(({ email }) => email))] }
    ]
  },
  read: ([managers, rows], now) => {
    const pending = new Map(
      rows!.map(invitationOf).map((one) => [`${one.workspaceId} ${one.email}`, one])
    )
    return { now, ...managersOf(managers!), pending: (workspaceId, email) => pending.get(`${workspaceId} ${email}`) }
  },
  decide: InvitationStep.create,
  write: (invitations) =>
    invitations.map((one) => ({
      text: createText,
      params: [
        one.id,
        one.workspaceId,
        one.email,
        one.role,
        one.tokenHash,
        one.createdAt,
        one.expiresAt,
        one.by?.person?.userId ?? null,
        one.by?.person?.email ?? null,
        one.by?.role ?? null
      ]
    }))
}

/** `InvitationStore.withdraw`. */
const withdraw: StepOptions<
  InvitationStep.Withdraw,
  InvitationStep.LoadedById,
  InvitationStep.Withdrawn,
  ReadonlyArray<Invitation.Invitation>
> = {
  load: (commands) => [
    {
      text: managersText("select unnest($1::text[])"),
      params: [texts(commands.map(({ workspaceId }) => workspaceId))]
    },
    {
      text: `select ${columns} from invitations i where i.id = any ($1::text[]) order by i.id for update`,
      params: [texts(commands.map(({ id }) => id))]
    }
  ],
  read: ([managers, rows], now) => {
    const invitations = new Map(rows!.map(invitationOf).map((one) => [`${one.workspaceId} ${one.id}`, one]))
    return { now, ...managersOf(managers!), invitation: (workspaceId, id) => invitations.get(`${workspaceId} ${id}`) }
  },
  decide: InvitationStep.withdraw,
  write: (withdrawn) =>
    withdrawn.length === 0 ? [] : [{
      text: "delete from invitations i where i.id = any ($1::text[])",
      params: [texts(withdrawn.map(({ id }) => id))]
    }]
}

const invitationsText = `select ${columns} from invitations i where i.token_hash = any ($1::text[])
  order by i.id for update`

/** The people with the invitations' addresses, and whether they are members of the workspaces. */
const peopleText = `select i.email, p.user_id, i.workspace_id, m.user_id is not null as is_member
  from invitations i join people p on p.email = i.email
  left join members m on m.workspace_id = i.workspace_id and m.user_id = p.user_id
  where i.token_hash = any ($1::text[])`

const keepPeopleText = `insert into people (user_id, email, password_hash, created_at)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])`

const keepMembersText = `insert into members (user_id, workspace_id, role, created_at)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])`

const acceptedText = "delete from invitations i where i.token_hash = any ($1::text[])"

/** `InvitationStore.accept`. */
const accept: StepOptions<
  InvitationStep.Accept,
  InvitationStep.Loaded,
  InvitationStep.Accepted,
  InvitationStep.Writes
> = {
  load: (commands) => {
    const params = [texts([...new Set(commands.map(({ tokenHash }) => tokenHash))])]
    return [
      {
        text: managersText("select i.workspace_id from invitations i where i.token_hash = any ($1::text[])"),
        params
      },
      { text: invitationsText, params },
      { text: peopleText, params }
    ]
  },
  read: ([managers, invitationRows, peopleRows], now) => {
    const invitations = new Map(invitationRows!.map((row) => [plain<string>(row, "token_hash"), invitationOf(row)]))
    const people = new Map(peopleRows!.map((row) => {
      const email = plain<string>(row, "email")
      return [email, { email, userId: plain<Id.UserId>(row, "user_id") }]
    }))
    const members = new Set(
      peopleRows!.filter((row) => plain<boolean>(row, "is_member"))
        .map((row) => `${plain<string>(row, "workspace_id")} ${plain<string>(row, "user_id")}`)
    )
    return {
      now,
      ...managersOf(managers!),
      invitation: (tokenHash) => invitations.get(tokenHash),
      person: (email) => people.get(email),
      isMember: (workspaceId, userId) => members.has(`${workspaceId} ${userId}`)
    }
  },
  decide: InvitationStep.accept,
  write: ({ accepted, members, people }) => [
    ...people.length === 0 ? [] : [{
      text: keepPeopleText,
      params: [
        texts(people.map(({ userId }) => userId)),
        texts(people.map(({ email }) => email)),
        texts(people.map(({ passwordHash }) => passwordHash)),
        instants(people.map(({ createdAt }) => createdAt))
      ]
    }],
    ...members.length === 0 ? [] : [{
      text: keepMembersText,
      params: [
        texts(members.map(({ userId }) => userId)),
        texts(members.map(({ workspaceId }) => workspaceId)),
        texts(members.map(({ role }) => role)),
        instants(members.map(({ createdAt }) => createdAt))
      ]
    }],
    ...accepted.length === 0 ? [] : [{
      text: acceptedText,
      params: [texts(accepted.map(({ tokenHash }) => tokenHash))]
    }]
  ]
}

const createResetText = `with over as (
    delete from password_resets where token_hash = any (array(
      select r.token_hash from password_resets r where r.expires_at <= $3 order by r.expires_at limit ${forgotten}
    ))
  )
  insert into password_resets (token_hash, user_id, created_at, expires_at) values ($1, $2, $3, $4)`

const createReset: StepOptions<Invitation.PasswordReset, Kept, void, ReadonlyArray<Invitation.PasswordReset>> = {
  load: () => [],
  read: (_, now) => ({ now }),
  decide: ({ now }, commands) => ({
    answers: commands.map(() => undefined),
    writes: commands.map((reset) => StorageTime.createdAt(reset, now(reset.createdAt), "expiresAt"))
  }),
  write: (resets) =>
    resets.map((one) => ({
      text: createResetText,
      params: [one.tokenHash, one.userId, one.createdAt, one.expiresAt]
    }))
}

/** A transaction that changes a person's password must hold the person's row. */
const redeemText = `select r.user_id, r.expires_at
  from password_resets r join people p on p.user_id = r.user_id where r.token_hash = $1 for update of p`

/** `InvitationStore.redeemReset`, one at a time. */
const redeem: StepOptions<
  InvitationStep.Redeem,
  InvitationStep.LoadedResets,
  Id.UserId | undefined,
  ReadonlyArray<InvitationStep.NewPassword>
> = {
  size: 1,
  load: ([command]) => [{ text: redeemText, params: [command!.tokenHash] }, {
    // read again behind the lock, because another transaction may have used the link
    text: "select r.token_hash from password_resets r where r.token_hash = $1",
    params: [command!.tokenHash]
  }],
  read: ([rows, left], now) => {
    const [row] = rows!
    return {
      now,
      reset: () =>
        row === undefined || left!.length === 0
          ? undefined
          : { userId: plain(row, "user_id"), expiresAt: instant(row, "expires_at") }
    }
  },
  decide: InvitationStep.redeem,
  write: (passwords) => setPasswords(passwords.map((one) => ({ ...one, keep: undefined })))
}

export const layer = Layer.effect(
  InvitationStore.InvitationStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const askedAt = yield* asked
    const creating = yield* stepped("InvitationStore.create", create)
    const withdrawing = yield* stepped("InvitationStore.withdraw", withdraw)
    const accepting = yield* stepped("InvitationStore.accept", accept)
    const creatingReset = yield* stepped("InvitationStore.createReset", createReset)
    const redeeming = yield* stepped("InvitationStore.redeemReset", redeem)
    return InvitationStore.InvitationStore.of({
      create: creating,
      list: (workspaceId, now) =>
        Effect.map(
          query(
            "InvitationStore.list",
            `select ${columns} from invitations i
            where i.workspace_id = $1 and i.expires_at > ${Clocks.at("$2")} order by i.id desc`,
            [workspaceId, askedAt(now) ?? null]
          ),
          (rows) => rows.map(invitationOf)
        ),
      find: (tokenHash) =>
        Effect.map(
          query("InvitationStore.find", `select ${columns} from invitations i where i.token_hash = $1`, [tokenHash]),
          ([row]) => Option.map(Option.fromUndefinedOr(row), invitationOf)
        ),
      withdraw: withdrawing,
      accept: accepting,
      createReset: creatingReset,
      findReset: (tokenHash, now) =>
        Effect.map(
          query(
            "InvitationStore.findReset",
            `select r.user_id from password_resets r where r.token_hash = $1 and r.expires_at > ${Clocks.at("$2")}`,
            [tokenHash, askedAt(now) ?? null]
          ),
          ([row]) => Option.map(Option.fromUndefinedOr(row), (row) => plain<Id.UserId>(row, "user_id"))
        ),
      redeemReset: (tokenHash, passwordHash, now) =>
        Effect.map(redeeming({ tokenHash, passwordHash, now }), Option.fromUndefinedOr)
    })
  })
)
