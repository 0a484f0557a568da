/**
 * Changes a person's password, and ends their sessions and password reset links. The person's row is locked. So a
 * concurrent sign-in either commits its session before this looks for sessions, or sees the new password.
 */
import type { Id, MemberStore, Step } from "@wac/core"
import { list, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { type Statement, statement } from "../Statement.ts"

/** The new password of a person. */
interface SetPassword extends MemberStore.PasswordConditions {
  readonly userId: Id.UserId
  readonly passwordHash: string
}

const person = row({ userId: text<Id.UserId>() })

const set = unlessEmpty(
  person.and(row({ passwordHash: text() })),
  (rows) => `update wac.people p set password_hash = s.password_hash from ${rows("s")} where p.user_id = s.user_id`
)

const endSessions = unlessEmpty(
  person.and(row({ keep: text<string | null>() })),
  (rows) =>
    `delete from wac.sessions e using ${rows("s")}
  where e.user_id = s.user_id and e.token_hash is distinct from s.keep`
)

const renewSession = unlessEmpty(
  row({ keep: text(), next: text() }),
  (rows) => `update wac.sessions k set token_hash = s.next from ${rows("s")} where k.token_hash = s.keep`
)

const forgetResets = unlessEmpty(
  person,
  (rows) => `delete from wac.password_resets r using ${rows("s")} where r.user_id = s.user_id`
)

/** The statements that set passwords, and end sessions and reset links. The caller must hold the people's rows. */
export const setPasswords = (all: ReadonlyArray<SetPassword>): ReadonlyArray<Statement> => [
  ...set(all),
  ...endSessions(all.map(({ keep = null, userId }) => ({ userId, keep }))),
  ...renewSession(all.flatMap(({ keep, next }) => keep === undefined || next === undefined ? [] : [{ keep, next }])),
  ...forgetResets(all)
]

const ids = list<Id.UserId>("text")

const held = person.and(row({ passwordHash: text<string | null>() }))

const lock = statement(
  { ids },
  ({ ids }) =>
    `select ${held.names("p")} from wac.people p where p.user_id = any (${ids}) order by p.user_id for update`
)

const session = person.and(row({ tokenHash: text() }))

const loadSessions = statement(
  { ids },
  ({ ids }) => `select ${session.names("s")} from wac.sessions s where s.user_id = any (${ids})`
)

/** A person's password hash, and the token hashes of their sessions. */
interface Account {
  readonly passwordHash: string | null
  readonly sessions: Array<string>
}

interface Loaded extends Step.Known {
  readonly accounts: ReadonlyMap<Id.UserId, Account>
}

const isAllowed = ({ passwordHash, sessions }: Account, { keep, verified }: SetPassword): boolean =>
  (verified === undefined || verified === passwordHash) && (keep === undefined || sessions.includes(keep))

/**
 * `MemberStore.setPassword`. The answer is the number of sessions that ended; `undefined` if there is no such person or
 * a condition does not hold.
 */
export const setPassword: StepOptions<SetPassword, Loaded, number | undefined, ReadonlyArray<SetPassword>> = {
  size: 1,
  load: (commands) => {
    const ids = commands.map(({ userId }) => userId)
    return [lock({ ids }), loadSessions({ ids })]
  },
  read: ([people, rows], now) => {
    const accounts = new Map(people!.map((row): [Id.UserId, Account] => {
      const { passwordHash, userId } = held.read(row)
      return [userId, { passwordHash, sessions: [] }]
    }))
    for (const { tokenHash, userId } of rows!.map(session.read)) accounts.get(userId)?.sessions.push(tokenHash)
    return { now, accounts }
  },
  decide: ({ accounts }, commands) => {
    const writes: Array<SetPassword> = []
    const answers = commands.map((command) => {
      const account = accounts.get(command.userId)
      if (account === undefined || !isAllowed(account, command)) return undefined
      writes.push(command)
      return account.sessions.filter((hash) => hash !== command.keep).length
    })
    return { answers, writes }
  },
  write: setPasswords
}
