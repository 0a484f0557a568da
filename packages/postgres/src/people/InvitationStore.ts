/**
 * `InvitationStore` in PostgreSQL: combines the operations of this folder (`SetPassword`) and adds the short
 * statements.
 */
import { type Id, type Invitation, InvitationStep, InvitationStore, Member, type Step, StorageTime } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { boolean, columns, list, row, text, unlessEmpty } from "../Columns.ts"
import { Database, type StepOptions } from "../Database.ts"
import { first, listOf, type Row, statement, value } from "../Statement.ts"
import { insert, select } from "../TableStatements.ts"
import { setPasswords } from "./SetPassword.ts"
import { member, person } from "./StoredPerson.ts"

/** An invitation as it is stored. */
interface Stored extends Omit<Invitation.Invitation, "by"> {
  readonly byUserId: Id.UserId | null
  readonly byEmail: string | null
  readonly byRole: Member.Role | null
}

const stored = columns<Stored>({
  id: "text",
  workspaceId: "text",
  email: "text",
  role: "text",
  byUserId: "text",
  byEmail: "text",
  byRole: "text",
  tokenHash: "text",
  createdAt: "bigint",
  expiresAt: "bigint"
})

const columnsOfInvitation = stored.names("i")

const invitationOf = (row: Row): Invitation.Invitation => {
  const { byEmail, byRole, byUserId, ...invitation } = stored.read(row)
  const person = byUserId === null ? null : { userId: byUserId, email: byEmail! }
  return { ...invitation, by: person === null && byRole === null ? null : { person, role: byRole } }
}

const storedOf = ({ by, ...invitation }: Invitation.Invitation): Stored => ({
  ...invitation,
  byUserId: by?.person?.userId ?? null,
  byEmail: by?.person?.email ?? null,
  byRole: by?.role ?? null
})

/**
 * What is loaded to create a password reset: only the storage's time, at which it is created. Its duration stays the
 * same.
 */
interface Kept extends Step.Known {}

/**
 * The maximum number of expired invitations deleted with each new one: more than one, so that they do not accumulate.
 */
const forgotten = 100

const keep = statement({ invitation: stored.one }, ({ invitation }) =>
  `with over as (
    delete from wac.invitations where id = any (array(
      select i.id from wac.invitations i where i.expires_at <= ${invitation.createdAt}
      order by i.expires_at limit ${forgotten}
    ))
  )
  insert into wac.invitations as i (${stored.names()}) values (${stored.values(invitation)})
  on conflict (workspace_id, email) do update set ${stored.set("excluded", "workspaceId", "email")}`)

/**
 * The text of a statement that locks the members who may invite people to some workspaces. Every step locks them before
 * invitations, so a change of members, which locks them too, comes either before the step or after it.
 */
const managersText = (workspaces: string): string =>
  `select m.workspace_id, m.user_id, m.role from wac.members m
  where m.workspace_id in (${workspaces}) and m.role in ${listOf(Member.managers)}
  order by m.workspace_id, m.user_id for share of m`

const manager = row({ workspaceId: text<Id.WorkspaceId>(), userId: text<Id.UserId>(), role: text<Member.Role>() })

const managersOf = (rows: ReadonlyArray<Row>): Pick<InvitationStep.LoadedManagers, "roleOf"> => {
  const roles = new Map(
    rows.map(manager.read).map(({ role, userId, workspaceId }) => [`${workspaceId} ${userId}`, role])
  )
  return { roleOf: (workspaceId, userId) => roles.get(`${workspaceId} ${userId}`) }
}

const lockManagers = statement(
  { workspaces: list<Id.WorkspaceId>("text") },
  ({ workspaces }) => managersText(`select unnest(${workspaces})`)
)

const places = stored.pick("workspaceId", "email")

/** Serializes the invitations of an address to a workspace, since the first one has no row to lock. */
const lockPlaces = statement(
  { places },
  ({ places }) =>
    `select pg_advisory_xact_lock(hashtext('wac:invitations'), l.name)
  from (select distinct hashtext(s.workspace_id || ' ' || s.email) as name from ${places("s")} order by 1) l`
)

const lockPending = statement(
  { places },
  ({ places }) =>
    `select ${columnsOfInvitation} from wac.invitations i
  join ${places("s")} on s.workspace_id = i.workspace_id and s.email = i.email
  order by i.id for update of i`
)

/** `InvitationStore.create`. */
const create: StepOptions<
  Invitation.Invitation & { readonly by: Invitation.Maker },
  InvitationStep.LoadedPending,
  InvitationStep.Created,
  ReadonlyArray<Invitation.Invitation>
