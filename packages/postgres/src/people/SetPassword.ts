/**
 * Changes a person's password, and ends their sessions and password reset links. The person's row is locked. So a
 * concurrent sign-in either commits its session before this looks for sessions, or sees the new password.
 */
import type { Id, Step } from "@wac/core"
import { list, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { type Statement, statement } from "../Statement.ts"

/** The new password of a person. */
interface SetPassword {
  readonly userId: Id.UserId
  readonly passwordHash: string
  /** The hash of the token of a session to keep. */
  readonly keep: string | undefined
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

const forgetResets = unlessEmpty(
  person,
  (rows) => `delete from wac.password_resets r using ${rows("s")} where r.user_id = s.user_id`
)

/** The statements that set passwords, and end sessions and reset links. The caller must hold the people's rows. */
export const setPasswords = (all: ReadonlyArray<SetPassword>): ReadonlyArray<Statement> => [
  ...set(all),
  ...endSessions(all.map(({ keep = null, userId }) => ({ userId, keep }))),
  ...forgetResets(all)
]

const ids = list<Id.UserId>("text")

const lock = statement(
  { ids },
  ({ ids }) => `select p.user_id from wac.people p where p.user_id = any (${ids}) order by p.user_id for update`
)

const session = person.and(row({ tokenHash: text() }))

const loadSessions = statement(
  { ids },
  ({ ids }) => `select ${session.names("s")} from wac.sessions s where s.user_id = any (${ids})`
)

interface Loaded extends Step.Known {
  readonly sessions: ReadonlyMap<string, ReadonlyArray<string>>
}

/**
 * `MemberStore.setPassword`. The answer is the number of sessions that ended; `undefined` if there is no such person.
 */
export const setPassword: StepOptions<SetPassword, Loaded, number | undefined, ReadonlyArray<SetPassword>> = {
  size: 1,
  load: (commands) => {
    const ids = commands.map(({ userId }) => userId)
    return [lock({ ids }), loadSessions({ ids })]
  },
  read: ([people, rows], now) => {
    const sessions = new Map(people!.map((row): [string, Array<string>] => [person.read(row).userId, []]))
    for (const { tokenHash, userId } of rows!.map(session.read)) sessions.get(userId)?.push(tokenHash)
    return { now, sessions }
  },
  decide: ({ sessions }, commands) => ({
    answers: commands.map(({ keep, userId }) => sessions.get(userId)?.filter((hash) => hash !== keep).length),
    writes: commands.filter(({ userId }) => sessions.has(userId))
  }),
  write: setPasswords
}
