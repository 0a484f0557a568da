/**
 * `InvitationStore` in PostgreSQL: combines the operations of this folder (`SetPassword`) and adds the short statements.
 */
import { type Id, type Invitation, InvitationStep, InvitationStore, type Step, StorageTime } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { asked } from "../Asked.ts"
import * as Clocks from "../Clocks.ts"
import { instant, plain } from "../Column.ts"
import { Database, type StepOptions } from "../Database.ts"
import { instants, texts } from "../Parameter.ts"
import type { Row } from "../Statement.ts"
import { setPasswords } from "./SetPassword.ts"

const columns = "i.id, i.workspace_id, i.email, i.role, i.token_hash, i.created_at, i.expires_at"

const invitationOf = (row: Row): Invitation.Invitation => ({
  id: plain(row, "id"),
  workspaceId: plain(row, "workspace_id"),
  email: plain(row, "email"),
  role: plain(row, "role"),
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
  insert into invitations as i (id, workspace_id, email, role, token_hash, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (workspace_id, email) do update set id = excluded.id, role = excluded.role,
    token_hash = excluded.token_hash, created_at = excluded.created_at, expires_at = excluded.expires_at`

const create: StepOptions<Invitation.Invitation, Kept, void, ReadonlyArray<Invitation.Invitation>> = {
  load: () => [],
  read: (_, now) => ({ now }),
  decide: ({ now }, commands) => ({
    answers: commands.map(() => undefined),
    writes: commands.map((invitation) => StorageTime.createdAt(invitation, now(invitation.createdAt), "expiresAt"))
  }),
  write: (invitations) =>
    invitations.map((one) => ({
      text: createText,
      params: [one.id, one.workspaceId, one.email, one.role, one.tokenHash, one.createdAt, one.expiresAt]
    }))
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
    return [{ text: invitationsText, params }, { text: peopleText, params }]
  },
  read: ([invitationRows, peopleRows], now) => {
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
      remove: (workspaceId, id) =>
        Effect.map(
          query(
            "InvitationStore.remove",
            `delete from invitations i where i.id = $2 and i.workspace_id = $1 returning ${columns}`,
            [workspaceId, id]
          ),
          ([row]) => Option.map(Option.fromUndefinedOr(row), invitationOf)
        ),
      accept: accepting,
      createReset: creatingReset,
      redeemReset: (tokenHash, passwordHash, now) =>
        Effect.map(redeeming({ tokenHash, passwordHash, now }), Option.fromUndefinedOr)
    })
  })
)