> = {
  load: (commands) => {
    const workspaces = commands.map(({ workspaceId }) => workspaceId)
    return [lockManagers({ workspaces }), lockPlaces({ places: commands }), lockPending({ places: commands })]
  },
  read: ([managers, , rows], now) => {
    const pending = new Map(
      rows!.map(invitationOf).map((one) => [`${one.workspaceId} ${one.email}`, one])
    )
    return { now, ...managersOf(managers!), pending: (workspaceId, email) => pending.get(`${workspaceId} ${email}`) }
  },
  decide: InvitationStep.create,
  write: (invitations) => invitations.map((one) => keep({ invitation: storedOf(one) }))
}

const ids = list<Id.InvitationId>("text")

const lock = statement(
  { ids },
  ({ ids }) => `select ${columnsOfInvitation} from wac.invitations i where i.id = any (${ids}) order by i.id for update`
)

const remove = unlessEmpty(ids, (ids) => `delete from wac.invitations i where i.id = any (${ids})`)

/** `InvitationStore.withdraw`. */
const withdraw: StepOptions<
  InvitationStep.Withdraw,
  InvitationStep.LoadedById,
  InvitationStep.Withdrawn,
  ReadonlyArray<Invitation.Invitation>
> = {
  load: (commands) => [
    lockManagers({ workspaces: commands.map(({ workspaceId }) => workspaceId) }),
    lock({ ids: commands.map(({ id }) => id) })
  ],
  read: ([managers, rows], now) => {
    const invitations = new Map(rows!.map(invitationOf).map((one) => [`${one.workspaceId} ${one.id}`, one]))
    return { now, ...managersOf(managers!), invitation: (workspaceId, id) => invitations.get(`${workspaceId} ${id}`) }
  },
  decide: InvitationStep.withdraw,
  write: (withdrawn) => remove(withdrawn.map(({ id }) => id))
}

const tokenHashes = list<string>("text")

const lockManagersOf = statement(
  { tokenHashes },
  ({ tokenHashes }) =>
    managersText(`select i.workspace_id from wac.invitations i where i.token_hash = any (${tokenHashes})`)
)

const lockInvitations = statement(
  { tokenHashes },
  ({ tokenHashes }) =>
    `select ${columnsOfInvitation} from wac.invitations i where i.token_hash = any (${tokenHashes})
  order by i.id for update`
)

/**
 * Serializes the creation of people with the invitations' addresses, since an address without an account has no row to
 * lock.
 */
const lockAddresses = statement(
  { tokenHashes },
  ({ tokenHashes }) =>
    `select pg_advisory_xact_lock(hashtext('wac:people'), l.name)
  from (
    select distinct hashtext(i.email) as name from wac.invitations i
    where i.token_hash = any (${tokenHashes}) order by 1
  ) l`
)

const addressed = row({
  email: text(),
  userId: text<Id.UserId>(),
  workspaceId: text<Id.WorkspaceId>(),
  isMember: boolean()
})

/** Loads the people with the invitations' addresses, and whether they are members of the workspaces. */
const loadPeople = statement(
  { tokenHashes },
  ({ tokenHashes }) =>
    `select i.email, p.user_id, i.workspace_id, m.user_id is not null as is_member
  from wac.invitations i join wac.people p on p.email = i.email
  left join wac.members m on m.workspace_id = i.workspace_id and m.user_id = p.user_id
  where i.token_hash = any (${tokenHashes})`
)

const keepPeople = insert(person, "wac.people")

const keepMembers = insert(member, "wac.members")

const forgetAccepted = unlessEmpty(
  tokenHashes,
  (tokenHashes) => `delete from wac.invitations i where i.token_hash = any (${tokenHashes})`
)

/** `InvitationStore.accept`. */
const accept: StepOptions<
  InvitationStep.Accept,
  InvitationStep.Loaded,
  InvitationStep.Accepted,
  InvitationStep.Writes
