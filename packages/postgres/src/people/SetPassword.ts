/**
 * Changes a person's password, and ends their sessions and password reset links. The person's row is locked: a sign-in
 * that holds it has committed its session before sessions are looked for, and a later one sees the new password.
 */
import type { Id, Step } from "@wac/core"
import { plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import { texts } from "../Parameter.ts"
import type { Statement } from "../Statement.ts"

/** Sets a person's password. */
interface SetPassword {
  readonly userId: Id.UserId
  readonly passwordHash: string
  /** The hash of the token of a session to keep. */
  readonly keep: string | undefined
}

const setText = `update people p set password_hash = s.password_hash
  from unnest($1::text[], $2::text[]) s (user_id, password_hash) where p.user_id = s.user_id`

const endText = `delete from sessions e using unnest($1::text[], $2::text[]) s (user_id, keep)
  where e.user_id = s.user_id and e.token_hash is distinct from s.keep`

const forgetText = "delete from password_resets r where r.user_id = any ($1::text[])"

/** The statements that set passwords, and end sessions and reset links. The caller must hold the people's rows. */
export const setPasswords = (all: ReadonlyArray<SetPassword>): ReadonlyArray<Statement> =>
  all.length === 0 ? [] : [
    {
      text: setText,
      params: [texts(all.map(({ userId }) => userId)), texts(all.map(({ passwordHash }) => passwordHash))]
    },
    { text: endText, params: [texts(all.map(({ userId }) => userId)), texts(all.map(({ keep }) => keep ?? null))] },
    { text: forgetText, params: [texts(all.map(({ userId }) => userId))] }
  ]

const lockText = "select p.user_id from people p where p.user_id = any ($1::text[]) order by p.user_id for update"

const sessionsText = "select s.user_id, s.token_hash from sessions s where s.user_id = any ($1::text[])"

interface Loaded extends Step.Known {
  readonly sessions: ReadonlyMap<string, ReadonlyArray<string>>
}

/** `MemberStore.setPassword`. The answer is how many sessions ended; `undefined` if there is no such person. */
export const setPassword: StepOptions<SetPassword, Loaded, number | undefined, ReadonlyArray<SetPassword>> = {
  size: 1,
  load: (commands) => {
    const params = [texts(commands.map(({ userId }) => userId))]
    return [{ text: lockText, params }, { text: sessionsText, params }]
  },
  read: ([people, rows], now) => {
    const sessions = new Map(people!.map((row): [string, Array<string>] => [plain(row, "user_id"), []]))
    for (const row of rows!) sessions.get(plain(row, "user_id"))?.push(plain(row, "token_hash"))
    return { now, sessions }
  },
  decide: ({ sessions }, commands) => ({
    answers: commands.map(({ keep, userId }) => sessions.get(userId)?.filter((hash) => hash !== keep).length),
    writes: commands.filter(({ userId }) => sessions.has(userId))
  }),
  write: setPasswords
}