> = {
  load: (commands) => {
    const tokenHashes = [...new Set(commands.map(({ tokenHash }) => tokenHash))]
    return [
      lockManagersOf({ tokenHashes }),
      lockInvitations({ tokenHashes }),
      lockAddresses({ tokenHashes }),
      loadPeople({ tokenHashes })
    ]
  },
  read: ([managers, invitationRows, , peopleRows], now) => {
    const invitations = new Map(invitationRows!.map(invitationOf).map((one) => [one.tokenHash, one]))
    const found = peopleRows!.map(addressed.read)
    const people = new Map(found.map(({ email, userId }) => [email, { email, userId }]))
    const members = new Set(
      found.filter(({ isMember }) => isMember).map(({ userId, workspaceId }) => `${workspaceId} ${userId}`)
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
    ...keepPeople(people),
    ...keepMembers(members),
    ...forgetAccepted(accepted.map(({ tokenHash }) => tokenHash))
  ]
}

const reset = columns<Invitation.PasswordReset>({
  tokenHash: "text",
  userId: "text",
  createdAt: "bigint",
  expiresAt: "bigint"
})

const keepReset = statement(
  { reset: reset.one },
  ({ reset: { createdAt, expiresAt, tokenHash, userId } }) =>
    `with over as (
    delete from wac.password_resets where token_hash = any (array(
      select r.token_hash from wac.password_resets r where r.expires_at <= ${createdAt} order by r.expires_at limit ${forgotten}
    ))
  )
  insert into wac.password_resets (token_hash, user_id, created_at, expires_at)
  values (${tokenHash}, ${userId}, ${createdAt}, ${expiresAt})`
)

const tokenHash = value<string>()

const redeemable = reset.pick("userId", "expiresAt")

const resettable = reset.pick("userId")

const createReset: StepOptions<
  Invitation.PasswordReset,
  Kept,
  Invitation.PasswordReset,
  ReadonlyArray<Invitation.PasswordReset>
> = {
  load: () => [],
  read: (_, now) => ({ now }),
  decide: ({ now }, commands) => {
    const created = commands.map((reset) => StorageTime.createdAt(reset, now(reset.createdAt), "expiresAt"))
    return { answers: created, writes: created }
  },
  write: (resets) => resets.map((reset) => keepReset({ reset }))
}

/** Locks the person of a reset link: a transaction that changes a password must hold the person's row. */
const lockReset = statement({ tokenHash }, ({ tokenHash }) =>
  `select ${redeemable.names("r")}
  from wac.password_resets r join wac.people p on p.user_id = r.user_id where r.token_hash = ${tokenHash} for update of p`)

/** Reads the link again after the lock, because another transaction may have used it meanwhile. */
const loadReset = select(reset, "wac.password_resets", reset.pick("tokenHash"))

/** `InvitationStore.redeemReset`, one at a time. */
const redeem: StepOptions<
  InvitationStep.Redeem,
  InvitationStep.LoadedResets,
  Id.UserId | undefined,
  ReadonlyArray<InvitationStep.NewPassword>
> = {
  size: 1,
  load: ([command]) => [lockReset(command!), loadReset(command!)],
  read: ([rows, left], now) => {
    const [row] = rows!
    return {
      now,
      reset: () =>
        row === undefined || left!.length === 0
          ? undefined
          : redeemable.read(row)
    }
  },
  decide: InvitationStep.redeem,
  write: setPasswords
}

const listPending = statement({ workspaceId: value<Id.WorkspaceId>(), now: Clocks.asked }, ({ now, workspaceId }) => `
  select ${columnsOfInvitation} from wac.invitations i
  where i.workspace_id = ${workspaceId} and i.expires_at > ${now} order by i.id desc`)

const find = select(stored, "wac.invitations", stored.pick("tokenHash"))

const findReset = statement({ tokenHash, now: Clocks.asked }, ({ now, tokenHash }) => `
  select r.user_id from wac.password_resets r where r.token_hash = ${tokenHash} and r.expires_at > ${now}`)

export const layer = Layer.effect(
  InvitationStore.InvitationStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const callerNow = yield* callerClock
    const creating = yield* stepped("InvitationStore.create", create)
    const withdrawing = yield* stepped("InvitationStore.withdraw", withdraw)
    const accepting = yield* stepped("InvitationStore.accept", accept)
    const creatingReset = yield* stepped("InvitationStore.createReset", createReset)
    const redeeming = yield* stepped("InvitationStore.redeemReset", redeem)
    return InvitationStore.InvitationStore.of({
      create: creating,
      list: (workspaceId, now) =>
        Effect.map(
          query("InvitationStore.list", listPending({ workspaceId, now: callerNow(now) })),
          (rows) => rows.map(invitationOf)
        ),
      find: (tokenHash) => Effect.map(query("InvitationStore.find", find({ tokenHash })), first(invitationOf)),
      withdraw: withdrawing,
      accept: accepting,
      createReset: creatingReset,
      findReset: (tokenHash, now) =>
        Effect.map(
          query("InvitationStore.findReset", findReset({ tokenHash, now: callerNow(now) })),
          first((row) => resettable.read(row).userId)
        ),
      redeemReset: (tokenHash, passwordHash, now) =>
        Effect.map(redeeming({ tokenHash, passwordHash, now }), Option.fromUndefinedOr)
    })
  })
)
